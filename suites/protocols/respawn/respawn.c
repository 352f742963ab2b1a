/* Forward recovery with ULFM [UL, section 6.1]: when a rank dies the others revoke, shrink, spawn a
 * process in its place, merge, and all go back to the newest line, which each rank and the one
 * after it keep in memory. A layer over PMPI. README.md says what it assumes, and how a program
 * that knows nothing of it comes from a failed call to its next potential checkpoint.
 *
 * Every potential checkpoint is a line; line 1 is the state that a program begins with, which each
 * process makes for itself. Must not know: what the program computes. */
#include "common/base/state.h"
#include "common/world/world.h"

#include "checkpoint.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

#define LINE_FIRST 1

/* On the communicator of the program, which must not use them. */
enum { TAG_SIZE = 32001, TAG_STATE, TAG_LINE };

/* A line as this rank keeps it. */
struct line {
    uint64_t number;
    char *own; /* the registered state of this rank */
    size_t bytes;
    char *left; /* ... and of the rank before it */
    size_t left_bytes;
};

const char world_protocol[] = "respawn";

static struct {
    struct state state;
    char *first;      /* the state that the program begins with */
    struct line line; /* the newest */
} respawn;

/* --- lines ------------------------------------------------------------------------------------ */

/* What this rank has of the line goes to the rank after it, and what the one before has comes here:
 * line->left, which is the line's own from now on. */
static bool exchange(MPI_Comm comm, struct line *line)
{
    int after = (here.rank + 1) % here.ranks;
    int before = (here.rank + here.ranks - 1) % here.ranks;
    int mine = (int)line->bytes, bytes = 0;
    line->left = NULL;
    bool well = PMPI_Sendrecv(&mine, 1, MPI_INT, after, TAG_SIZE, &bytes, 1, MPI_INT, before,
                              TAG_SIZE, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
    if (!well)
        return false;
    line->left_bytes = (size_t)bytes;
    line->left = world_memory(line->left_bytes);
    return PMPI_Sendrecv(line->own, mine, MPI_BYTE, after, TAG_STATE, line->left, bytes, MPI_BYTE,
                         before, TAG_STATE, comm, MPI_STATUS_IGNORE) == MPI_SUCCESS;
}

/* The end of what is done together for a line: all take it, or nobody does. */
static bool conclude(MPI_Comm comm, struct line *line, bool well)
{
    if (!well)
        world_revoke(comm); /* who waits for what comes from here waits in vain */
    if (!world_agree(comm, well)) {
        free(line->own);
        free(line->left);
        return false;
    }
    free(respawn.line.own);
    free(respawn.line.left);
    respawn.line = *line;
    return true;
}

static struct line new_line(uint64_t number)
{
    struct line line = {.number = number, .bytes = (size_t)state_data_bytes(&respawn.state)};
    line.own = world_memory(line.bytes);
    return line;
}

/* A line is taken by all or by none. False: somebody has died, and the line before is the newest.
 */
static bool take_line(void)
{
    struct line line = new_line(respawn.line.number + 1);
    state_copy(&respawn.state, line.own);
    faultline_checkpoint(line.number);
    if (!conclude(here.comm, &line, exchange(here.comm, &line)))
        return false;
    faultline_saved(line.number);
    if (here.rank == 0)
        faultline_commit(line.number);
    return true;
}

/* --- back to a line --------------------------------------------------------------------------- */

/* With a rank and the one after it a line is gone: then all begin again. */
static bool is_lost(const struct newcomer_info *info)
{
    for (int i = 0; i < info->count; i++)
        if (world_is_missing(info, (info->missing[i] + 1) % info->ranks))
            return true;
    return false;
}

/* What is kept for a rank that has died goes from the one after it to its new process. */
static bool hand_over(MPI_Comm comm, const struct newcomer_info *info, const struct line *line)
{
    int before = (here.rank + here.ranks - 1) % here.ranks;
    if (world_is_missing(info, here.rank)) {
        int after = (here.rank + 1) % here.ranks;
        return PMPI_Recv(line->own, (int)line->bytes, MPI_BYTE, after, TAG_LINE, comm,
                         MPI_STATUS_IGNORE) == MPI_SUCCESS;
    }
    return !world_is_missing(info, before) ||
           PMPI_Send(respawn.line.left, (int)respawn.line.left_bytes, MPI_BYTE, before, TAG_LINE,
                     comm) == MPI_SUCCESS;
}

/* All are at the line that `info` names, each with the copy that the rank before it keeps of it; or
 * nobody is. */
static bool resume(MPI_Comm comm, const struct newcomer_info *info)
{
    bool first = info->line == LINE_FIRST || is_lost(info);
    struct line line = new_line(first ? LINE_FIRST : (uint64_t)info->line);
    memcpy(line.own, first ? respawn.first : respawn.line.own, line.bytes);
    bool well = first || hand_over(comm, info, &line);
    return conclude(comm, &line, well && exchange(comm, &line));
}

static void go_on(void)
{
    state_put_back(&respawn.state, respawn.line.own);
    /* The first line is the beginning, whether the process before came to say that it took it. */
    faultline_restored(respawn.line.number == LINE_FIRST ? 0 : respawn.line.number);
}

static void repair(void)
{
    world_repair((int)respawn.line.number, resume);
}

/* --- what the program calls ------------------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    if (state_register(&respawn.state, name, data, bytes, &error) != OK)
        world_give_up(error.text);
}

EXPORTED int protocol_restore(void)
{
    respawn.first = world_memory((size_t)state_data_bytes(&respawn.state));
    state_copy(&respawn.state, respawn.first);
    respawn.line = new_line(LINE_FIRST);
    state_copy(&respawn.state, respawn.line.own);
    const struct newcomer_info *info = world_came();
    if (info == NULL) {
        faultline_checkpoint(LINE_FIRST);
        return 0;
    }
    if (!resume(here.comm, info))
        world_leave();
    go_on();
    return (int)respawn.line.number;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    if (!here.broken && take_line())
        return (int)respawn.line.number;
    if (!here.broken)
        world_failed();
    else
        world_agree(here.comm, false); /* who has come to the line must not wait for it */
    repair();
    go_on();
    return 0;
}

/* If a rank dies here, all go on from the last line, which is at the end of their work. This rank
 * does not go back: what it has done, and its result, stand. */
EXPORTED int MPI_Finalize(void)
{
    uint64_t end = respawn.line.number;
    while (!world_agree(here.comm, true)) {
        repair();
        if (respawn.line.number != end)
            world_give_up("the line that ranks have finished with is lost");
    }
    return PMPI_Finalize();
}
