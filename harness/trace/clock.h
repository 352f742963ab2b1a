/* Ticks: the one clock of all traces of a run. Reading it is on the recording path, so it is the
 * counter that the processor has for that, and CLOCK_MONOTONIC in nanoseconds where none is known.
 * Ticks of all ranks of one machine are comparable. All that Faultline knows about the counters of
 * a processor is here. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

/* CLOCK_MONOTONIC, in nanoseconds. */
static inline uint64_t clock_monotonic_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* In a process whose time is not the machine's: what clock_ticks returns; NULL: the machine's. */
extern uint64_t (*clock_virtual)(void);

#if defined(__x86_64__)

#define CLOCK_NAME "time-stamp counter"
#define CLOCK_KERNEL_NAME "tsc" /* where this is the kernel's own clock, it is steady */
/* As /proc/cpuinfo lists them: it is steady where all are there. */
#define CLOCK_STEADY_FLAGS "constant_tsc", "nonstop_tsc"

static inline uint64_t clock_machine_ticks(void)
{
    return __builtin_ia32_rdtsc();
}

/* Per second; 0: it must be measured. */
static inline double clock_own_rate(void)
{
    return 0;
}

#elif defined(__aarch64__)

#define CLOCK_NAME "generic timer"
#define CLOCK_KERNEL_NAME "arch_sys_counter"
#define CLOCK_STEADY_FLAGS NULL /* it always is */

static inline uint64_t clock_machine_ticks(void)
{
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
}

static inline double clock_own_rate(void)
{
    uint64_t rate;
    __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
    return (double)rate;
}

#else

#define CLOCK_NAME "CLOCK_MONOTONIC"
#define CLOCK_KERNEL_NAME ""
#define CLOCK_STEADY_FLAGS NULL

static inline uint64_t clock_machine_ticks(void)
{
    return clock_monotonic_ns();
}

static inline double clock_own_rate(void)
{
    return 1e9;
}

#endif

/* The time of a record, in ticks: of the machine, or virtual. */
static inline uint64_t clock_ticks(void)
{
    return __builtin_expect(clock_virtual != NULL, 0) ? clock_virtual() : clock_machine_ticks();
}

/* Measures for about 5 ms where the processor does not say it (clock_own_rate). */
double clock_ticks_per_second(void);

#endif
