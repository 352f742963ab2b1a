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
 * something of the call in progress is found with rules_take once its record is published. Whoever
 * takes it says what came of it: rules_held, rules_chosen, rules_answered, rules_stored, or
 * rules_give_back. `step` is an index of the plan from 0. */
#ifndef INJECTORS_RULES_RULES_H
#define INJECTORS_RULES_RULES_H

#include "injectors/record/runtime.h"

/* How long a rank that is to be killed inside a call waits for the kill after the call returned.
 * Then it records the fault once more with error 255 ("not installed") and goes on. */
#define RULES_INSIDE_WAIT_MS 30000

/* Installs the rules as the watcher. Steps stay owned by the caller and must live as long as the
 * rules. board must not be NULL. run_folder: where `functions` is (see `within`), only read during
 * the call; NULL: nowhere. runtime_steering: the plan has HOLD, CHOOSE, ANSWER or JITTER, or a step
 * that is to be done as soon as ranks are blocked (somebody must be able to see it). */
void rules_open(const struct plan *plan, struct board *board, int rank, int incarnation,
                const char *run_folder);

/* No step is looked at from now on (forked child, end). */
void rules_close(void);

/* --- for the taps ---------------------------------------------------------------------------- */
/* The step of the plan that wants something of the wire call in progress, + 1; 0: none. From now on
 * it is the caller's. */
static inline uint32_t rules_take(void)
{
    uint32_t steered = thread_state.steered;
    thread_state.steered = 0;
    return steered;
}

/* Step `step` of the plan, from 0. */
const struct plan_step *rules_step(uint32_t step);

/* HOLD: the message of the wire record `send` (RECORD_SEND) is kept from now on. Returns its number
 * in the hold, 1 .. count. Writes FAULT_HELD; the step is done with the last. */
uint32_t rules_held(uint32_t step, const struct record *send);

/* It is handed to the library next, since watcher->may_go said so. Writes FAULT_RELEASED. Also for
 * RELEASED_BY_END. */
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
void rules_reoffer(uint32_t step);

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

/* --- for the checkpoint store ---------------------------------------------------------------- */
/* The fault was done to the call in progress, or is done next: writes FAULT_STORAGE with `value`
 * and `error` (errno that the call fails with; 0: none), and FAULT_LOST where the step loses; the
 * step is done. */
void rules_stored(uint32_t step, uint64_t value, int error);
_Noreturn void rules_die(void);

#endif
