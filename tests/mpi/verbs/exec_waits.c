/* Jobs that `exec` must not take for deadlocked, though every rank which it sees waits, or they are
 * slow. The first argument says which:
 *
 *   slow N   the other rank waits for rank N, which takes its time
 *   stopped  the ranks wait for each other, but rank 1 is stopped; rank 0 is killed after a while
 */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAG 7
#define LONG_US 1500000 /* many looks of `exec` */

static int receive(int source, MPI_Comm comm)
{
    int number = 0;
    MPI_Recv(&number, 1, MPI_INT, source, TAG, comm, MPI_STATUS_IGNORE);
    return number;
}

static void send_late(int destination, MPI_Comm comm)
{
    int number = 42;
    usleep(LONG_US);
    MPI_Send(&number, 1, MPI_INT, destination, TAG, comm);
}

static void stop(int rank)
{
    int pid = (int)getpid();
    MPI_Bcast(&pid, 1, MPI_INT, 1, MPI_COMM_WORLD);
    if (rank == 0) {
        int self = (int)getpid();
        usleep(LONG_US / 5); /* rank 1 waits by then */
        kill(pid, SIGSTOP);
        if (fork() == 0) {
            usleep(LONG_US);
            kill(self, SIGKILL);
            _exit(0);
        }
    }
    receive(1 - rank, MPI_COMM_WORLD);
}

int main(int argc, char **argv)
{
    int rank;
    const char *how = argc > 1 ? argv[1] : "";
    int late = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (strcmp(how, "stopped") == 0)
        stop(rank);
    else if (rank == late)
        send_late(1 - rank, MPI_COMM_WORLD);
    else
        printf("rank %d got %d\n", rank, receive(late, MPI_COMM_WORLD));
    MPI_Finalize();
    return 0;
}
