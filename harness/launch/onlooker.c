/* See onlooker.h. */
#include "launch/onlooker.h"

#include "system/process.h"

#include <errno.h>
#include <poll.h>
#include <unistd.h>

/* The ranks of MPI_COMM_WORLD, all of which have come through MPI_Init; 0: not all, or not known.
 */
static int count_ranks(const struct board *board)
{
    int ranks = atomic_load(&board->slot[0].world_size);
    if (ranks > board->ranks)
        return 0;
    for (int rank = 0; rank < ranks; rank++)
        if (atomic_load(&board->slot[rank].world_size) != ranks)
            return 0;
    return ranks;
}

static bool find_board(struct onlooker *onlooker, const struct path *run)
{
    struct path path;
    if (onlooker->board != NULL)
        return true;
    for (int rank = 0; rank < BOARD_MAX_RANKS; rank++)
        onlooker->process[rank] = PROCESS_NOT_KNOWN;
    return path_format(&path, NULL, "%s/board", run->text) == OK &&
           board_map(path.text, &onlooker->board, NULL) == OK;
}

/* Where the rank has no parent of ours, it is noted on the board here that it has ended. */
static void follow_process(struct board_slot *slot, int *process)
{
    if (*process == PROCESS_NOT_KNOWN) {
        int opened = process_open(atomic_load(&slot->pid));
        *process = opened >= 0 ? opened : errno == ESRCH ? PROCESS_ENDED : PROCESS_NOT_KNOWN;
    }
    struct pollfd look = {.fd = *process, .events = POLLIN};
    if (*process >= 0 && poll(&look, 1, 0) > 0) {
        close(*process);
        *process = PROCESS_ENDED;
    }
    if (*process == PROCESS_ENDED)
        atomic_store(&slot->ended, 1);
}

/* The traces show all that the rank may wait for, or do. */
static bool is_known(const struct board_slot *slot, int process)
{
    if (process == PROCESS_ENDED)
        return atomic_load(&slot->state) == RANK_FINALIZED;
    return process >= 0 && atomic_load(&slot->lost) == 0 &&
           !process_is_stopped(atomic_load(&slot->pid));
}

static bool is_whole_job_known(struct onlooker *onlooker)
{
    struct board *board = onlooker->board;
    int ranks = count_ranks(board);
    if (ranks != onlooker->watch.ranks)
        watch_init(&onlooker->watch, ranks, false);
    for (int rank = 0; rank < ranks; rank++) {
        follow_process(&board->slot[rank], &onlooker->process[rank]);
        if (!is_known(&board->slot[rank], onlooker->process[rank]))
            return false;
    }
    return ranks > 0 && atomic_load(&board->unrecorded) == 0;
}

bool onlooker_look(struct onlooker *onlooker, const struct path *run)
{
    static const struct plan no_plan;
    if (!find_board(onlooker, run) || !is_whole_job_known(onlooker) ||
        !watch_look(&onlooker->watch, onlooker->board, &no_plan, run->text, onlooker->text,
                    sizeof onlooker->text))
        return false;
    watch_write_stacks(onlooker->board, run->text);
    return true;
}
