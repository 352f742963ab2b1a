/* Is the job deadlocked? Looks at the board only, and reads the traces when every live rank has
 * been inside the same blocking call for several looks.
 *
 * While the plan holds messages, has stopped ranks or makes one wait for a choice, a job that
 * cannot go on is not deadlocked: it is let go on (progress_unstick), and looked at again. There a
 * rank that only polls in vain counts as one that waits.
 *
 * Where the board says that nobody can go on (board->stuck), the traces are read at once. On the
 * step engine it always does: there nothing is done because ranks take long (engine_decides), or a
 * run would be another one on a busy machine.
 *
 * A job that polls can never be shown to be deadlocked: it may wait for the clock. When all its
 * ranks have done nothing else for long it has stalled. */
#ifndef LAUNCH_WATCH_H
#define LAUNCH_WATCH_H

#include "board/board.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

/* A rank at a look. */
struct watched {
    uint64_t call;      /* blocking_call; 0: it is not inside one */
    uint64_t polled_at; /* records it had when it polled in vain */
    uint64_t polls;     /* polls in vain when this began */
    bool stopped;
};

struct watch {
    int ranks; /* of the job; the board may have room for more */
    bool
        engine_decides; /* before board->stuck says so, no deadlock is looked for, nothing let go */
    struct watched rank[BOARD_MAX_RANKS];
    unsigned same;       /* looks in a row that found the same */
    bool steered;        /* at the last look, by the plan */
    bool in_vain;        /* at the last look nothing moved, was steered or in MPI_Init */
    uint64_t polls;      /* at least so many polls in vain of each rank that polls, since then */
    unsigned analyse_at; /* `same` at which the traces are read next */
};

/* `ranks`: from 1 to the board's. `engine_decides`: as above. */
void watch_init(struct watch *watch, int ranks, bool engine_decides);

/* One look, about WATCH_PERIOD_MS after the one before. True when the job is deadlocked; text then
 * names the cycle. */
#define WATCH_PERIOD_MS 50
bool watch_look(struct watch *watch, struct board *board, const struct plan *plan,
                const char *run_folder, char *text, size_t bytes);

/* At each look of `seconds` past every live rank did nothing but poll in vain, or was blocked.
 * Never while another thread of a rank runs: it may be computing. */
bool watch_has_stalled(const struct watch *watch, const struct board *board, double seconds);

/* Writes the call stacks of all live ranks to stacks.txt of the run folder, or there the reason why
 * it could not. */
void watch_write_stacks(const struct board *board, const char *run_folder);

#endif
