/* What a program does under the test protocol (tests/taps/protocol.c): two messages on a duplicate
 * of the world, a barrier, a broadcast that the protocol does not touch. For 2 ranks. */
#include <mpi.h>

#include "mpi/expect.h"

int main(int argc, char **argv)
{
    int rank, data[3] = {1, 2, 3}, in[5] = {0}, all = 0;
    MPI_Comm comm;
    MPI_Status status;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    if (rank == 0)
        MPI_Send(data, 3, MPI_INT, 1, 5, comm);
    else
        MPI_Recv(in, 5, MPI_INT, 0, 5, comm, &status);
    expect(rank == 0 || (in[2] == 3 && status.MPI_TAG == 5));
    if (rank == 1)
        MPI_Send(data, 2, MPI_INT, 0, 6, MPI_COMM_WORLD);
    else
        MPI_Recv(in, 5, MPI_INT, MPI_ANY_SOURCE, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Barrier(comm);
    all = rank == 0 ? 9 : 0;
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    expect(all == 9);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return expect_end("between", rank);
}
