/* Blocking coordinated checkpointing [CL, slides 16 and 17]: a global snapshot at a barrier. A
 * layer over PMPI that restarts the whole job from the newest committed line. README.md says what
 * it assumes: above all, no message in flight across a barrier that all ranks enter at a potential
 * checkpoint. Must not know: what the program computes.
 *
 * A line is taken in five steps, and a crash between any two leaves a line to recover from:
 * all meet; each saves its state; rank 0 learns that all have; rank 0 commits; all meet again, and
 * only then remove the line before. */
#include "checkpoint.h"
#include "common/base/lines.h"
#include "common/base/state.h"
#include "common/job/job.h"
#include "faultline.h"

#include <inttypes.h>
#include <mpi.h>

#define INITIATOR 0
#define EVERY_DEFAULT 10 /* potential checkpoints per line */
#define EVERY_MAX 1000000

static struct {
    MPI_Comm comm; /* the protocol's own: MPI_COMM_NULL outside Init and Finalize */
    int rank;
    struct line_store store;
    struct state state;
    unsigned every;  /* potential checkpoints per line */
    unsigned passed; /* potential checkpoints since the newest line */
    uint64_t line;   /* the newest line taken or restored */
} self = {.comm = MPI_COMM_NULL};

const struct protocol this_protocol = {
    .name = "blocking",
    .title = "the blocking protocol",
    .member = "rank",
    .threads = MPI_THREAD_MULTIPLE,
};

void protocol_start(void)
{
    struct error error;
    self.rank = job.process;
    self.every = (unsigned)number_setting("BLOCKING_EVERY", 1, EVERY_MAX, EVERY_DEFAULT);
    must(line_store_open(&self.store, "blocking", self.rank, job.processes, &error), &error);
    PMPI_Comm_dup(MPI_COMM_WORLD, &self.comm);
    faultline_settles(1); /* a line begins and ends inside one potential checkpoint */
    faultline_begins(self.every + 1);
}

EXPORTED int MPI_Finalize(void)
{
    if (self.comm != MPI_COMM_NULL)
        PMPI_Comm_free(&self.comm);
    return PMPI_Finalize();
}

EXPORTED void protocol_register(const char *name, void *data, size_t bytes)
{
    struct error error;
    must_be_inside(self.comm != MPI_COMM_NULL, "checkpoint_register");
    must(state_register(&self.state, name, data, bytes, &error), &error);
}

EXPORTED int protocol_restore(void)
{
    struct error error;
    must_be_inside(self.comm != MPI_COMM_NULL, "checkpoint_restore");
    line_phase(&self.store, "before-restore");
    if (self.rank == INITIATOR)
        must(line_newest(&self.store, &self.line, &error), &error);
    PMPI_Bcast(&self.line, 1, MPI_UINT64_T, INITIATOR, self.comm);
    if (self.line == LINE_NONE)
        return 0;
    line_phase(&self.store, "before-load");
    must(line_load(&self.store, self.line, &self.state, &error), &error);
    /* A crash between a commit and the removal after it left the line before. */
    line_remove(&self.store, self.line - 1);
    faultline_restored(self.line);
    return (int)self.line;
}

/* Rank 0 returns when every rank's checkpoint of this line is stable. */
static void gather_saved(void)
{
    /* The least of these is the lowest line, and what is missing from the highest to UINT64_MAX. */
    uint64_t mine[2] = {self.line, UINT64_MAX - self.line}, least[2];
    PMPI_Reduce(mine, least, 2, MPI_UINT64_T, MPI_MIN, INITIATOR, self.comm);
    uint64_t lowest = least[0], highest = UINT64_MAX - least[1];
    if (self.rank == INITIATOR && lowest != highest)
        die("ranks have saved different lines, %" PRIu64 " to %" PRIu64, lowest, highest);
}

static void save(void)
{
    struct error error;
    must(line_save(&self.store, self.line, &self.state, &error), &error);
    faultline_saved(self.line);
}

static void commit(void)
{
    struct error error;
    line_phase(&self.store, "before-commit");
    must(line_commit(&self.store, self.line, &error), &error);
    faultline_commit(self.line);
}

static void take_line(void)
{
    self.line++;
    line_phase(&self.store, "before-barrier");
    PMPI_Barrier(self.comm);
    faultline_checkpoint(self.line);
    save();
    gather_saved();
    if (self.rank == INITIATOR)
        commit();
    /* From here on every rank knows that the line is committed. */
    PMPI_Barrier(self.comm);
    line_phase(&self.store, "before-remove");
    line_remove(&self.store, self.line - 1);
    line_phase(&self.store, "after-remove");
}

EXPORTED int protocol_potential_checkpoint(void)
{
    must_be_inside(self.comm != MPI_COMM_NULL, "potential_checkpoint");
    if (++self.passed < self.every)
        return 0;
    self.passed = 0;
    take_line();
    return (int)self.line;
}
