/* See store_rollback.h. */
#include "run/store_rollback.h"

#include "base/regular_file.h"
#include "board/nodes.h"
#include "board/stores.h"
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

static enum error_code make_folder(const struct run *run, const char *place, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/store/%s", run->folder.text, place);
    return code == OK ? path_make_folder(path.text, error) : code;
}

enum error_code store_make_folders(const struct run *run, struct error *error)
{
    const struct scenario *scenario = run->scenario;
    int nodes = node_count(scenario->nodes);
    char place[STORE_PLACE_BYTES];
    enum error_code code = OK;
    for (int node = 0; code == OK && node < nodes; node++) {
        snprintf(place, sizeof place, NODE_STORE_FORMAT, node);
        code = make_folder(run, place, error);
    }
    const char *rest = scenario->stores;
    for (struct named_store store; code == OK && stores_next(&rest, &store);)
        for (int node = 0; code == OK && node < (store.of_node ? nodes : 1); node++) {
            store_place(&store, node, place);
            code = make_folder(run, place, error);
        }
    return code;
}

static enum error_code remove_node(const struct run *run, int node, struct error *error)
{
    struct path path;
    enum error_code code =
        path_format(&path, error, "%s/store/" NODE_STORE_FORMAT, run->folder.text, node);
    return code == OK ? path_remove(path.text, error) : code;
}

/* What the walk is at: a file, or a folder behind all that is in it. The store itself is neither.
 */
static bool can_be_lost(const FTSENT *entry)
{
    return entry->fts_level > 0 &&
           (entry->fts_info == FTS_F || entry->fts_info == FTS_SL || entry->fts_info == FTS_DP);
}

static int by_name(const FTSENT **one, const FTSENT **other)
{
    return strcmp((*one)->fts_name, (*other)->fts_name);
}

/* Removes the files below the store whose path there matches, and folders that do and are empty
 * then, and writes down which: in an order that does not depend on the file system. */
static enum error_code lose_files(const char *store, const char *pattern, FILE *report,
                                  struct error *error)
{
    char *const roots[] = {(char *)(uintptr_t)store, NULL};
    size_t above = strlen(store) + 1;
    enum error_code code = OK;
    bool any = false;
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, by_name);
    if (walk == NULL)
        return error_set(error, ERROR_IO, "%s: %s", store, strerror(errno));
    for (const FTSENT *entry; code == OK && (entry = fts_read(walk)) != NULL;) {
        bool is_folder = entry->fts_info == FTS_DP;
        if (!can_be_lost(entry) || fnmatch(pattern, entry->fts_path + above, 0) != 0)
            continue;
        if ((is_folder ? rmdir(entry->fts_path) : unlink(entry->fts_path)) == 0) {
            any = true;
            fprintf(report, "removed %s\n", entry->fts_path + above);
        } else if (!is_folder || errno != ENOTEMPTY) {
            code = error_set(error, ERROR_IO, "%s: %s", entry->fts_path, strerror(errno));
        }
    }
    if (!any)
        fprintf(report, "no file matches %s\n", pattern);
    fts_close(walk);
    return code;
}

static enum error_code lose_matching(const struct run *run, const char *pattern,
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
    FILE *report = code == OK ? regular_append(path.text, error) : NULL;
    if (report == NULL)
        return code != OK ? code : ERROR_IO;
    code = lose_files(store.text, pattern, report, error);
    fclose(report);
    return code;
}

static int node_of(const struct run *run, int rank)
{
    const char *nodes = run->scenario->nodes;
    return nodes != NULL ? node_of_rank(nodes, rank) : -1;
}

/* The pattern of the step, with the number of the victim's node in place of each NODE_OF_VICTIM. */
static enum error_code pattern_for(const struct plan_step *step, int node, struct path *pattern,
                                   struct error *error)
{
    const char *rest = step->lose_files;
    enum error_code code = path_format(pattern, error, "%s", "");
    while (code == OK && *rest != '\0') {
        size_t length = node >= 0 ? strcspn(rest, NODE_OF_VICTIM) : strlen(rest);
        struct path front = *pattern;
        code = path_format(pattern, error, "%s%.*s", front.text, (int)length, rest);
        rest += length;
        if (code != OK || *rest == '\0')
            continue;
        front = *pattern;
        code = path_format(pattern, error, "%s%d", front.text, node);
        rest++;
    }
    return code;
}

/* Somebody of the same node has died of the same step, and has a lower number. */
static bool was_lost_before(const struct run *run, const struct board *board, int rank)
{
    for (int other = 0; other < rank; other++)
        if (loser(run, board, other) == loser(run, board, rank) &&
            node_of(run, other) == node_of(run, rank))
            return true;
    return false;
}

/* Of the nodes on which somebody died with the storage; and files by name. */
static enum error_code lose_storage(const struct run *run, const struct board *board,
                                    struct error *error)
{
    enum error_code code = OK;
    bool any = false;
    for (int rank = 0; code == OK && rank < board_processes(board); rank++) {
        const struct plan_step *step = loser(run, board, rank);
        int node = node_of(run, rank);
        struct path pattern;
        if (step == NULL || was_lost_before(run, board, rank))
            continue;
        any = true;
        if (step->lose == LOSE_STORAGE && node >= 0)
            code = remove_node(run, node, error);
        if (code == OK && step->lose_files[0] != '\0')
            code = pattern_for(step, node, &pattern, error);
        if (code == OK && step->lose_files[0] != '\0')
            code = lose_matching(run, pattern.text, error);
    }
    return code == OK && any ? store_make_folders(run, error) : code;
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
