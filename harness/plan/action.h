/* The facts about actions: the rows of actions.def as a table. */
#ifndef PLAN_ACTION_H
#define PLAN_ACTION_H

#include "plan/plan.h"
#include "trace/record.h"

#define ACTION_FIELDS 5

/* A field that steps of an action have, beside those of all steps. */
struct action_field {
    const char *name;    /* as in plans; NULL: the list is over */
    const char *as;      /* its name in scenarios; NULL: the same */
    const char *needed;  /* it must be given, and this is what it says; NULL: it may be left out */
    int64_t least, most; /* of a number, or of the entries of a list; both 0: any */
    bool is_errno;       /* a scenario gives the name of an errno */
    bool is_rank;
};

struct action {
    const char *text;                                  /* in plans, and as a method of p */
    enum action_by { BY_RULES, BY_TAPS, BY_STORE } by; /* whose affair the event is when it comes */
    enum action_condition { CONDITION_OPTIONAL, CONDITION_NEEDED, CONDITION_NONE } when;
    uint32_t events; /* a bit for each enum plan_event that a step of it can have, with position
                        "before" only; 0: any, or none */
    bool is_fault;   /* it does something to the job */
    enum action_kills { KILLS_NOBODY, KILLS_VICTIMS, KILLS_ITSELF } kills;
    bool may_end_job; /* a job that gives up after it was ended by the plan */
    enum action_keeps { KEEPS_NOTHING, KEEPS_MESSAGES, KEEPS_RANKS } keeps; /* until released */
    bool repeats;             /* `count` events are taken, one after the other */
    bool lasts;               /* in force until the faults stop */
    enum fault_kind evidence; /* the record of the trace that says that it was done */
    const char *impossible;   /* what evidence with an error says; NULL: there is none such */
    const char *past; /* what a scenario calls such a step, where others name it; NULL: done */
    struct action_field field[ACTION_FIELDS + 1];
};

extern const struct action actions[ACTION_COUNT];

/* Of the step's action. */
const struct action *action_of(const struct plan_step *step);

/* What the action says of this field of steps; NULL: its steps do not have it. */
const struct action_field *action_field(enum plan_action action, const char *name);

/* The calls of the taps are done in steps that never block while the plan has such a step. */
bool action_steers(enum plan_action action);

/* Steps of it may be the end of an incarnation. */
bool action_ends_incarnation(enum plan_action action);

/* So many events the step takes. */
uint64_t action_times(const struct plan_step *step);

#endif
