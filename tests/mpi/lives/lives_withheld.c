/* Rank 0 dies by the plan, and the plan tells process 1, in reserve, of it late. Until then the job
 * is not over for process 1, though rank 0 is all that it could wait for. Needs 2 processes, and
 * survivors. */
#include "faultline.h"
#include "faultline_lives.h"
#include "mpi/expect.h"

#include <mpi.h>

int main(int argc, char **argv)
{
    int process, dead = -1;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &process);
    while (process == 0)
        MPI_Barrier(MPI_COMM_SELF);
    faultline_becomes(FAULTLINE_NO_RANK);
    expect(faultline_await_death(0) == 1);
    expect(faultline_deaths(&dead, 1) == 1 && dead == 0);
    MPI_Finalize();
    return expect_end("lives_withheld", process);
}
