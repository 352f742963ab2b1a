/* Where the MPI library's functions are: see library.h. Must not know: traces, records. */
#include "injectors/record/library.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct library library;
struct library upper;
bool library_found;
void (*library_wanted)(void);

/* One function of the tables, by place. Function pointers are copied as bytes: C has no conversion
 * between them and what dlsym returns. */
struct entry {
    void *library;
    void *upper;
    const char *name;
    const void *lower; /* our lower tap, NULL: there is none */
};

#define LONGEST_NAME 96

_Static_assert(sizeof(void *) == sizeof(int (*)(void)), "dlsym can return a function");

/* Stands for a function that the library found does not have. */
static void missing(void)
{
    fputs("libfaultline.so: this MPI library lacks a function that Faultline was built with; build "
          "Faultline against the library that runs\n",
          stderr);
    abort();
}

static void *lookup(void *where, const char *prefix, const char *name)
{
    char full[LONGEST_NAME];
    snprintf(full, sizeof full, "%s%s", prefix, name);
    return dlsym(where, full);
}

/* Both names lead into one object: then MPI_X is the library's own, as an alias or as a copy. */
static bool same_object(void *a, void *b)
{
    Dl_info of_a, of_b;
    return a == b || (dladdr(a, &of_a) && dladdr(b, &of_b) && of_a.dli_fbase == of_b.dli_fbase);
}

static void resolve(const struct entry *entry, void *where, bool recording)
{
    void (*stand_in)(void) = missing;
    void *found = lookup(where, "P", entry->name);
    if (!found) /* an extension that has the one name alone */
        found = lookup(where, "", entry->name);
    if (!found)
        memcpy(&found, &stand_in, sizeof found);
    void *next = lookup(RTLD_NEXT, "", entry->name);
    if (!next || same_object(next, found)) {
        next = found;
        if (recording && entry->lower)
            memcpy(&next, &entry->lower, sizeof next);
    }
    memcpy(entry->library, &found, sizeof found);
    memcpy(entry->upper, &next, sizeof next);
}

/* The program may hold a copy of the library's data, which then both use: the first of that name in
 * the process is the one. */
static void resolve_handles(void *where)
{
    const char *lacking = handles_resolve(where == RTLD_NEXT ? RTLD_DEFAULT : where);
    if (lacking == NULL)
        return;
    fprintf(stderr, "libfaultline.so: this MPI library lacks %s\n", lacking);
    abort();
}

static void resolve_all(void *where, bool recording)
{
#define ENTRY(member, name, lower, from_library)                                                   \
    resolve(&(struct entry){&library.member, &upper.member, name, lower}, where, recording);
    /* cppcheck-suppress unknownMacro ; a header that is generated has it */
    LIBRARY_FUNCTIONS(ENTRY)
#undef ENTRY
    resolve_handles(where);
    library_found = true;
}

bool library_resolve(bool recording)
{
    if (!library_found && dlsym(RTLD_NEXT, "PMPI_Init"))
        resolve_all(RTLD_NEXT, recording);
    return library_found;
}

void library_require(void)
{
    if (library_found)
        return;
    if (library_wanted) {
        library_wanted();
        return;
    }
    /* A process that opened its MPI library late (as Python does) is passed through. */
    void *opened = dlopen(LIBRARY_FILE, RTLD_LAZY | RTLD_NOLOAD);
    if (!opened) {
        fputs("libfaultline.so: MPI is called, but " LIBRARY_FILE " is not in this process\n",
              stderr);
        abort();
    }
    resolve_all(opened, false);
}
