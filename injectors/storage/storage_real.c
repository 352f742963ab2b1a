/* See storage_real.h. Must not know: what is done with them. */
#include "injectors/storage/storage_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <string.h>

struct storage_real storage_real;

/* In the place of what an older libc does not have. */
static long missing(void)
{
    errno = ENOSYS;
    return -1;
}

void storage_resolve(void)
{
    static const struct {
        const char *name;
        size_t offset;
    } list[] = {
#define X(name) {#name, offsetof(struct storage_real, name)},
        STORAGE_REAL(X)
#undef X
    };
    int number = errno;
    for (size_t i = 0; i < sizeof list / sizeof list[0]; i++) {
        void *found = dlsym(RTLD_NEXT, list[i].name);
        long (*none)(void) = missing;
        if (found == NULL)
            memcpy(&found, &none, sizeof found);
        /* Several threads may be here at once, and all find the same. */
        memcpy((char *)&storage_real + list[i].offset, &found, sizeof found);
    }
    errno = number;
}
