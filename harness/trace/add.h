/* Adding to a number without a lock, for the time when one thread alone adds to it. */
#ifndef TRACE_ADD_H
#define TRACE_ADD_H

#include <stdatomic.h>
#include <stdint.h>

/* Adds and returns what there was before. Whole for a signal handler of the same thread; another
 * thread that adds at the same time may lose one of the two. */
static inline uint64_t add_alone(_Atomic uint64_t *number, uint64_t more)
{
#if defined(__x86_64__)
    __asm__ volatile("xaddq %0, %1" : "+r"(more), "+m"(*number) : : "memory", "cc");
    return more;
#else
    return atomic_fetch_add(number, more);
#endif
}

#endif
