/* The functions of libc that read clocks and wait, in a rank of the step engine: in virtual time.
 * Everywhere else they are libc's. See virtual.h. */
#include "engine/time/virtual.h"

#include "engine/core/core.h"
#include "injectors/system/real.h"
#include "trace/clock.h"

#include <errno.h>
#include <sys/time.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))
#define NS_PER_S 1000000000u
/* Wall-clock time at which every run begins: 2020-01-01. */
#define EPOCH_S 1577836800u
/* CLOCK_MONOTONIC then: no program takes it for "not yet". */
#define BOOT_NS (1000 * (uint64_t)NS_PER_S)
/* Time moves by this when it is read, and by twice as much at the next reading in a row. */
#define READ_NS 100u
#define READ_MOST_NS 1000000u

#define TIMES(X)                                                                                   \
    X(clock_gettime)                                                                               \
    X(gettimeofday)                                                                                \
    X(time)                                                                                        \
    X(timespec_get)                                                                                \
    X(nanosleep)                                                                                   \
    X(clock_nanosleep)                                                                             \
    X(thrd_sleep)                                                                                  \
    X(usleep)                                                                                      \
    X(sleep)

REAL_TABLE(TIMES)

static bool is_virtual;
static uint64_t step_ns, read_at_ns;

/* --- virtual time ----------------------------------------------------------------------------- */

static uint64_t ticks(void)
{
    return BOOT_NS + engine_tick_ns();
}

void virtual_time_set(bool on)
{
    is_virtual = on;
    clock_virtual = on ? ticks : NULL;
}

/* Each reading in a row moves time further, so that a loop that only reads the clock ends soon. */
static uint64_t read_ns(void)
{
    uint64_t now = engine_now_ns();
    step_ns = now == read_at_ns && step_ns < READ_MOST_NS ? 2 * step_ns : READ_NS;
    engine_pass_time(step_ns);
    read_at_ns = now + step_ns;
    return read_at_ns;
}

uint64_t virtual_ticks(uint64_t now_ns)
{
    return now_ns + BOOT_NS;
}

static uint64_t clock_ns(clockid_t clock)
{
    bool wall = clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE || clock == CLOCK_TAI;
    return read_ns() + (wall ? (uint64_t)EPOCH_S * NS_PER_S : BOOT_NS);
}

/* Clocks and sleeps of a thread that the engine does not run are real. */
static bool is_here(void)
{
    return is_virtual && engine_runs_thread();
}

static bool is_virtual_clock(clockid_t clock)
{
    return is_here() && clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

static bool is_time(const struct timespec *time)
{
    return time->tv_sec >= 0 && time->tv_nsec >= 0 && time->tv_nsec < NS_PER_S;
}

/* What does not fit is for ever. */
static uint64_t in_ns(const struct timespec *time)
{
    uint64_t seconds = (uint64_t)time->tv_sec;
    return seconds < UINT64_MAX / NS_PER_S ? seconds * NS_PER_S + (uint64_t)time->tv_nsec
                                           : UINT64_MAX;
}

double virtual_wtime(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / NS_PER_S;
}

/* --- libc's ----------------------------------------------------------------------------------- */

EXPORTED int clock_gettime(clockid_t clock, struct timespec *now)
{
    if (!is_virtual_clock(clock))
        return REAL(clock_gettime)(clock, now);
    uint64_t ns = clock_ns(clock);
    *now = (struct timespec){(time_t)(ns / NS_PER_S), (long)(ns % NS_PER_S)};
    return 0;
}

EXPORTED int gettimeofday(struct timeval *restrict now, void *restrict zone)
{
    if (!is_here())
        return REAL(gettimeofday)(now, zone);
    uint64_t ns = clock_ns(CLOCK_REALTIME);
    *now = (struct timeval){(time_t)(ns / NS_PER_S), (suseconds_t)(ns % NS_PER_S / 1000)};
    return 0;
}

EXPORTED time_t time(time_t *now)
{
    if (!is_here())
        return REAL(time)(now);
    time_t seconds = (time_t)(clock_ns(CLOCK_REALTIME) / NS_PER_S);
    if (now != NULL)
        *now = seconds;
    return seconds;
}

EXPORTED int timespec_get(struct timespec *now, int base)
{
    if (!is_here() || base != TIME_UTC)
        return REAL(timespec_get)(now, base);
    clock_gettime(CLOCK_REALTIME, now);
    return base;
}

EXPORTED int nanosleep(const struct timespec *wanted, struct timespec *left)
{
    if (!is_here())
        return REAL(nanosleep)(wanted, left);
    if (!is_time(wanted)) {
        errno = EINVAL;
        return -1;
    }
    engine_sleep(in_ns(wanted));
    return 0;
}

EXPORTED int thrd_sleep(const struct timespec *wanted, struct timespec *left)
{
    if (!is_here())
        return REAL(thrd_sleep)(wanted, left);
    return nanosleep(wanted, left) == 0 ? 0 : -2; /* an error that is no signal */
}

EXPORTED int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted,
                             struct timespec *left)
{
    if (!is_virtual_clock(clock))
        return REAL(clock_nanosleep)(clock, flags, wanted, left);
    if (!is_time(wanted))
        return EINVAL;
    uint64_t now = (flags & TIMER_ABSTIME) != 0 ? clock_ns(clock) : 0;
    uint64_t until = in_ns(wanted);
    engine_sleep(until > now ? until - now : 0);
    return 0;
}

EXPORTED int usleep(useconds_t microseconds)
{
    if (!is_here())
        return REAL(usleep)(microseconds);
    engine_sleep((uint64_t)microseconds * 1000);
    return 0;
}

EXPORTED unsigned sleep(unsigned seconds)
{
    if (!is_here())
        return REAL(sleep)(seconds);
    engine_sleep((uint64_t)seconds * NS_PER_S);
    return 0;
}
