/* What the parts of following another run share. Nobody else includes this.
 *
 *     replay          where this rank stands in the decisions, and what they say for it
 *     replay_diverge  the end of the run at the first difference
 *     replay_act      where it comes to its end, and what is done to the run at its places */
#ifndef INJECTORS_REPLAY_REPLAY_PARTS_H
#define INJECTORS_REPLAY_REPLAY_PARTS_H

#include "decisions/decisions.h"
#include "injectors/replay/replay.h"
#include "injectors/rules/rules_parts.h"

#define REPLAY_HELD_MOST 4096 /* messages of one rank, in one incarnation */
#define REPLAY_TEXT_BYTES 160
#define REPLAY_WANTED_MOST 64 /* events at which a snapshot is taken */

/* A call in progress: its record here, its event there. */
struct in_progress {
    const struct record *record;
    uint32_t event;
};

struct held {
    uint32_t step, number, event;
};

/* Events and actions count from 0 in the section of this rank and incarnation. */
struct replay {
    struct decisions decisions;
    const struct decision_section *section; /* NULL: the rank left nothing there */
    struct decision_event *event; /* `value` of a negative poll: how often it still says no */
    struct decision_action *action;
    const struct decision_order *order;
    uint32_t events, actions, orders, incomplete;
    const struct plan *plan;
    struct board *board;
    int rank;
    int incarnation;
    const char *run_folder;

    uint32_t cursor;           /* of the window in which the rank is, or the event that comes */
    uint32_t begun, completed; /* negative polls left out */
    uint32_t next_action, next_order;
    struct in_progress *progress; /* owned */
    uint32_t progress_count, progress_room;
    struct held held[REPLAY_HELD_MOST];
    uint32_t held_count;
    uint32_t wanted[REPLAY_WANTED_MOST]; /* `index` of the events at which snapshots are taken */
    unsigned wanted_count;
    bool arrived;
    bool dying;                         /* the kills of `kill` are carried out */
    uint64_t kill[PLAN_MAX_STEPS / 64]; /* steps to be carried out when all have arrived */
    bool kills;
    enum replay_answer answer; /* of the wire poll in progress */
    uint32_t answer_event;     /* which it is */
};
extern struct replay replay;

/* --- replay_diverge.c ------------------------------------------------------------------------- */
/* Reports what happened instead, a printf text, and ends the process. The first rank that diverges
 * reports; what others see afterwards follows from that. */
_Noreturn void replay_diverge(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* The same where `event` was expected (replay.events: none was) and `r` came. */
_Noreturn void replay_diverge_at(uint32_t event, const struct record *r, bool complete);

/* A call of this rank, complete or in progress, as text. Returns `text`. */
const char *replay_text_of_record(const struct record *r, bool complete,
                                  char text[REPLAY_TEXT_BYTES]);

/* The request of a rank's event. */
uint32_t replay_request_at(uint32_t event);

/* --- replay.c --------------------------------------------------------------------------------- */
const struct decision_shape *replay_shape(uint32_t event);

/* Everything is done that was done, and what was in progress at the end is. */
bool replay_is_at_end(void);

/* This rank was ended by others in this incarnation. */
bool replay_ends_here(void);

/* Of the call of `r`, in progress; of the wire poll in progress: NULL or its record. The number of
 * events: none. */
uint32_t replay_event(const struct record *r);

/* --- replay_act.c ----------------------------------------------------------------------------- */
/* Lets the library make progress, and others run. */
void replay_idle(void);

/* The rank is where it was ended, and others may learn that. */
void replay_arrive(void);
/* It stays there until it is killed. */
_Noreturn void replay_park(void);
/* The process is about to end: returns when all ranks have arrived. */
void replay_die_in_turn(void);

/* After every step: has the rank come to its end? `stays`: it is not inside a call that has still
 * to be made. */
void replay_look_for_end(bool stays);

/* What was done to the run here. */
void replay_carry_out(void);
/* The same in a loop that waits, and the kills that are due. */
void replay_round(void);

/* Members of the watcher. */
void replay_held(uint32_t step, uint32_t number, const struct record *send);
enum board_release replay_may_go(uint32_t step, uint32_t number);

/* An action of this kind that belongs to the event, once; NULL: none. */
struct decision_action *replay_take(enum fault_kind kind, uint32_t event);

#endif
