/* The search through one scenario: every schedule of it as it is, and of it with deaths at every
 * place. What the files of the verb share:
 *
 *   explore.c    the verb: what is asked for, what is printed
 *   search.c     what runs next, what is made of what is done
 *   parts.c      the parts of the search
 *   places.c     where ranks may die
 *   state.c      the file by which a search goes on later
 *   outcomes.c   what runs came to
 *   tree*.c      the schedules of one part
 *   races.c      the races of one run
 */
#ifndef EXPLORE_SEARCH_H
#define EXPLORE_SEARCH_H

#include "cli/options.h"
#include "explore/outcomes.h"
#include "explore/places.h"
#include "explore/tree.h"
#include "jobs/pool.h"
#include "script/script.h"
#include "system/path.h"
#include "system/progress.h"

/* The scenario with some deaths more: a tree of schedules of its own. */
struct part {
    int deaths;                /* beside those of the scenario's own plan */
    size_t above;              /* the part that has all but the last of them; of the first part 0 */
    struct plan_step death;    /* the last of them */
    struct scenario *scenario; /* owned; shares all but the plan with the search's */
    struct tree *tree;         /* owned; NULL: not begun, or over */
    bool over, running;
    uint64_t idle; /* runs in which the last death did not come about */
    struct tree_counts counts;
    struct places places; /* where a death more could be */
};

/* A run that is made now. */
struct slot {
    struct job job;
    size_t part;
    struct path given; /* folder: what it is to follow */
    bool used;
};

struct search {
    struct options options; /* of the runs */
    const struct scenario *scenario;
    struct path folder; /* OUT/<id>/N */
    size_t count, room;
    struct part *part; /* owned */
    struct store_states states;
    struct outcomes outcomes;
    struct job reference; /* the run without faults */
    bool refers;
    struct slot *slot; /* owned; options.jobs of them */
    uint64_t runs, next_folder;
    struct pool pool;
    struct progress progress;
    uint64_t deadline_ns; /* 0: none */
    uint64_t saved_ns;
    bool complete;
};

/* Everything of the scenario that is not done yet, as far as time and --runs allow. */
enum error_code exploration_run(struct search *search, struct error *error);
void exploration_release(struct search *search);

/* --- parts ------------------------------------------------------------------------------------ */

/* Appends the scenario as it is, or with a death more than part `above` has. */
void part_add(struct search *search, size_t above, const struct plan_step *death);
/* Appends those for the places of the part that have none yet. */
void part_add_deaths(struct search *search, size_t above);
/* Of the trees of its parts. */
struct tree_limits exploration_limits(const struct search *search);
/* All schedules of the part are done: its tree goes. */
void part_end(struct part *part);

struct exploration_counts {
    uint64_t runs, redundant, idle, known, left_out, turns, races;
    size_t open; /* parts that are not over */
    double done; /* an estimate, 0 to 1: parts count alike */
};
struct exploration_counts exploration_counts(const struct search *search);

/* --- going on later --------------------------------------------------------------------------- */

/* Into the file `state` of the folder. */
#define STATE_FILE "state"
enum error_code state_save(struct search *search, struct error *error);
/* *search is new, of the same scenario and options. ERROR_USAGE: they are others than then;
 * ERROR_FORMAT, ERROR_IO. */
enum error_code state_load(struct search *search, struct error *error);

#endif
