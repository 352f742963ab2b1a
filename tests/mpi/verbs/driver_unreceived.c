/* A program that by design leaves two messages unreceived; with and without faults the same two.
 * With an argument, on a communicator of its own. */
#include <mpi.h>

#define TAG_USED 7
#define TAG_LEFT 9

int main(int argc, char **argv)
{
    int rank, number = 0;
    MPI_Comm left;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &left);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < 5; i++) {
        if (rank == 0)
            MPI_Send(&i, 1, MPI_INT, 1, TAG_USED, MPI_COMM_WORLD);
        else if (rank == 1)
            MPI_Recv(&number, 1, MPI_INT, 0, TAG_USED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        if (rank == 0 && i > 2)
            MPI_Send(&i, 1, MPI_INT, 1, TAG_LEFT, argc > 1 ? left : MPI_COMM_WORLD);
    }
    MPI_Comm_free(&left);
    MPI_Finalize();
    return 0;
}
