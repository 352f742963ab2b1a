/* How often a scenario fails, as far as its runs show, and how often one that may fail as often
 * must be run before it is taken for one that passes. */
#ifndef SHRINK_RATE_H
#define SHRINK_RATE_H

#include <stdbool.h>

/* A scenario that fails as often as the best so far is taken for one that passes with at most this
 * probability. */
#define RATE_MISS_MOST 0.05

#define RATE_TRIES_MOST 40 /* of one candidate, however seldom the best so far fails */
/* Of the rate of what was given: what fails less often is no success. */
#define RATE_KEPT_LEAST 0.7

/* Runs of one scenario. */
struct rate_count {
    unsigned runs, failures;
};

/* Estimated from the counts; `before` is what was to be expected, and counts as two runs. With one
 * half it is Laplace's rule. Above 0, below 1. */
double rate_estimate(struct rate_count count, double before);

/* Tries after which a scenario of this rate has failed at least once, but for RATE_MISS_MOST. 1 to
 * RATE_TRIES_MOST. */
unsigned rate_tries(double rate);

/* What a candidate must have to take the place of the best so far. */
struct rate_demand {
    double rate;   /* of the best so far */
    double least;  /* what fails less often is no success: were that held against the best, it would
                      go down step by step */
    unsigned sure; /* it must fail so often and never pass; 0: `least` decides */
};

enum rate_verdict {
    RATE_OPEN,   /* it has not been run often enough */
    RATE_FAILS,  /* it has failed, and often enough */
    RATE_SELDOM, /* it has failed, but is to be sure and has passed as well */
    RATE_PASSES,
};

/* What the runs counted so far show of a plan; RATE_OPEN asks for more of them. */
enum rate_verdict rate_judge(struct rate_count count, struct rate_demand demand);

#endif
