/* Rank 1 asks many times for what nobody sends before each of its messages to rank 0: in all more
 * often than a job may poll in vain. Two ranks. */
#include <mpi.h>

#define MESSAGES 3
#define POLLS 20000

int main(int argc, char **argv)
{
    int rank, word = 0, flag;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int message = 0; message < MESSAGES; message++) {
        for (int poll = 0; rank == 1 && poll < POLLS; poll++)
            MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
        if (rank == 1)
            MPI_Send(&word, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
        else
            MPI_Recv(&word, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    MPI_Finalize();
    return 0;
}
