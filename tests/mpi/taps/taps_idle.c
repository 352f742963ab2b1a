/* Asks for a message that does not come, a thousand times, and says how often the MPI library or
 * what is loaded into it gave the processor to others meanwhile. */
#include <mpi.h>
#include <stdio.h>
#include <sys/syscall.h>
#include <unistd.h>

#define TIMES 1000

static unsigned yields;

/* Stands before libc's. */
int sched_yield(void);
int sched_yield(void)
{
    yields++;
    return (int)syscall(SYS_sched_yield);
}

int main(int argc, char **argv)
{
    int done = 0, got = 0, sent = 7;
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Irecv(&got, 1, MPI_INT, 0, 5, MPI_COMM_SELF, &request);
    unsigned before = yields;
    for (int i = 0; i < TIMES && !done; i++)
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    unsigned meanwhile = yields - before;
    MPI_Send(&sent, 1, MPI_INT, 0, 5, MPI_COMM_SELF);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    printf("asked in vain: %s, got: %d\n",
           meanwhile == 0 ? "kept the processor" : "gave the processor away", got);
    return MPI_Finalize();
}
