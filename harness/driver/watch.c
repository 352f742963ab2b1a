/* See watch.h. */
#include "driver/watch.h"

#include "driver/path.h"
#include "driver/stacks.h"
#include "oracles/oracle.h"
#include "trace/reader.h"

#include <stdio.h>
#include <string.h>

#define LOOKS_BEFORE_ANALYSIS 4

void watch_init(struct watch *watch)
{
    memset(watch, 0, sizeof *watch);
    watch->analyse_at = LOOKS_BEFORE_ANALYSIS;
}

static bool is_alive(const struct board_slot *slot)
{
    return atomic_load(&slot->pid) != 0 && atomic_load(&slot->ended) == 0;
}

/* Every rank has been started, one at least lives, and all that live are inside a blocking call. */
static bool all_blocked(const struct board *board, bool *changed, uint64_t *calls)
{
    int live = 0;
    for (int rank = 0; rank < board->ranks; rank++) {
        const struct board_slot *slot = &board->slot[rank];
        uint64_t call = atomic_load(&slot->blocking_call);
        if (atomic_load(&slot->pid) == 0)
            return false;
        if (!is_alive(slot))
            continue;
        live++;
        if (call == 0)
            return false;
        *changed |= calls[rank] != call;
        calls[rank] = call;
    }
    return live > 0;
}

static void describe(const struct hang *hang, char *text, size_t bytes)
{
    size_t count = hang->cycle > 0 ? hang->cycle : hang->count;
    size_t used = (size_t)snprintf(text, bytes,
                                   "every live rank is blocked and nothing is in "
                                   "flight");
    for (size_t i = 0; i < count && used < bytes; i++)
        used += (size_t)snprintf(text + used, bytes - used, "; %s", hang->waits[i].text);
}

static bool analyse(const struct board *board, const char *run_folder, char *text, size_t bytes)
{
    static bool alive[BOARD_MAX_RANKS];
    struct path folder;
    struct trace_set traces = {0};
    struct hang hang = {0};
    for (int rank = 0; rank < board->ranks; rank++)
        alive[rank] = is_alive(&board->slot[rank]);
    bool deadlocked = path_format(&folder, NULL, "%s/trace", run_folder) == OK &&
                      trace_set_open(folder.text, &traces, NULL) == OK &&
                      hang_analyse(&traces, alive, board->ranks, &hang, NULL) == OK &&
                      hang.deadlocked;
    if (deadlocked)
        describe(&hang, text, bytes);
    hang_release(&hang);
    trace_set_release(&traces);
    return deadlocked;
}

/* Ranks that still are where they were when the traces were read: what was read is what is. */
static bool unchanged(const struct watch *watch, const struct board *board)
{
    for (int rank = 0; rank < board->ranks; rank++)
        if (is_alive(&board->slot[rank]) &&
            atomic_load(&board->slot[rank].blocking_call) != watch->calls[rank])
            return false;
    return true;
}

bool watch_look(struct watch *watch, const struct board *board, const char *run_folder, char *text,
                size_t bytes)
{
    bool changed = false;
    if (!all_blocked(board, &changed, watch->calls) || changed) {
        watch->same = 0;
        watch->analyse_at = LOOKS_BEFORE_ANALYSIS;
        return false;
    }
    if (++watch->same < watch->analyse_at)
        return false;
    /* Reading a long trace costs: a job that is merely slow is looked at ever more rarely. */
    watch->analyse_at *= 2;
    return analyse(board, run_folder, text, bytes) && unchanged(watch, board);
}

void watch_write_stacks(const struct board *board, const char *run_folder)
{
    pid_t pids[BOARD_MAX_RANKS];
    int ranks[BOARD_MAX_RANKS];
    size_t count = 0;
    for (int rank = 0; rank < board->ranks; rank++) {
        if (!is_alive(&board->slot[rank]))
            continue;
        pids[count] = atomic_load(&board->slot[rank].pid);
        ranks[count++] = rank;
    }
    struct path path;
    FILE *out =
        path_format(&path, NULL, "%s/stacks.txt", run_folder) == OK ? fopen(path.text, "we") : NULL;
    if (out == NULL)
        return;
    struct error error = {0};
    if (stacks_write(pids, ranks, count, out, &error) != OK)
        fprintf(out, "no call stacks: %s\n", error.text);
    fclose(out);
}
