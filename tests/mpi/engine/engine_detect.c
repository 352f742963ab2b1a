/* Rank 1 waits for what never comes, and is killed. Rank 0 sends to it until a send fails, at most
 * MOST times. Needs 2 ranks, and survivors. */
#include "faultline.h"

#include <mpi.h>

#define MOST 1000

int main(int argc, char **argv)
{
    int rank, got, class, result = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MOST && result == MPI_SUCCESS; i++)
        result = MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    faultline_without(1);
    MPI_Error_class(result, &class);
    MPI_Finalize();
    return class == MPIX_ERR_PROC_FAILED ? 0 : 1;
}
