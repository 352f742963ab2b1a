/* Rank 0 sends a message, which the plan keeps for a while, and asks over and over who has died;
 * rank 1 dies by the plan when it has the message. Needs 2 ranks, and survivors. */
#include "faultline.h"
#include "faultline_lives.h"
#include "mpi/expect.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Recv(NULL, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (rank == 1)
        MPI_Barrier(MPI_COMM_SELF);
    MPI_Send(NULL, 0, MPI_INT, 1, 0, MPI_COMM_WORLD);
    while (faultline_deaths(NULL, 0) == 0)
        ;
    faultline_without(1);
    MPI_Finalize();
    return expect_end("lives_polls", rank);
}
