/* See handles.h. */
#include "injectors/record/handles.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>

struct handles handles;

#define LONGEST_NAME 96

void *handles_address(void *where, const char *expression)
{
    static const char name_bytes[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_";
    char name[LONGEST_NAME];
    const char *begin = strchr(expression, '&');
    if (begin == NULL)
        return NULL;
    begin += strspn(begin, "& (");
    size_t length = strspn(begin, name_bytes);
    if (length == 0 || length >= sizeof name)
        return NULL;
    memcpy(name, begin, length);
    name[length] = '\0';
    return dlsym(where, name);
}

/* The value where the compiler knows it, and no reference to any data where it does not. */
#define TEXT(expression) TEXT_OF(expression)
#define TEXT_OF(expression) #expression
#define KNOWN(handle) __builtin_constant_p(handle)
#define VALUE(handle) ((uintptr_t) __builtin_choose_expr(KNOWN(handle), handle, NULL))

const char *handles_resolve(void *where)
{
    const char *lacking = NULL;
#define RESOLVE(type, name)                                                                        \
    uintptr_t name = KNOWN(MPI_##name) ? VALUE(MPI_##name)                                         \
                                       : (uintptr_t)handles_address(where, TEXT(MPI_##name));      \
    handles.name = (type)name;                                                                     \
    if (!KNOWN(MPI_##name) && name == 0)                                                           \
        lacking = "MPI_" #name;
    PREDEFINED_HANDLES(RESOLVE)
#undef RESOLVE
    return lacking;
}
