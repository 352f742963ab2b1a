/* How far the plan has come, by the board: what is armed, done, released, and what is true of
 * ranks. Shared by the ranks, their parents and the driver. Must not know: MPI, Lua. */
#ifndef BOARD_PROGRESS_H
#define BOARD_PROGRESS_H

#include "board/board.h"
#include "plan/plan.h"

#include <stdbool.h>

/* The step before it is done (or it waits for none), and it is not. */
bool progress_armed(const struct board *board, const struct plan *plan, unsigned step);

/* The step is done now: those that come after it are armed. */
void progress_finish(struct board *board, unsigned step, int rank, int incarnation);

/* For steps that count no events: true for one caller only, in all processes. */
bool progress_claim(struct board *board, unsigned step);

/* A match of a step that takes at most `limit`; false: all are given. */
bool progress_reserve(struct board *board, unsigned step, uint64_t limit);
void progress_give_back(struct board *board, unsigned step);

/* What the step holds or has stopped is let go; the first reason given stays. */
void progress_let_go(struct board *board, unsigned step, enum board_release why);

/* Why what the hold or stop has taken may go on: RELEASED_NOT, not yet. Looks at what waits for no
 * event: time, states, the order alone, board->unstick. */
enum board_release progress_released(struct board *board, const struct plan *plan, unsigned step);

/* All states of the condition hold; `own` is the rank of the event, or PLAN_ANY. */
bool progress_states_hold(const struct board *board, const struct plan_condition *condition,
                          int32_t own);

/* The driver found that the job cannot go on: all that is held or stopped now is let go. */
void progress_unstick(struct board *board);

/* The faults stop, once and for all: no step is armed any more, and what is held or stopped is let
 * go because of `why`. Calls that wait for a choice of the plan give in. */
void progress_quiet(struct board *board, enum board_release why);

/* Whether the plan lets `process` be informed of the death of `dead` now. */
enum death_notice progress_death_notice(const struct board *board, const struct plan *plan,
                                        int process, int dead);

/* Every step that withholds the death of `dead` from anybody is let go, because of `why`. */
void progress_give_notice(struct board *board, const struct plan *plan, int dead,
                          enum board_release why);

/* Some step still does. */
bool progress_withholds(const struct board *board, const struct plan *plan, int dead);

/* Nothing of the plan can concern the job any more: the faults have stopped, or every step is done,
 * what was held or stopped is let go, and no message is delayed. */
bool progress_is_over(const struct board *board, const struct plan *plan);

#endif
