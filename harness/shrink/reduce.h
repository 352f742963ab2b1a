/* What can be made smaller in a scenario: each single item that can be left out, each number that
 * can be lowered. Must not know: runs, traces, which of them is worth while. */
#ifndef SHRINK_REDUCE_H
#define SHRINK_REDUCE_H

#include "script/script.h"

#define REDUCTION_TEXT_BYTES 128

enum reduction_kind {
    REDUCE_STEP,        /* `step` is left out */
    REDUCE_MERGE,       /* see plan_merge */
    REDUCE_VICTIM,      /* entry `part` of victim[] */
    REDUCE_CONDITION,   /* the whole condition */
    REDUCE_STATE,       /* entry `part` of its state[] */
    REDUCE_STATE_WORD,  /* the same: its region, or what it is blocked in (`to` 1) */
    REDUCE_FIELD,       /* field `part` of the condition, see reduce.c */
    REDUCE_STEP_FIELD,  /* field `part` of the step */
    REDUCE_ENVIRONMENT, /* entry `part` */
    REDUCE_INCARNATIONS,
    REDUCE_RANKS,    /* to `to`; from here on numbers */
    REDUCE_ARGUMENT, /* entry `part` becomes `to` */
    REDUCE_NUMBER,   /* field `part` of the condition, to `to` */
    REDUCE_LINE,     /* of entry `part` of its state[] */
    REDUCE_STEP_NUMBER,
};

struct reduction {
    enum reduction_kind kind;
    uint32_t step, part;
    bool release; /* of the release condition, not the step's own */
    int64_t to;
    char text[REDUCTION_TEXT_BYTES]; /* for people: "field nth of step 2" */
};

/* Owned: reductions_release. */
struct reductions {
    size_t count, room;
    struct reduction *list;
};

/* All that there are, what leaves out most first, numbers last (of each the lowest first). Which
 * of the results are scenarios that can be run is not looked at. */
void reductions_of(const struct scenario *scenario, struct reductions *list);
void reductions_release(struct reductions *list);

/* A number is lowered; nothing is left out. */
bool reduction_is_number(const struct reduction *reduction);

/* Something beside the plan is left out. */
bool reduction_is_around(const struct reduction *reduction);

/* `scenario` after the reduction. *result is the caller's to release. false: nothing came of it. */
bool reduction_apply(const struct scenario *scenario, const struct reduction *reduction,
                     struct scenario *result);

#endif
