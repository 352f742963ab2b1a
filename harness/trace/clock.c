/* See clock.h. */
#include "trace/clock.h"

#define MEASURE_NS 5000000u

#if defined(__x86_64__)
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
#endif

double clock_ticks_per_second(void)
{
#if defined(__x86_64__)
    static double measured; /* also in processes forked behind the first call */
    if (measured == 0)
        measured = measure();
    return measured;
#else
    return 1e9;
#endif
}
