/* The end of a job in which a rank has died: the others agree on a line, save it, and leave. */
#include "checkpoint_on_failure.h"

#include "faultline.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

/* Those of `before` that live. Returns how many ranks of the job do not. */
static int shrink(MPI_Comm before, MPI_Comm *alive)
{
    int size;
    if (PMPIX_Comm_shrink(before, alive) != MPI_SUCCESS)
        job_give_up("MPIX_Comm_shrink failed");
    PMPI_Comm_size(*alive, &size);
    return job.ranks - size;
}

bool job_all_well(MPI_Comm comm, bool well)
{
    int flag = well;
    if (!well)
        PMPIX_Comm_revoke(comm); /* others may wait for what comes from here */
    return PMPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag != 0;
}

/* The line's own as a state: what the program has registered may be gone when it has done its work.
 */
static struct state as_state(const struct line *line)
{
    struct state state = job.state;
    char *at = (char *)line->own;
    for (size_t i = 0; i < state.count; i++) {
        state.piece[i].data = at;
        at += state.piece[i].as_stored.bytes;
    }
    return state;
}

/* Of two lines that follow each other each rank has the older one. */
static void save(uint64_t number)
{
    const struct line *line = job.newest.number == number ? &job.newest : &job.before;
    struct state state = as_state(line);
    struct error error;
    if (line_save_with(&job.store, number, &state, line->sum,
                       (uint64_t)job.words * sizeof *line->sum, &error) != OK)
        job_give_up(error.text);
    faultline_saved(number);
}

/* False: somebody else has died meanwhile. *line: what all have saved; LINE_NONE: there was nothing
 * to save. */
static bool save_together(MPI_Comm alive, uint64_t *line)
{
    bool well =
        PMPI_Allreduce(&job.newest.number, line, 1, MPI_UINT64_T, MPI_MIN, alive) == MPI_SUCCESS;
    if (well && *line != LINE_NONE)
        save(*line);
    return job_all_well(alive, well);
}

/* From here on it does not matter who dies, as long as somebody lives. */
static void commit(MPI_Comm alive, uint64_t line)
{
    for (bool done = false; !done;) {
        struct error error;
        int place;
        PMPI_Comm_rank(alive, &place);
        if (place == 0 && line_commit(&job.store, line, &error) != OK)
            job_give_up(error.text);
        if (place == 0)
            faultline_commit(line);
        done = job_all_well(alive, true);
        if (!done)
            shrink(alive, &alive);
    }
}

static void save_nothing(const char *why)
{
    fprintf(stderr, PROTOCOL ": rank %d: %s: back to what was saved before\n", job.rank, why);
    faultline_given_up(job.newest.number, why);
}

_Noreturn void job_failed(void)
{
    job_all_well(MPI_COMM_WORLD, false); /* those who have done their work ask */
    job_leave();
}

_Noreturn void job_leave(void)
{
    MPI_Comm before = MPI_COMM_WORLD, alive;
    uint64_t line = LINE_NONE;
    int lost = shrink(before, &alive);
    faultline_phase(PROTOCOL ":shrunk");
    if (lost == 0)
        job_give_up("a call has failed, and nobody has died");
    while (lost == 1 && !save_together(alive, &line)) {
        before = alive;
        lost = shrink(before, &alive);
    }
    if (lost > 1)
        save_nothing("more than one rank has died");
    else if (line == LINE_NONE)
        save_nothing("there is no line yet that all have come to");
    else
        commit(alive, line);
    PMPI_Finalize();
    exit(STATUS_LEFT);
}
