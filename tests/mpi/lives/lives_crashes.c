/* Whatever process is rank 1 crashes. For protocols that put another process in its place. */
#include <mpi.h>
#include <stddef.h>

int main(int argc, char **argv)
{
    volatile int *volatile nowhere = NULL;
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 1)
        *nowhere = 1;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
}
