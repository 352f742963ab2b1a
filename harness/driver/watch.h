/* Is the job deadlocked? Looks at the board only, and reads the traces when every live rank has
 * been inside the same blocking call for several looks.
 *
 * While the plan holds messages, has stopped ranks or makes one wait for a choice, a job that
 * cannot go on is not deadlocked: it is let go on (progress_unstick), and looked at again. There a
 * rank that only polls in vain counts as one that waits. */
#ifndef DRIVER_WATCH_H
#define DRIVER_WATCH_H

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
    struct watched rank[BOARD_MAX_RANKS];
    unsigned same;       /* looks in a row that found the same */
    unsigned analyse_at; /* `same` at which the traces are read next */
};

void watch_init(struct watch *watch);

/* One look, about WATCH_PERIOD_MS after the one before. True when the job is deadlocked; text then
 * tells the cycle. */
#define WATCH_PERIOD_MS 50
bool watch_look(struct watch *watch, struct board *board, const struct plan *plan,
                const char *run_folder, char *text, size_t bytes);

/* Writes the call stacks of all live ranks to stacks.txt of the run folder, or there the reason why
 * it could not. */
void watch_write_stacks(const struct board *board, const char *run_folder);

#endif
