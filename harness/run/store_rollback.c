/* See lose.h. */
#include "run/store_rollback.h"

#include "board/nodes.h"
#include "store/power_failure.h"

/* The kill that takes along what this rank has not synced; NULL: none. */
static const struct plan_step *loser(const struct run *run, const struct board *board, int rank)
{
    uint32_t number = atomic_load(&board->slot[rank].lose);
    const struct plan *plan = &run->scenario->plan;
    return number > 0 && number <= plan->count ? &plan->steps[number - 1] : NULL;
}

/* What was not synced. */
static bool may_lose(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].lose == LOSE_RANK || plan->steps[i].lose == LOSE_NODE)
            return true;
    return false;
}

enum error_code store_make_node(const struct run *run, int node, struct error *error)
{
    struct path path;
    enum error_code code =
        path_format(&path, error, "%s/store/" NODE_STORE_FORMAT, run->folder.text, node);
    if (code == OK)
        code = path_remove(path.text, error);
    return code == OK ? path_make_folder(path.text, error) : code;
}

/* Of the nodes on which somebody died with the storage. */
static enum error_code lose_storage(const struct run *run, const struct board *board,
                                    struct error *error)
{
    enum error_code code = OK;
    const char *nodes = run->scenario->nodes;
    for (int rank = 0; code == OK && rank < board_processes(board); rank++) {
        const struct plan_step *step = loser(run, board, rank);
        int node = nodes != NULL ? node_of_rank(nodes, rank) : -1;
        if (step != NULL && step->lose == LOSE_STORAGE && node >= 0)
            code = store_make_node(run, node, error);
    }
    return code;
}

enum error_code store_roll_back(const struct run *run, const struct board *board,
                                struct error *error)
{
    bool lost[BOARD_MAX_RANKS] = {false};
    struct loss loss = {.rank = lost, .ranks = board_processes(board)};
    struct journal journal;
    struct path store;
    if (!may_lose(&run->scenario->plan))
        return lose_storage(run, board, error);
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
