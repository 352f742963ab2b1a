/* Three ranks add numbers with an operation that takes real time, which virtual time does not see:
 * the first argument, in ms, the first time. Rank 0 has sent to rank 2 before, and rank 2 receives
 * it afterwards.
 */
#include "faultline.h"

#include <mpi.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define NS_PER_MS 1000000L
#define MS_PER_S 1000

static long wait_ms;

/* By the system call: libc's function sleeps in virtual time. */
static void add(void *in, void *inout, int *count, MPI_Datatype *type)
{
    (void)type;
    struct timespec time = {wait_ms / MS_PER_S, wait_ms % MS_PER_S * NS_PER_MS};
    syscall(SYS_nanosleep, &time, NULL);
    wait_ms = 0;
    for (int i = 0; i < *count; i++)
        ((int *)inout)[i] += ((int *)in)[i];
}

int main(int argc, char **argv)
{
    int rank, total = 0, number = 0;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    wait_ms = argc > 1 ? atol(argv[1]) : 0;
    MPI_Op_create(add, 1, &op);
    if (rank == 0)
        MPI_Send(&rank, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&rank, &total, 1, MPI_INT, op, MPI_COMM_WORLD);
    if (rank == 2)
        MPI_Recv(&number, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    total += number;
    faultline_result("total", &total, sizeof total);
    MPI_Op_free(&op);
    MPI_Finalize();
    return EXIT_SUCCESS;
}
