/* Rules: the steps of the plan, matched against the records of this rank, and what they do. plan.h
 * says what a step means. Must not know: MPI headers.
 *
 * Only the step that is armed (board->step) is looked at. Events are counted on the board, so a
 * step may wait for any rank's n-th event and is done exactly once, whatever rank sees it.
 *
 * A kill is done in this order: one FAULT record per victim (tag = index of the step, peer = the
 * victim, bytes = its pid, 0 if it has no process); the next step is armed; SIGKILL to the other
 * victims; SIGKILL to oneself. Nothing here takes a lock: other threads may be anywhere. */
#ifndef INJECTORS_RULES_H
#define INJECTORS_RULES_H

#include "board/board.h"
#include "plan/plan.h"
#include "trace/record.h"

#include <stdbool.h>

/* How long a rank that is to be killed inside a call waits for the kill after the call returned.
 * Then it records the fault once more with error 255 ("not installed") and goes on. */
#define RULES_INSIDE_WAIT_MS 30000

/* false: no step can concern this rank (any more), and nothing below needs to be called. */
extern bool rules_watching;

/* Steps stay owned by the caller and must live as long as the rules. board must not be NULL. */
void rules_open(const struct plan *plan, struct board *board, int rank, int incarnation);

/* No step is looked at from now on (forked child, end). */
void rules_close(void);

/* A step without a condition at the very start of the plan is done by the rank that comes here
 * first, once in a run. Call when all ranks have a process. */
void rules_start(void);

/* `r` has been filled and published on entry. */
void rules_before(struct record *r);

/* The call of `r` has returned, r->leave is still 0: does not return before the SIGKILL that was
 * asked for when it was entered (see RULES_INSIDE_WAIT_MS). */
void rules_returned(struct record *r);

/* `r` is complete. */
void rules_after(struct record *r);

/* `r` has no duration (a note, a completion under MPI_Waitall); before and after are the same. */
void rules_instant(struct record *r, const char *name);

#endif
