/* Rank 1 is killed while it waits. Rank 0 receives from it, and takes the error code for its class:
 * with MPICH these are two numbers, and so it waits for what never comes. Needs 3 ranks, and
 * survivors. */
#include "faultline.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, got = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank != 0)
        MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    else if (MPI_Recv(&got, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
             MPIX_ERR_PROC_FAILED)
        MPI_Send(&got, 1, MPI_INT, 2, 1, MPI_COMM_WORLD);
    else
        MPI_Recv(&got, 1, MPI_INT, 2, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    faultline_without(1);
    MPI_Finalize();
    return 0;
}
