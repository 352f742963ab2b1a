/* libc's own functions, for files that define functions of the same names: a table with a member
 * for each, which is filled from the libraries behind this one. A file lists its functions in an
 * X-macro (LIST(X): an X(name) for each). Must not know: what any of them does. */
#ifndef INJECTORS_SYSTEM_REAL_H
#define INJECTORS_SYSTEM_REAL_H

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

/* Stands in the place of a function that an older libc does not have. */
static inline long real_missing(void)
{
    errno = ENOSYS;
    return -1;
}

/* Stores the next definition of `name` in *member, a pointer to a function. Threads that do so at
 * the same time all find the same. */
static inline void real_find(void *member, const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);
    long (*missing)(void) = real_missing;
    if (found == NULL)
        memcpy(&found, &missing, sizeof found);
    memcpy(member, &found, sizeof found);
}

/* The members of a table: struct { LIST(REAL_MEMBER) }. */
#define REAL_MEMBER(name) __typeof__(&name) name;

/* The function `name` of a table, which resolve() fills: a function of a library that begins before
 * this one may ask before our constructors have run. */
#define REAL_OF(table, resolve, name)                                                              \
    (*(__builtin_expect((table).name == NULL, 0) ? (resolve(), (table).name) : (table).name))

/* Defines the table of one file, to be asked as REAL(name). It is filled before the program runs,
 * for a signal handler must not look for anything. */
#define REAL_TABLE(LIST)                                                                           \
    static struct {                                                                                \
        LIST(REAL_MEMBER)                                                                          \
    } real;                                                                                        \
    __attribute__((constructor)) static void real_resolve(void)                                    \
    {                                                                                              \
        int number = errno;                                                                        \
        LIST(REAL_FIND)                                                                            \
        errno = number;                                                                            \
    }
#define REAL_FIND(name) real_find(&real.name, #name);
#define REAL(name) REAL_OF(real, real_resolve, name)

#endif
