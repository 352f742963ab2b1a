/* See rate.h. */
#include "shrink/rate.h"

#include <math.h>

#define RUNS_OF_BEFORE 2.0
#define RATE_MOST 0.97 /* what so few runs can show at the most */
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

enum rate_verdict rate_judge(struct rate_count count, struct rate_demand demand)
{
    bool passed = count.failures < count.runs;
    if (demand.sure > 0 && count.failures > 0 && passed)
        return RATE_SELDOM;
    if (demand.sure > 0 && count.failures > 0)
        return count.failures >= demand.sure ? RATE_FAILS : RATE_OPEN;
    if (count.failures > 0 && rate_estimate(count, demand.rate) >= demand.least)
        return RATE_FAILS;
    return count.runs >= rate_tries(demand.rate) ? RATE_PASSES : RATE_OPEN;
}
