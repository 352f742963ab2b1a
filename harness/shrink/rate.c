/* See rate.h. */
#include "shrink/rate.h"

#include <math.h>

#define RUNS_OF_BEFORE 2.0
#define RATE_MOST 0.97 /* what so few runs can tell at the most */
#define RATE_LEAST 0.01

double rate_estimate(struct rate_count count, double before)
{
    double rate =
        (count.failures + RUNS_OF_BEFORE * before) / ((double)count.runs + RUNS_OF_BEFORE);
    return fmin(fmax(rate, RATE_LEAST), RATE_MOST);
}

unsigned rate_tries(double rate)
{
    double bounded = fmin(fmax(rate, RATE_LEAST), RATE_MOST);
    double tries = ceil(log(RATE_MISS_MOST) / log(1 - bounded));
    return (unsigned)fmin(fmax(tries, 1), RATE_TRIES_MOST);
}

enum rate_verdict rate_judge(struct rate_count count, double best, double least)
{
    if (count.failures > 0 && rate_estimate(count, best) >= least)
        return RATE_FAILS;
    return count.runs >= rate_tries(best) ? RATE_PASSES : RATE_OPEN;
}
