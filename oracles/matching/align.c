/* See align.h. An edit distance between the sends of a channel and its deliveries, with the weights
 * below. cost[i][j] is the least cost of explaining the deliveries from j on with the sends from i
 * on; from (i, j) one step goes on
 *   - to (i+1, j+1): send i and delivery j are one message, unchanged, changed or done again;
 *   - to (i+1, j):   send i was not delivered here (ALIGN_SKIP);
 *   - to (i, j+1):   delivery j has no send here (ALIGN_EXTRA).
 * fill() computes the table from its end; align() then walks from (0, 0) and takes the cheapest
 * step each time. 33 x 17 cells, and at most 32 fits looked at for a cell.
 *
 * The weights decide which of several explanations counts:
 *
 *     sent  a b c   delivered  a x c   x is b, changed: 3. (b lost and x from nowhere: 2 + 4.)
 *     sent  a b c   delivered  a c     b is lost: 2. (c is b, changed: 5, since c was sent itself.)
 *     sent  a b     delivered  a a b   the second a is one too many: 2, since a was sent. */
#include "oracles/matching/align.h"

#include <stddef.h>

/* A changed message costs less than a lost one together with a delivery from nowhere, but more than
 * a lost or a repeated one alone, which is chosen where what follows fits again. A pair of a send
 * that is done again costs more than a pair that agrees: a delivery after the send is preferred, if
 * there is one. */
enum {
    COST_AGAIN = 1,
    COST_TO_COME = 1,
    COST_SKIP = 2,
    COST_EXTRA_SEEN = 2,
    COST_EXTRA_NEW = 4,
    COST_CHANGED = 3,
    COST_CHANGED_SEEN = 5, /* another send has just these bytes: it is likelier that message */
};

struct cells {
    unsigned cost[ALIGN_SENDS + 1]
                 [ALIGN_DELIVERIES + 1]; /* of what remains from (send, delivery) */
};

static bool same_bytes(enum align_fit fit)
{
    return fit == FIT_SAME || fit == FIT_AGAIN;
}

static bool seen_elsewhere(const struct align_problem *problem, unsigned delivery)
{
    if (problem->seen[delivery])
        return true;
    for (unsigned i = 0; i < problem->sends; i++)
        if (same_bytes(problem->fit[i][delivery]))
            return true;
    return false;
}

static unsigned skip_cost(const struct align_problem *problem, unsigned send)
{
    return problem->optional[send] ? 0 : COST_SKIP;
}

static unsigned extra_cost(const struct align_problem *problem, unsigned delivery)
{
    if (problem->to_come[delivery])
        return COST_TO_COME;
    return seen_elsewhere(problem, delivery) ? COST_EXTRA_SEEN : COST_EXTRA_NEW;
}

static unsigned changed_cost(const struct align_problem *problem, unsigned delivery)
{
    return seen_elsewhere(problem, delivery) ? COST_CHANGED_SEEN : COST_CHANGED;
}

/* What it costs that send i and delivery j are one message. Never asked for FIT_IMPOSSIBLE. */
static unsigned both_cost(const struct align_problem *problem, unsigned i, unsigned j)
{
    switch (problem->fit[i][j]) {
    case FIT_SAME:
        return 0;
    case FIT_AGAIN:
        return problem->cut_off ? 0 : COST_AGAIN;
    default:
        return changed_cost(problem, j);
    }
}

/* The best step from (i, j). Where several cost the same: a pair of equal bytes first; then a
 * skipped send, which is remembered, so that its message is recognised if it comes late; then an
 * extra delivery. A changed message must be cheaper than both. */
static enum align_kind best_step(const struct align_problem *problem, const struct cells *cells,
                                 unsigned i, unsigned j, unsigned *cost)
{
    enum align_kind best = ALIGN_EXTRA;
    *cost = extra_cost(problem, j) + cells->cost[i][j + 1];
    if (i == problem->sends)
        return best;
    unsigned skip = skip_cost(problem, i) + cells->cost[i + 1][j];
    if (skip <= *cost) {
        *cost = skip;
        best = ALIGN_SKIP;
    }
    enum align_fit fit = problem->fit[i][j];
    if (fit == FIT_IMPOSSIBLE)
        return best;
    unsigned both = both_cost(problem, i, j) + cells->cost[i + 1][j + 1];
    if (both < *cost || ((fit == FIT_SAME || fit == FIT_AGAIN) && both == *cost)) {
        *cost = both;
        best = fit == FIT_SAME ? ALIGN_PAIR : fit == FIT_AGAIN ? ALIGN_AGAIN : ALIGN_CHANGED;
    }
    return best;
}

static void fill(const struct align_problem *problem, struct cells *cells)
{
    unsigned left_over = 0;
    for (unsigned i = problem->sends + 1; i-- > 0;) {
        if (i < problem->sends && problem->complete)
            left_over += skip_cost(problem, i);
        cells->cost[i][problem->deliveries] = left_over;
        for (unsigned j = problem->deliveries; j-- > 0;)
            best_step(problem, cells, i, j, &cells->cost[i][j]);
    }
}

unsigned align(const struct align_problem *problem, struct align_step *steps)
{
    struct cells cells;
    unsigned count = 0, i = 0, j = 0, cost;
    fill(problem, &cells);
    while (j < problem->deliveries) {
        enum align_kind kind = best_step(problem, &cells, i, j, &cost);
        steps[count++] = (struct align_step){kind, i, j};
        i += kind != ALIGN_EXTRA;
        j += kind != ALIGN_SKIP;
    }
    return count;
}
