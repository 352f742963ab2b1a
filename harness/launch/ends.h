/* How the ranks of one incarnation ended, and what that says of the incarnation. Never looks at the
 * launcher's exit status for more than words: it is a mixture of the ranks'. */
#ifndef LAUNCH_ENDS_H
#define LAUNCH_ENDS_H

#include "board/board.h"
#include "launch/launch.h"

/* A run in which the others go on when one dies. */
struct survivors {
    const char *folder;   /* of the run, borrowed: what became of the ranks is in its traces */
    int ranks;            /* of the application: the rest of the first processes are in reserve */
    bool start_needs_all; /* nobody outlives a death before MPI_Init has returned */
    bool may_leave;       /* who exits by itself after a kill has left: the job starts again */
    const struct plan *plan; /* borrowed: what it kills is not the first that failed */
};

/* From the board, for all processes. Those whose parent had no time to note it are left as they are
 * in `ends` when known already (reaped by the driver). survivors: NULL, a death ends the
 * incarnation. */
void ends_collect(const struct board *board, const struct survivors *survivors,
                  struct rank_end *ends);

/* Only for an incarnation that ended by itself, and before the next one begins on the board.
 * survivors: NULL, a death ends the incarnation. */
enum launch_end ends_classify(const struct board *board, const struct plan *plan,
                              const struct survivors *survivors, const struct rank_end *ends,
                              char *text, size_t bytes);

/* The step of the plan that killed the process in this incarnation; -1: none did. */
int ends_killer(const struct board *board, const struct plan *plan, const struct rank_end *end);

/* The process that the plan killed before its MPI_Init had returned, in this incarnation, by what
 * the board says now; -1: none. */
int ends_killed_at_start(const struct board *board, const struct plan *plan);

/* When a rank first failed by itself, or told the launcher to end the job, CLOCK_MONOTONIC; 0: none
 * did. */
uint64_t ends_failed_ns(const struct board *board, const struct rank_end *ends);

/* A rank lives, and not inside the MPI library's own MPI_Init. */
bool ends_program_runs(const struct board *board);

/* A step of the plan made a call on the store fail or be short in this incarnation: a job that then
 * gives up does so by the plan. text: which step. */
bool ends_storage_failed(const struct board *board, const struct plan *plan, char *text,
                         size_t bytes);

#endif
