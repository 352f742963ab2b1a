/* A program that knows nothing of protocols: numbers go round, and are added up. */
#include <faultline.h>

#include <mpi.h>

int main(int argc, char **argv)
{
    int rank, size;
    long mine, theirs, all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    mine = rank + 1;
    for (int i = 0; i < 3; i++) {
        MPI_Sendrecv(&mine, 1, MPI_LONG, (rank + 1) % size, 5, &theirs, 1, MPI_LONG,
                     (rank + size - 1) % size, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Allreduce(&theirs, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
        mine = all + theirs;
    }
    faultline_result("mine", &mine, sizeof mine);
    MPI_Finalize();
    return 0;
}
