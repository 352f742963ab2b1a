/* See lose.h. */
#include "run/store_rollback.h"

#include "base/regular_file.h"
#include "board/nodes.h"
#include "store/power_failure.h"

#include <errno.h>
#include <fnmatch.h>
#include <fts.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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

/* Removes the files below the store whose path there matches, and writes down which. */
static enum error_code lose_files(const char *store, const char *pattern, FILE *told,
                                  struct error *error)
{
    char *const roots[] = {(char *)(uintptr_t)store, NULL};
    size_t above = strlen(store) + 1;
    enum error_code code = OK;
    bool any = false;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
    if (walk == NULL)
        return error_set(error, ERROR_IO, "%s: %s", store, strerror(errno));
    for (const FTSENT *entry; code == OK && (entry = fts_read(walk)) != NULL;) {
        bool is_file = entry->fts_info == FTS_F || entry->fts_info == FTS_SL;
        if (!is_file || fnmatch(pattern, entry->fts_path + above, 0) != 0)
            continue;
        any = true;
        fprintf(told, "removed %s\n", entry->fts_path + above);
        if (unlink(entry->fts_path) != 0)
            code = error_set(error, ERROR_IO, "%s: %s", entry->fts_path, strerror(errno));
    }
    if (!any)
        fprintf(told, "no file matches %s\n", pattern);
    fts_close(walk);
    return code;
}

static enum error_code lose_files_of(const struct run *run, const struct plan_step *step,
                                     struct error *error)
{
    struct path store, folder, path;
    enum error_code code = path_format(&store, error, "%s/store", run->folder.text);
    if (code == OK)
        code = path_format(&folder, error, "%s/durable", run->folder.text);
    if (code == OK)
        code = path_make_folder(folder.text, error);
    if (code == OK)
        code = path_format(&path, error, "%s/lost", folder.text);
    FILE *told = code == OK ? regular_append(path.text, error) : NULL;
    if (told == NULL)
        return code != OK ? code : ERROR_IO;
    code = lose_files(store.text, step->lose_files, told, error);
    fclose(told);
    return code;
}

/* Of the nodes on which somebody died with the storage; and files by name. */
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
        if (code == OK && step != NULL && step->lose_files[0] != '\0')
            code = lose_files_of(run, step, error);
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
