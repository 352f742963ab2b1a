/* A run that follows the decisions of another one (harness/decisions/decisions.h): where this rank
 * stands in them, what comes next, and what is done to the run there. It is the watcher in the
 * place of the rules: no condition of the plan is looked at, and what a step does is done where it
 * was done then. Must not know: MPI headers; what is done to a call is steer_replay.c.
 *
 * Each record that this rank makes is held against the next event. The first that differs is a
 * *divergence*: it is written to the file `divergence` of the run folder, and the process exits.
 *
 * A rank that has come to the last thing that it did in this incarnation has *arrived*. It waits
 * there, making progress for others, until it is killed; kills are carried out when all ranks have
 * arrived, so that each is ended exactly where it was. */
#ifndef INJECTORS_REPLAY_REPLAY_H
#define INJECTORS_REPLAY_REPLAY_H

#include "board/board.h"
#include "plan/plan.h"
#include "trace/record.h"

#include <stdbool.h>
#include <stddef.h>

/* How long anything is waited for that came at this place in the run that is followed. */
#define REPLAY_WAIT_MS 30000

/* What a process exits with after a divergence. */
#define REPLAY_EXIT_DIVERGED 77

/* Begins to follow the decisions in `path`, after rules_open. Does not return when they cannot be
 * read: a run that is not imposed must not pass for one that is. Arguments must live as long as the
 * rank. */
void replay_open(const char *path, const struct plan *plan, struct board *board, int rank,
                 int incarnation, const char *run_folder);

/* Provided by the taps: the library's answers are those of the other run too. */
void replay_steer(void) __attribute__((weak));

/* --- for steering ----------------------------------------------------------------------------- */
/* The message that the receive or probe of `r`, in progress, took; false: not known. */
bool replay_source(const struct record *r, int32_t *peer, int32_t *tag);

/* The call of `r` was in progress when this rank was ended. */
bool replay_never_returns(const struct record *r);

/* A non-blocking receive of whose end the program never saw anything but a cancellation. */
bool replay_is_open_ended(const struct record *r);

enum replay_answer { REPLAY_NO, REPLAY_YES, REPLAY_END };

/* What the poll in progress at the wire level said. END: it never returned. */
enum replay_answer replay_answer(void);

/* Request numbers that the wire call of `r` (of the poll in progress: NULL) completed, in order; at
 * most `room` are stored, their number is returned. */
unsigned replay_completed(const struct record *r, uint32_t *requests, unsigned room);

/* Writes the evidence of the choice or answer that was given to this call then. NULL: to the poll
 * in progress. `call`: its record. */
void replay_note(const struct record *call);

/* Says what was waited for in vain, and ends the process. */
_Noreturn void replay_gave_up(const struct record *r);

/* Provided by the taps: lets the MPI library make progress, and looks after what is held. */
void steer_idle(void) __attribute__((weak));

#endif
