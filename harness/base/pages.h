/* Pages of memory, of the size that this system has: 4 KiB on x86-64, up to 64 KiB elsewhere. Must
 * not know: what is in them. */
#ifndef BASE_PAGES_H
#define BASE_PAGES_H

#include <stdint.h>

/* A multiple of `page_bytes` (a power of two). */
static inline uintptr_t pages_begin(uintptr_t address, uintptr_t page_bytes)
{
    return address & ~(page_bytes - 1);
}

/* Lets go of the memory after a mapped file from the page of `from` up to the page of `to`, which
 * stays. What is in the file is read again when it is needed. Whoever goes through a file piece by
 * piece passes the end of one call as the beginning of the next. No errors: at worst the memory is
 * kept. Not for memory that belongs to no file: its contents would be lost. */
void pages_let_go(const void *from, const void *to);

#endif
