/* Is a job deadlocked that `exec` records and that somebody else has started? Looks at the board
 * that its ranks have made, and goes by what `run` calls a deadlock (watch.h).
 *
 * Nobody reports how such ranks end, so their processes are watched. No deadlock is seen where the
 * traces do not show all that a rank may wait for: a rank or another MPI process of the command
 * that is not recorded, records that are lost, a rank that has ended without MPI_Finalize (its
 * launcher ends the others), or one that is stopped (by a debugger). */
#ifndef LAUNCH_ONLOOKER_H
#define LAUNCH_ONLOOKER_H

#include "board/board.h"
#include "launch/watch.h"
#include "system/path.h"

#define ONLOOKER_TEXT_BYTES 1024

/* All zero at the start. What it has open the end of this process closes. */
struct onlooker {
    struct board *board; /* NULL: there is none yet */
    struct watch watch;
    int process[BOARD_MAX_RANKS]; /* pidfd, or enum onlooker_process */
    char text[ONLOOKER_TEXT_BYTES];
};

enum onlooker_process { PROCESS_ENDED = -1, PROCESS_NOT_KNOWN = -2 };

/* One look at the job whose run folder is `run`, about WATCH_PERIOD_MS after the one before. True
 * when the job is deadlocked: `text` then says who waits for whom, and stacks.txt of the run folder
 * has the call stacks. */
bool onlooker_look(struct onlooker *onlooker, const struct path *run);

#endif
