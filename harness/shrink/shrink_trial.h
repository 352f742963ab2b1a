/* Scenarios that are tried: each is printed as Lua, loaded from that text, run in the pool, and its
 * runs are counted. One that was tried is known again by its text. Must not know: which scenarios
 * are worth trying, and how they were made. */
#ifndef SHRINK_SHRINK_TRIAL_H
#define SHRINK_SHRINK_TRIAL_H

#include "jobs/pool.h"
#include "shrink/rate.h"
#include "system/progress.h"
#include "verdict/fingerprint.h"

#define TRIAL_CLAIM_BYTES 64

/* What came of a run, held against the failure that is sought. */
enum trial_end {
    TRIAL_SAME,    /* it fails in the same way */
    TRIAL_UNCLEAN, /* the same, but more is violated, or not all of the plan was done */
    TRIAL_OTHER,   /* it fails in another way */
    TRIAL_PASSED,
    TRIAL_VACUOUS, /* or unknown: nothing was found, and not all was seen */
    TRIAL_VOID,    /* the harness or the machine failed: does not count */
    TRIAL_ENDS
};

/* Owned by the trials. */
struct trial {
    char *text;                /* the scenario as Lua, without a comment; what it is known by */
    struct scenario_list list; /* the one scenario that the text says; empty: it says none */
    size_t size;               /* plan_size */
    unsigned ends[TRIAL_ENDS]; /* how many of its runs ended so */
    int running;
    unsigned begun;               /* runs, whatever became of them */
    struct reference *reference;  /* the run without faults that it is judged against, or NULL */
    struct path shown;            /* a run that failed in the same way; empty: none */
    struct path passed;           /* a run that passed, of a trial of which one is kept */
    char seen[FINGERPRINT_BYTES]; /* the newest that was another; empty: none */
    struct trial *next;
};

struct trials {
    struct options options; /* of the runs: with the time limit for each */
    struct path folder;     /* OUT/<id> */
    char claim[TRIAL_CLAIM_BYTES];
    struct fingerprint wanted;
    bool clean;                       /* from now on what is unclean is not the same */
    const struct trial *keeps_passed; /* the next run of it that passes is kept; NULL: none is */
    struct pool pool;
    struct trial *first; /* in the order in which they came */
    struct reference *references;
    uint64_t deadline_ns; /* CLOCK_MONOTONIC */
    unsigned runs;        /* judged */
    int numbers;          /* given to run folders */
    struct progress progress;
    const char *doing; /* for the progress line */
};

/* `trials` holds options, folder, claim, wanted and deadline_ns; the rest is 0. Nothing else may be
 * a child of this process. ERROR_LAUNCH. */
enum error_code trials_open(struct trials *trials, struct error *error);

/* Ends what runs, removes the run folders but for those of `keep` (may be NULL), frees. */
void trials_close(struct trials *trials, const struct trial *keep);

/* The trial of a scenario, a new one if it was not tried yet. Its list is empty where the scenario
 * cannot be said in Lua: then it is no scenario. ERROR_IO. */
enum error_code trials_find(struct trials *trials, const struct scenario *scenario,
                            struct trial **trial, struct error *error);

/* Its run that failed is of no interest any more: the folder is removed. */
void trial_forget_run(struct trial *trial);

/* Its runs, and those that failed in the same way: as far as only clean ones count, or any. */
struct rate_count trial_count(const struct trials *trials, const struct trial *trial);
struct rate_count trial_count_any(const struct trial *trial);
const struct scenario *trial_scenario(const struct trial *trial); /* NULL: its list is empty */

/* Interrupted, or the time has gone by: nothing more is started. */
bool trials_over(const struct trials *trials);

/* A row of candidates, made when their turn comes: NULL in *trial, none of this number. */
struct race {
    void *context;
    enum error_code (*make)(void *context, size_t index, struct trial **trial, struct error *error);
    size_t count;
    struct rate_demand demand;
};

/* Runs candidates, as many at once as there is room, until one fails as often as is asked for
 * (*winner is its number) or all pass (*winner is count). The first ones are run first. What still
 * runs then is ended. Over: *winner is count, and candidates may be open. */
enum error_code trials_race(struct trials *trials, const struct race *race, size_t *winner,
                            struct error *error);

/* Runs one until it has been run so often. */
enum error_code trials_repeat(struct trials *trials, struct trial *trial, unsigned runs,
                              struct error *error);

#endif
