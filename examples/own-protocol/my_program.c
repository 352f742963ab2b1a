/* A program to test a protocol with: every rank adds what its left neighbour has to what it has
 * itself, over and over. It knows no protocol: it registers its state, asks for it back once, and
 * says where a checkpoint may be taken. */
#include "checkpoint.h"
#include "faultline.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>

#define STEPS 30

int main(int argc, char **argv)
{
    int rank, ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);

    uint64_t step = 0, mine = (uint64_t)rank + 1, theirs;
    checkpoint_register("step", &step, sizeof step);
    checkpoint_register("mine", &mine, sizeof mine);
    checkpoint_restore();

    while (step < STEPS) {
        MPI_Sendrecv(&mine, 1, MPI_UINT64_T, (rank + 1) % ranks, 0, &theirs, 1, MPI_UINT64_T,
                     (rank + ranks - 1) % ranks, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine = mine * 3 + theirs;
        step++;
        potential_checkpoint();
    }

    faultline_result("mine", &mine, sizeof mine);
    printf("rank %d: %llu\n", rank, (unsigned long long)mine);
    MPI_Finalize();
    return 0;
}
