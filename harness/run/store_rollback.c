/* See lose.h. */
#include "run/store_rollback.h"

#include "store/power_failure.h"

/* The kill that takes along what this rank has not synced; NULL: none. */
static const struct plan_step *loser(const struct run *run, const struct board *board, int rank)
{
    uint32_t number = atomic_load(&board->slot[rank].lose);
    const struct plan *plan = &run->scenario->plan;
    return number > 0 && number <= plan->count ? &plan->steps[number - 1] : NULL;
}

static bool may_lose(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].lose != LOSE_NOTHING)
            return true;
    return false;
}

enum error_code store_roll_back(const struct run *run, const struct board *board,
                                struct error *error)
{
    bool lost[BOARD_MAX_RANKS] = {false};
    struct loss loss = {.rank = lost, .ranks = board_processes(board)};
    struct journal journal;
    struct path store;
    if (!may_lose(&run->scenario->plan))
        return OK;
    for (int rank = 0; rank < board_processes(board); rank++) {
        const struct plan_step *step = loser(run, board, rank);
        lost[rank] = step != NULL;
        loss.everybody |= step != NULL && step->lose == LOSE_NODE;
    }
    enum error_code code = path_format(&store, error, "%s/store", run->folder.text);
    if (code == OK)
        code = journal_open(&journal, run->folder.text, store.text, error);
    return code == OK ? power_failure_apply(&journal, &loss, error) : code;
}
