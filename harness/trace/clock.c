/* See clock.h. */
#include "trace/clock.h"

uint64_t (*clock_virtual)(void);

#define MEASURE_NS 5000000u

static double measure(void)
{
    uint64_t start_ns = clock_monotonic_ns();
    uint64_t start = clock_ticks();
    uint64_t now_ns;
    do
        now_ns = clock_monotonic_ns();
    while (now_ns - start_ns < MEASURE_NS);
    return (double)(clock_ticks() - start) * 1e9 / (double)(now_ns - start_ns);
}

double clock_ticks_per_second(void)
{
    static double known; /* also in processes forked after the first call */
    if (known == 0)
        known = clock_own_rate();
    if (known == 0)
        known = measure();
    return known;
}
