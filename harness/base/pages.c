/* See pages.h. */
#include "base/pages.h"

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

void pages_let_go(const void *from, const void *to)
{
    uintptr_t page_bytes = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t begin = pages_begin((uintptr_t)from, page_bytes);
    uintptr_t end = pages_begin((uintptr_t)to, page_bytes);
    if (end > begin)
        madvise((void *)begin, (size_t)(end - begin), MADV_DONTNEED);
}
