/* Rank 0 begins a send of 4 MiB, frees its request, makes the file that the argument names, and
 * comes to MPI_Finalize. Rank 1 receives the message when there is such a file. Nobody dies. Needs
 * 2 ranks. */
#include "mpi/expect.h"

#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

#define NUMBERS (1 << 20)
#define PAUSE_US 10000

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
        FILE *file = fopen(argv[1], "w");
        expect(file != NULL && fclose(file) == 0);
    } else {
        while (access(argv[1], F_OK) != 0)
            usleep(PAUSE_US);
        MPI_Recv(numbers, NUMBERS, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect(numbers[NUMBERS - 1] == 7);
    }
    MPI_Finalize();
    free(numbers);
    return expect_end("lives_late_receiver", rank);
}
