/* The tree of schedules that a search goes through: which run is to be made next, so that in the
 * end every run that MPI allows has been made, or one that differs from it only in the order of
 * transitions that commute.
 *
 * Dynamic partial-order reduction with source sets and sleep sets (Abdulla, Aronis, Jonsson,
 * Sagonas, POPL 2014, algorithm 1), over whole runs: a run is made to its end, its races are found
 * (two transitions that conflict, with nothing between that orders them), and where each of them
 * began another choice is noted unless one of those noted already leads to the exchange. Decisions
 * inside a transition are all tried. Must not know: how runs are made, and what comes of them. */
#ifndef EXPLORE_TREE_H
#define EXPLORE_TREE_H

#include "base/error.h"
#include "engine/core/transition.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct tree;

/* The states of the checkpoint store with which a life has begun that is explored: STORE_STATE_FILE
 * of run/store_state.h. Of all trees of a scenario. */
struct store_states {
    size_t count, room;
    uint64_t *state; /* owned */
};

struct tree_limits {
    bool reduce;                 /* false: all orders */
    bool preempts;               /* not more than so many preemptions; without the reduction: */
    uint32_t preemptions;        /* a turn that is taken from a process that could go on */
    struct store_states *states; /* borrowed; NULL: every life is explored wherever it begins */
};

/* Owned by the caller. */
struct tree *tree_new(const struct tree_limits *limits);
void tree_release(struct tree *tree);

/* Writes what the next run is to follow into the folder: the choices of each incarnation, and who
 * sleeps then. False: every run has been made, or (*error is set) the folder cannot be written. */
bool tree_next(struct tree *tree, const char *folder, struct error *error);

/* The run that was asked for is made: its transitions and choices, in `folder`. ERROR_FORMAT: it
 * did not do what it was to follow. */
enum error_code tree_take(struct tree *tree, const char *folder, struct error *error);

struct tree_counts {
    uint64_t runs;      /* taken */
    uint64_t redundant; /* of them: ended because all that was left had been done */
    uint64_t turns;     /* of the longest */
    uint64_t races;
    uint64_t left_out; /* choices that the limit of preemptions left out */
    uint64_t known;    /* lives that began with a store that was known */
    double done;       /* an estimate of the part of the tree that is done, 0 to 1: every choice
                        * that is open counts as much as each that is done beside it */
};
struct tree_counts tree_counts(const struct tree *tree);

/* The newest run was redundant: nothing of it is to be judged. */
bool tree_was_redundant(const struct tree *tree);

/* All that is needed to go on later, in the same build. A run that was asked for and not taken is
 * asked for again. What cannot be written shows in the stream. */
void tree_save(const struct tree *tree, FILE *file);
/* ERROR_FORMAT: that is no tree. Owned by the caller. */
enum error_code tree_load(FILE *file, const struct tree_limits *limits, struct tree **tree,
                          struct error *error);

#endif
