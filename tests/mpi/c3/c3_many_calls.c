/* Makes and frees many persistent collective calls, one after the other: more than there can be
 * communicators at once, of which each has one of its own. Two ranks. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define CALLS 2500 /* MPICH has 2048 communicators at most */

int main(int argc, char **argv)
{
    int rank, wrong = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    checkpoint_restore();
    for (int i = 0; i < CALLS; i++) {
        MPI_Request call;
        int number = rank == 0 ? i : -1;
        MPI_Bcast_init(&number, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &call);
        MPI_Start(&call);
        MPI_Wait(&call, MPI_STATUS_IGNORE);
        MPI_Request_free(&call);
        wrong += number != i;
        potential_checkpoint();
    }
    if (rank == 0)
        printf("many calls: %d wrong\n", wrong);
    MPI_Finalize();
    return wrong;
}
