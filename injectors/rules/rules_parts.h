/* What the rules_*.c, the actions, and a run that follows another one share. Nobody else includes
 * this. */
#ifndef INJECTORS_RULES_RULES_PARTS_H
#define INJECTORS_RULES_RULES_PARTS_H

#include "board/progress.h"
#include "injectors/record/runtime.h"
#include "injectors/rules/injection.h"
#include "injectors/rules/rules.h"

/* At what point of a record's life the rules are looked at. */
enum moment { MOMENT_BEFORE, MOMENT_AFTER, MOMENT_INSTANT };

/* What is seen, and when. */
struct observation {
    struct record *record;
    unsigned kind; /* enum record_kind */
    enum moment moment;
    const char *name;       /* of a note, or NULL */
    enum plan_event stored; /* of a call on the store, else EVENT_NONE */
    const char *file;       /* of that call */
};

/* What is known of a condition from the start. */
struct known {
    bool ours;                  /* this rank may see its event, in this incarnation */
    bool impossible;            /* names something that does not exist: no event is it */
    unsigned call;              /* enum call_id; CALL_NONE: any */
    int within;                 /* function, see rules_within.c; -1: not asked for */
    _Atomic uint32_t wire_comm; /* id of the message's communicator, 0: not known yet, or any */
    const struct message_pattern *wire; /* NULL: not asked for */
};

struct rule {
    struct known when;
    struct known release;
    _Atomic bool open;      /* may still concern this rank */
    _Atomic bool continued; /* of a stop: that this rank goes on is recorded */
};

struct rules {
    const struct plan *plan;
    struct board *board; /* NULL: closed */
    int rank;
    int incarnation;
    const char *run_folder; /* NULL: none */
    bool has_states;        /* some condition waits for no event */
    bool publishes;         /* some condition asks what ranks are blocked in */
    struct rule rule[PLAN_MAX_STEPS];
};
extern struct rules rules;

/* --- rules_match.c --------------------------------------------------------------------------- */
void rules_know(struct known *known, const struct plan_condition *condition);
bool rules_match(const struct plan_condition *condition, struct known *known,
                 const struct observation *observed);
bool rules_is_wait(unsigned call);
/* The protocol says in which messages of its own it sends the program's. */
bool rules_knows_carriers(void);
/* The record, of level wire, is of such a message. */
bool rules_is_carrier(const struct record *r);

/* --- rules_within.c -------------------------------------------------------------------------- */
/* Reads RUN/functions; complains on stderr where a call stack cannot be had. */
void rules_within_open(const char *run_folder);
/* Number of a function, -1 if it is not in the list. */
int rules_within_find(const char *name);
/* The call stack of this thread holds it. */
bool rules_within(int function);

/* --- rules_perform.c ------------------------------------------------------------------------- */
/* Steps that were found at one event, and what follows from them. */
struct due_steps {
    unsigned count;
    uint32_t step[PLAN_MAX_STEPS];
    struct record *record; /* the call being entered, for kills inside; else NULL */
    unsigned found;        /* the first of the steps: those found at the event itself */
};
/* All evidence is written and the next steps armed before anybody dies: the death of one may be the
 * end of all. Steps that wait for nothing and come after are done as well. */
void rules_perform(struct due_steps *due);
struct record *rules_fault(enum fault_kind fault, uint32_t step, int peer, uint64_t value,
                           int error, uint32_t request);
/* The evidence of a step that is done because it was done here in another run, which this one
 * follows (injectors/replay); what comes after it is done at its own place. */
void rules_impose(uint32_t step, bool from_outside);
bool rules_is_victim(const struct plan_step *step, int32_t rank);
bool rules_is_rank(int32_t rank);
/* 0: it has no process that could be killed. */
int32_t rules_pid(int32_t rank);
/* The same for a record; where the ranks' order is the step engine's, a number that is the same in
 * every run. */
uint64_t rules_noted_pid(int32_t rank);
/* index + 1 of a record; 0: it is not in the trace. */
uint64_t rules_number(const struct record *r);

/* --- injectors/actions ----------------------------------------------------------------------- */
/* This rank waits for a kill from outside. */
bool rules_is_doomed(void);
/* The call of `r` has returned: where this rank is to be killed inside it, waits for the SIGKILL
 * that was asked for when it was entered (see RULES_INSIDE_WAIT_MS). */
void rules_returned(struct record *r);
/* The kills of a step that rules_impose has recorded. true: this rank is a victim, and still to be
 * killed. */
bool rules_impose_kill(uint32_t step);
/* That this rank goes on after a stop, once. */
void rules_note_continued(void);

/* --- rules_steer.c --------------------------------------------------------------------------- */
/* A step for the taps or the store has matched: it is left in thread_state where it is looked for.
 * false: there is no room, it was not taken. */
bool rules_offer(uint32_t step, const struct record *r);
/* The poll in progress has its place in the trace: for the evidence of an answer given to it. */
void rules_polled(struct record *stored);
/* As the watcher's may_go: by the plan. Of an ordered hold one at a time: the next may go when
 * rules_passed was called for the one before. */
enum board_release rules_may_go(uint32_t step, uint32_t number);
/* A wire call begins or ends, an upper call ends: what was offered meets its call, or goes back. */
void rules_offer_meets(const struct record *r);
void rules_offer_ends(const struct record *r);

#endif
