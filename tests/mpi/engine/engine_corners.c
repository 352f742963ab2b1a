/* Answers of MPI in corners that few programs come to, as the standard has them; on 4 ranks, under
 * mpiexec and on the step engine. */
#include "mpi/expect.h"

#include <mpi.h>
#include <stddef.h>

#define LEVELS_MOST 64

static int rank;

/* One side of an intercommunicator leaves all of its members out (MPI 4.0, section 7.4.2): nobody
 * gets one. */
static void one_side_is_empty(void)
{
    MPI_Comm half, both, made = MPI_COMM_WORLD;
    MPI_Group group;
    int side = rank / 2;
    MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, side == 0 ? 2 : 0, 1, &both);
    MPI_Comm_group(half, &group);
    MPI_Comm_create(both, side == 0 ? MPI_GROUP_EMPTY : group, &made);
    expect(made == MPI_COMM_NULL);
    MPI_Group_free(&group);
    MPI_Comm_free(&both);
    MPI_Comm_free(&half);
}

/* Each is of fewer processes than the one before, until there is none (MPI 4.0, section 7.4.2). */
static void hardware_ends(void)
{
    MPI_Comm at, next;
    int levels = 0, before, after;
    MPI_Comm_dup(MPI_COMM_WORLD, &at);
    while (at != MPI_COMM_NULL && levels++ < LEVELS_MOST) {
        MPI_Comm_split_type(at, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &next);
        if (next != MPI_COMM_NULL) {
            MPI_Comm_size(at, &before);
            MPI_Comm_size(next, &after);
            expect(after < before);
        }
        MPI_Comm_free(&at);
        at = next;
    }
    expect(at == MPI_COMM_NULL);
}

/* What was received cannot be cancelled any more. */
static void received_is_not_cancelled(void)
{
    int number = rank, cancelled = 1;
    MPI_Request request;
    MPI_Status status;
    if (rank == 1)
        MPI_Recv(&number, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Issend(&number, 1, MPI_INT, 1, 2, MPI_COMM_WORLD, &request);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank != 0)
        return;
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(!cancelled);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    one_side_is_empty();
    hardware_ends();
    received_is_not_cancelled();
    MPI_Finalize();
    return expect_end("corners", rank);
}
