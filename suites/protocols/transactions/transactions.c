/* Transactions over ULFM [UL, sections 2.5 and 6.3]: what a program does between two potential
 * checkpoints is done by all, and is on stable storage then, or it is undone: those who have died
 * are replaced, and all are where it began. A layer over PMPI. README.md says what it assumes, and
 * common/world/calls.c how a program that knows nothing of it comes from a failed call to its next
 * potential checkpoint.
 *
 * Transactions are lines: number n begins with the state that n - 1 has left. Must not know: what
 * the program computes. */
#include "common/base/lines.h"
#include "common/base/state.h"
#include "common/world/world.h"

#include "checkpoint.h"
#include "faultline.h"

const char world_protocol[] = "transactions";

static struct {
    struct state state;
    struct line_store store;
    void *first;        /* the state that the program begins with */
    uint64_t committed; /* the newest transaction that was; LINE_NONE: none */
} job;

static void must(enum error_code code, const struct error *error)
{
    if (code != OK)
        world_give_up(error->text);
}

/* --- the end of a transaction ----------------------------------------------------------------- */

/* On stable storage, but nobody goes on from it before it is committed. */
static void save(uint64_t number)
{
    struct error error;
    faultline_checkpoint(number);
    must(line_save(&job.store, number, &job.state, &error), &error);
    faultline_saved(number);
}

/* All who live have agreed that it ends well, and have saved it. The first of them writes that
 * down, the next where he dies before all know of it. False: somebody has died, who is to be
 * replaced. */
static bool commit(uint64_t number)
{
    MPI_Comm alive = here.comm;
    for (bool done = false; !done;) {
        struct error error;
        int place;
        PMPI_Comm_rank(alive, &place);
        if (place == 0)
            must(line_commit(&job.store, number, &error), &error);
        done = world_agree(alive, true);
        if (!done && PMPIX_Comm_shrink(alive, &alive) != MPI_SUCCESS)
            world_give_up("MPIX_Comm_shrink failed");
    }
    line_remove(&job.store, job.committed);
    job.committed = number;
    faultline_commit(number);
    return alive == here.comm;
}

/* --- back to where one began ------------------------------------------------------------------ */

/* What has been saved of the one that was undone must not be taken for a later one's. */
static void go_back(void)
{
    struct error error;
    line_remove(&job.store, job.committed + 1);
    if (job.committed == LINE_NONE)
        state_put_back(&job.state, job.first);
    else
        must(line_load(&job.store, job.committed, &job.state, &error), &error);
    faultline_restored(job.committed);
}

static bool resume(MPI_Comm comm, const struct newcomer_info *info)
{
    job.committed = (uint64_t)info->line;
    return world_agree(comm, true);
}

/* --- what the program calls ------------------------------------------------------------------- */

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must(state_register(&job.state, name, data, bytes, &error), &error);
}

/* Line 0 is the start of the program, in a job that is begun again its newest line. */
EXPORTED int protocol_restore(void)
{
    struct error error;
    const struct newcomer_info *info = world_came();
    job.first = world_memory((size_t)state_data_bytes(&job.state));
    state_copy(&job.state, job.first);
    must(line_store_open(&job.store, world_protocol, here.rank, here.ranks, &error), &error);
    must(line_newest(&job.store, &job.committed, &error), &error);
    if (info != NULL && !resume(here.comm, info))
        world_leave();
    if (info != NULL || job.committed != LINE_NONE)
        go_back();
    return (int)job.committed;
}

EXPORTED int protocol_potential_checkpoint(void)
{
    uint64_t number = job.committed + 1;
    if (!here.broken)
        save(number);
    bool well = world_agree(here.comm, !here.broken);
    if (!well)
        faultline_given_up(number, "a rank has died");
    else if (commit(number))
        return (int)number;
    world_repair((int)job.committed, resume);
    go_back();
    return 0;
}

/* All have done their work, or it is done again from the last transaction, which is its end. */
EXPORTED int MPI_Finalize(void)
{
    while (!world_agree(here.comm, true))
        world_repair((int)job.committed, resume);
    return PMPI_Finalize();
}
