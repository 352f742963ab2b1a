/* On the step engine all clocks of a rank show the engine's time: MPI_Wtime, PMPI_Wtime and libc's
 * monotonic clock. */
#include <mpi.h>

#include <time.h>

#include "mpi/expect.h"

static double monotonic(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    double before = monotonic();
    double upper = MPI_Wtime();
    double lower = PMPI_Wtime();
    double after = monotonic();
    expect(before <= upper && upper <= lower && lower <= after);
    MPI_Finalize();
    return expect_end("engine_clocks", rank);
}
