/* Who is shown each record of this process while it is made, and may do something to the run then:
 * the rules of a plan (injectors/rules), or a run that follows another one (injectors/replay).
 * Whoever it is installs itself; nothing here knows them. Must not know: MPI headers.
 *
 * Any thread may be the one that shows a record. What may not return ends or stops the process. */
#ifndef INJECTORS_RECORD_WATCHER_H
#define INJECTORS_RECORD_WATCHER_H

#include "board/board.h"
#include "plan/plan.h"
#include "trace/record.h"

#include <stdbool.h>

struct watcher {
    /* --- the life of a record -------------------------------------------------------------- */
    /* `r` has been filled and published on entry. What is wanted of the call is left in
     * thread_state.steered. May not return. */
    void (*before)(struct record *r);
    /* The call of `r` has returned, r->leave is still 0. May not return. */
    void (*returned)(struct record *r);
    /* `r` is complete. */
    void (*after)(struct record *r);
    /* `r` has no duration (a note, a completion under MPI_Waitall); before and after are the same.
     * A wire send without a duration (MPI_Startall) may be steered: it is recorded before it is
     * passed on. `name`: of a note, or NULL. */
    void (*instant)(struct record *r, const char *name);
    /* The poll that was in progress is in the trace now; `after` follows. */
    void (*polled)(struct record *stored);
    /* A call on a file below the store: `event` is EVENT_OPEN .. EVENT_UNLINK, `file` the path
     * below the store, `r` its record, published (before) or complete (after). May not return. */
    void (*storage)(struct record *r, enum plan_event event, const char *file, bool after);
    /* NULL where the run follows no other: calls on the store take turns as they come. Else: the
     * call of `r`, published, is made next: returns when other ranks have made those that came
     * before it then. May not return. */
    void (*store_turn)(const struct record *r);
    /* With store_turn: the call of `r` has been made. */
    void (*stored)(const struct record *r);
    /* With store_turn: the errno with which the look `look`, with FLAG_NEGATIVE, found none then;
     * 0: it did not. */
    int (*finds_none)(const struct record *look);
    /* The program draws at random: `data` may be changed. NULL: it is as it is. */
    void (*drawn)(void *data, size_t bytes);

    /* --- the process ----------------------------------------------------------------------- */
    /* MPI_Init is over: all ranks have a process. */
    void (*started)(void);
    /* A round of a loop that waits. */
    void (*round)(void);
    /* It is about to kill itself. NULL: nothing to be done before. */
    void (*dies)(void);

    /* --- steps of the plan, counted from 0, that taps or store carry out -------------------- */
    /* Message `number` of hold `step` is that of the record `send`. NULL: nobody asks. */
    void (*held)(uint32_t step, uint32_t number, const struct record *send);
    /* Is it to be handed to the library now, and why? RELEASED_NOT: not yet. */
    enum board_release (*may_go)(uint32_t step, uint32_t number);
    /* All that the step asks for has been done. */
    void (*finished)(uint32_t step);
};

/* NULL: nobody yet. Changes only while the process has one thread. */
extern const struct watcher *watcher;

/* false: no record need be shown (any more). Any thread that shows one may find that out. */
extern _Atomic bool runtime_watching;

/* true from MPI_Init to the end, and in all ranks alike: no wire call may block inside the library,
 * since messages are held, chosen or answers given. Then runtime_watching is true as well. */
extern _Atomic bool runtime_steering;

/* The same, but only where messages are held, chosen or answers given: not where calls do not block
 * in the library only so that somebody sees that ranks are blocked. */
extern _Atomic bool runtime_carrying;

/* true: the plan may delay messages, but has no hold, stop, choice or answer, and no step that
 * waits for the state of ranks. So a message that a rank keeps goes when its time has come,
 * whatever other ranks do. */
extern _Atomic bool runtime_only_delays;

/* --- what a watcher may ask of the taps ------------------------------------------------------- */
/* Provided by the taps; without it a message that has a key is never recognised. An unsigned field
 * of `bytes` 1, 2, 4 or 8 in the machine's order, at `offset` of the packed payload of the wire
 * call in progress: of a send before it is passed on, of a receive when its record is complete.
 * false: there is none, or it is not that long. */
bool tap_payload_peek(const struct record *r, uint64_t offset, unsigned bytes, uint64_t *value)
    __attribute__((weak));

/* Provided by the taps: id at the wire level of the nth (from 1) communicator made from
 * MPI_COMM_WORLD with all its ranks in their order. */
uint32_t tap_communicator_from_world(unsigned nth) __attribute__((weak));

#endif
