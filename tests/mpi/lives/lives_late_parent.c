/* Rank 1 stops its parent process, which kills rank 1 when the plan says so, before MPI_Init; some
 * seconds later the parent goes on. Under MPICH's mpiexec, which says the rank in PMI_RANK. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECONDS_LATE 3

static void stop_parent(void)
{
    pid_t parent = getppid();
    kill(parent, SIGSTOP);
    if (fork() == 0) {
        sleep(SECONDS_LATE);
        kill(parent, SIGCONT);
        _exit(0);
    }
}

int main(int argc, char **argv)
{
    const char *rank = getenv("PMI_RANK");
    if (rank != NULL && strcmp(rank, "1") == 0)
        stop_parent();
    MPI_Init(&argc, &argv);
    printf("lives_late_parent: rank %s is through MPI_Init\n", rank);
    fflush(stdout);
    MPI_Finalize();
}
