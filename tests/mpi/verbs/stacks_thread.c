/* Both ranks wait for each other for ever, and each has a thread that sleeps outside of MPI. */
#include <mpi.h>
#include <pthread.h>
#include <stddef.h>
#include <unistd.h>

static void *sleep_on(void *nothing)
{
    for (;;)
        pause();
    return nothing;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int rank, got;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (pthread_create(&thread, NULL, sleep_on, NULL) != 0)
        return 99;
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}
