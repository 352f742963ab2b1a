/* Prints when it began, a line for each of its steps, and a result; for what `result = "output"` of
 * a scenario compares. After a restart it goes on after the third step. With "wrong" the result of
 * rank 1 is another one then. With "asks" it prints nothing of steps in which MPI_Test says no. */
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define STEPS 6
#define STEP_OF_RESTART 3
#define PATH_BYTES 4096

/* Whether the rank was there before. */
static bool has_lived(int rank)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/lived.%d", getenv("FAULTLINE_STORE"), rank);
    if (access(path, F_OK) == 0)
        return true;
    FILE *file = fopen(path, "w");
    if (file == NULL || fclose(file) != 0)
        exit(99);
    return false;
}

/* What MPI_Test says of a message that is there. */
static bool ask(int rank)
{
    int sent = 1, got, done;
    MPI_Request send, receive;
    MPI_Isend(&sent, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &send);
    MPI_Probe(rank, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Irecv(&got, 1, MPI_INT, rank, 0, MPI_COMM_WORLD, &receive);
    MPI_Test(&receive, &done, MPI_STATUS_IGNORE);
    if (!done)
        MPI_Wait(&receive, MPI_STATUS_IGNORE);
    MPI_Wait(&send, MPI_STATUS_IGNORE);
    return done;
}

int main(int argc, char **argv)
{
    int rank;
    bool wrong = argc > 1 && strcmp(argv[1], "wrong") == 0;
    bool asks = argc > 1 && strcmp(argv[1], "asks") == 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    bool restarted = has_lived(rank);
    printf("process %d begins\n", (int)getpid());
    MPI_Barrier(MPI_COMM_WORLD);
    for (int step = restarted ? STEP_OF_RESTART : 0; step < STEPS; step++) {
        MPI_Barrier(MPI_COMM_WORLD);
        if (!asks || ask(rank))
            printf("step %d\n", step);
    }
    printf("rank %d has %d\n", rank, restarted && wrong && rank == 1 ? 41 : 42);
    MPI_Finalize();
    return 0;
}
