/* Rank 0 begins a send of 4 MiB, frees its request and comes to MPI_Finalize; rank 1 receives it,
 * for which the plan has it wait for that. Nobody dies. Needs 2 ranks. */
#include "mpi/expect.h"

#include <mpi.h>
#include <stdlib.h>

#define NUMBERS (1 << 20)

int main(int argc, char **argv)
{
    int rank, *numbers = calloc(NUMBERS, sizeof *numbers);
    MPI_Request request;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (rank == 0) {
        numbers[NUMBERS - 1] = 7;
        MPI_Isend(numbers, NUMBERS, MPI_INT, 1, 0, MPI_COMM_WORLD, &request);
        MPI_Request_free(&request);
    } else {
        MPI_Recv(numbers, NUMBERS, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(numbers[NUMBERS - 1] == 7);
    }
    MPI_Finalize();
    free(numbers);
    return expect_end("lives_late_receiver", rank);
}
