/* The search for a smallest scenario that fails in the same way: which candidates are tried, and in
 * what order. Must not know: how they are run, and what is printed of the result. */
#ifndef SHRINK_SHRINK_SEARCH_H
#define SHRINK_SHRINK_SEARCH_H

#include "shrink/reduce.h"
#include "shrink/shrink_trial.h"

#define SEARCH_DOING_BYTES 256

/* How it ended. */
enum search_end {
    SEARCH_COMPLETE,   /* nothing single can be left out or lowered */
    SEARCH_STOPPED,    /* before that: the budget, or the user */
    SEARCH_VOID,       /* before that: the machine or the harness failed again and again */
    SEARCH_NO_FAILURE, /* the scenario that was given did not fail again */
};

/* `trials` (open) and `original` (in trials) are the caller's, and before[] and done[], an entry
 * for each step of the original's plan: what was done, and what of it was before the violation. The
 * rest is 0. */
struct search {
    struct trials *trials;
    struct trial *original;
    bool before[PLAN_MAX_STEPS], done[PLAN_MAX_STEPS]; /* of `best`, from then on */

    enum search_end end;
    struct trial *best;
    struct rate_demand demand; /* what takes the place of best; its rate is estimated */
    struct trial **past;       /* what was best before, the newest last; owned */
    size_t past_count, past_room;
    struct reductions items; /* of best; owned */
    struct trial **tried; /* by item: the scenario with it left out; NULL: there is none; owned */
    size_t tried_count;
    size_t from; /* the item that is tried first */
    char doing[SEARCH_DOING_BYTES];
};

/* ERROR_IO, ERROR_LAUNCH; `best` is then still what was found. */
enum error_code search_run(struct search *search, struct error *error);
void search_release(struct search *search);

/* What is known of an item of the best. */
enum rate_verdict search_item(const struct search *search, size_t item);

/* Of the items without which it passes the one that changes least; items.count: there is none.
 * *nothing_seen: it could not be judged without it, rather than that it passed. */
size_t search_nearest(const struct search *search, bool *nothing_seen);

#endif
