/* Rules: the steps of the plan, matched against the records of this rank, and what they do. plan.h
 * says what a step means. Must not know: MPI headers.
 *
 * Every step that is armed and not done is looked at. Events are counted on the board, so a step
 * may wait for any rank's n-th event and is done exactly once, whatever rank sees it. An event that
 * makes a step done does not count for steps armed by that.
 *
 * A kill is done in this order: one FAULT record per victim (tag = index of the step, peer = the
 * victim, bytes = its pid, 0 if it has no process); the next steps are armed; SIGKILL to the other
 * victims; SIGKILL to oneself. Nothing here takes a lock: other threads may be anywhere.
 *
 * What the taps do for the rules (steer*.c), what the store does (storage*.c): a step that wants
 * something of the call in progress is found in thread_state.steered behind rules_before. Whoever
 * takes it says what came of it: rules_held, rules_chosen, rules_answered, rules_stored, or
 * rules_give_back. `step` is an index of the plan from 0. */
#ifndef INJECTORS_RULES_RULES_H
#define INJECTORS_RULES_RULES_H

#include "board/board.h"
#include "plan/plan.h"
#include "trace/record.h"

#include <stdbool.h>

/* How long a rank that is to be killed inside a call waits for the kill after the call returned.
 * Then it records the fault once more with error 255 ("not installed") and goes on. */
#define RULES_INSIDE_WAIT_MS 30000

/* false: no step can concern this rank (any more), and nothing below needs to be called. Any thread
 * that sees an event may find that out. */
extern _Atomic bool rules_watching;

/* true from MPI_Init to the end, and in all ranks alike: the plan has HOLD, CHOOSE, ANSWER or
 * JITTER, or a step that is to be done as soon as ranks are blocked (somebody must be able to see
 * it), and no wire call may block inside the library. Then rules_watching is true as well. */
extern _Atomic bool rules_steering;

/* Steps stay owned by the caller and must live as long as the rules. board must not be NULL.
 * run_folder: where `functions` is (see `within`), only read during the call; NULL: nowhere. */
void rules_open(const struct plan *plan, struct board *board, int rank, int incarnation,
                const char *run_folder);

/* No step is looked at from now on (forked child, end). */
void rules_close(void);

/* Steps that wait for nothing at the very start of the plan are done by the rank that comes here
 * first, once in a run. Call when all ranks have a process. */
void rules_start(void);

/* `r` has been filled and published on entry. */
void rules_before(struct record *r);

/* The call of `r` has returned, r->leave is still 0: does not return before the SIGKILL that was
 * asked for when it was entered (see RULES_INSIDE_WAIT_MS). */
void rules_returned(struct record *r);

/* `r` is complete. */
void rules_after(struct record *r);

/* `r` has no duration (a note, a completion under MPI_Waitall); before and after are the same. A
 * wire send without a duration (MPI_Startall) may be steered: then record it before it is passed
 * on. */
void rules_instant(struct record *r, const char *name);

/* The poll that was in progress is in the trace now: for the evidence of an answer given to it. */
void rules_poll_recorded(const struct record *poll);

/* A poll of this rank said no. */
void rules_polled_in_vain(void);

/* Conditions that wait for no event: looked at again. Progress loops call it in every round. */
void rules_poll(void);

/* --- for the taps ---------------------------------------------------------------------------- */
const struct plan_step *rules_step(uint32_t step);

/* HOLD: the message of the wire record `send` (RECORD_SEND) is kept from now on. Returns its number
 * in the hold, 1 .. count. Writes FAULT_HELD; the step is done with the last. */
uint32_t rules_held(uint32_t step, const struct record *send);

/* Is message `number` of hold `step` to be handed to the library now, and why? RELEASED_NOT: not
 * yet; to be asked again and again. Of an ordered hold one at a time: the next may go when
 * rules_passed was called for the one before. */
enum board_release rules_may_go(uint32_t step, uint32_t number);

/* It is handed to the library next. Writes FAULT_RELEASED. Also for RELEASED_BY_END. */
void rules_let_go(uint32_t step, const struct record *send, enum board_release why);

/* A message of an ordered hold can no longer be overtaken by the next. */
void rules_passed(uint32_t step);

/* CHOOSE, ANSWER: what became of it. `call`: the RECV, PROBE or other record of the call, at the
 * wire level. could: false for "it could not be" (error 255 in the evidence). An ANSWER of `count`
 * is done with the last; each call matched is one. */
void rules_chosen(uint32_t step, const struct record *call, int peer, bool could);
void rules_answered(uint32_t step, const struct record *call, int answer, bool could);

/* Can messages of this communicator at the wire level be the program's of the other? A protocol may
 * have made one in the place of another, but not in the place of a predefined one. */
bool rules_may_stand_for(uint32_t wire_comm, uint32_t app_comm);

/* The wire call is not the one that the upper call was matched for: a later one inside it is. */
void rules_offer_again(uint32_t step);

/* The match is not used: it may be given to a later call. */
void rules_give_back(uint32_t step);

/* Around a loop that waits for a choice or answer to become possible: when the job cannot go on
 * otherwise rules_unstick() changes, and the loop must give in. */
void rules_wait_begin(void);
void rules_wait_end(void);
uint32_t rules_unstick(void);

/* The faults have stopped: nothing is kept any longer. */
bool rules_quiet(void);

/* The newest JITTER step that is done; NULL: none, or the faults have stopped. */
const struct plan_step *rules_jitter(void);

/* Provided by the taps; without it a message that has a key is never recognised. An unsigned field
 * of `bytes` 1, 2, 4 or 8 in the machine's order, at `offset` of the packed payload of the wire
 * call in progress: of a send before it is passed on, of a receive when its record is complete.
 * false: there is none, or it is not that long. */
bool tap_payload_peek(const struct record *r, uint64_t offset, unsigned bytes, uint64_t *value)
    __attribute__((weak));

/* Provided by the taps: id at the wire level of the nth (from 1) communicator made from
 * MPI_COMM_WORLD with all its ranks in their order. */
uint32_t tap_communicator_from_world(unsigned nth) __attribute__((weak));

/* --- for the checkpoint store ---------------------------------------------------------------- */
/* A call on a file below the store: `event` is EVENT_OPEN .. EVENT_UNLINK, `file` the path below
 * the store, `r` its record, published (before) or complete (after). Before: a step whose affair is
 * the store's is then in thread_state.steered. May not return. */
void rules_storage(struct record *r, enum plan_event event, const char *file, bool after);

/* The fault was done to the call in progress, or is done next: writes FAULT_STORAGE with `value`,
 * and FAULT_LOST where the step loses; the step is done. */
void rules_stored(uint32_t step, uint64_t value);
_Noreturn void rules_die(void);

#endif
