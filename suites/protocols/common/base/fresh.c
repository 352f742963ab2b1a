/* See fresh.h. */
#include "common/base/fresh.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

#define HUGE_PAGE_BYTES ((size_t)2 << 20)

static size_t round_up(size_t bytes)
{
    return (bytes + HUGE_PAGE_BYTES - 1) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES;
}

void fresh_expect(void *data, size_t bytes)
{
    size_t ahead = round_up((uintptr_t)data) - (uintptr_t)data;
    if (bytes < ahead + HUGE_PAGE_BYTES)
        return;
    madvise((char *)data + ahead, (bytes - ahead) / HUGE_PAGE_BYTES * HUGE_PAGE_BYTES,
            MADV_HUGEPAGE);
}

void *fresh_memory(size_t bytes)
{
    if (bytes < HUGE_PAGE_BYTES)
        return malloc(bytes ? bytes : 1);
    void *made = aligned_alloc(HUGE_PAGE_BYTES, round_up(bytes));
    if (made)
        fresh_expect(made, round_up(bytes));
    return made;
}
