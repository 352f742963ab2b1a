/* Sums, step by step, by all ranks that are left: as most would write it with ULFM. Each sum may
 * fail because a rank has died; who sees that revokes the communicator, so that the sums of the
 * others fail as well. All that are left shrink it, and go on from the earliest step that one of
 * them is in. It hangs now and then; with -DMENDED it does not. */
#include "faultline.h"

#include <mpi.h>
#include <stdio.h>

#ifndef MPIX_ERR_PROC_FAILED
#include <mpi-ext.h> /* Open MPI has the functions MPIX_Comm_... there */
#endif

enum { STEPS = 20 };

static MPI_Comm comm;
static int step;
static double totals[STEPS + 1];

/* Does all steps from the earliest one that a rank is in. Returns the first error, or MPI_SUCCESS.
 */
static int do_steps(void)
{
    int rank, earliest, error = MPI_Allreduce(&step, &earliest, 1, MPI_INT, MPI_MIN, comm);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (error == MPI_SUCCESS)
        step = earliest;
    while (error == MPI_SUCCESS && step < STEPS) {
        double mine = 1.0 / (rank + step + 1), sum = 0;
        error = MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm);
        if (error == MPI_SUCCESS) {
            totals[step + 1] = totals[step] + sum;
            step++;
        }
    }
    return error;
}

static int have_all_done(int error)
{
    int done = error == MPI_SUCCESS;
#ifdef MENDED
    /* Whoever has seen no error has to stay until all others say the same. The agreement itself
     * raises an error at all of them while one is dead whom they have not gone on without. */
    if (!done)
        MPIX_Comm_revoke(comm);
    if (MPIX_Comm_agree(comm, &done) != MPI_SUCCESS)
        done = 0;
#endif
    return done;
}

static void repair(void)
{
    MPI_Comm smaller;
    MPIX_Comm_revoke(comm);
    MPIX_Comm_shrink(comm, &smaller);
    MPI_Comm_set_errhandler(smaller, MPI_ERRORS_RETURN);
    MPI_Comm_free(&comm);
    comm = smaller;
}

/* For Faultline: the job is whole without the ranks that have died. */
static void tell_who_is_missing(void)
{
    int size;
    MPI_Group all, left;
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_group(MPI_COMM_WORLD, &all);
    MPI_Comm_group(comm, &left);
    for (int rank = 0; rank < size; rank++) {
        int place;
        MPI_Group_translate_ranks(all, 1, &rank, left, &place);
        if (place == MPI_UNDEFINED)
            faultline_without((uint64_t)rank);
    }
    MPI_Group_free(&all);
    MPI_Group_free(&left);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    while (!have_all_done(do_steps()))
        repair();
    printf("%.6f\n", totals[STEPS]);
    tell_who_is_missing();
    MPI_Finalize();
    return 0;
}
