/* Ticks: the one clock of all traces of a run. Reading it is on the recording path, so it is the
 * processor's time-stamp counter where the kernel itself trusts that as its clock, and
 * CLOCK_MONOTONIC in nanoseconds elsewhere. Ticks of all ranks of one machine are comparable. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#if defined(__x86_64__)
static inline uint64_t clock_ticks(void)
{
    return __builtin_ia32_rdtsc();
}
#else
static inline uint64_t clock_ticks(void)
{
    return clock_monotonic_ns();
}
#endif

/* Measures for about 5 ms; 1e9 where ticks are nanoseconds. */
double clock_ticks_per_second(void);

#endif
