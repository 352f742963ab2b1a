/* Workers that write a file and then send to rank 0, which looks again and again whether something
 * has come. One that cannot write sends nothing: then rank 0 looks for ever. For the page of an
 * endless loop. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define MESSAGES 5
#define PATH_BYTES 4096

enum { TAG_WORK = 1, TAG_END };

static int could_write(int rank)
{
    char path[PATH_BYTES];
    snprintf(path, sizeof path, "%s/input.%d", getenv("FAULTLINE_STORE"), rank);
    FILE *file = fopen(path, "w");
    int written = file != NULL && fwrite(&rank, sizeof rank, 1, file) == 1;
    return file != NULL && fclose(file) == 0 && written;
}

static void work(int rank)
{
    int word = rank;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Send(&word, 1, MPI_INT, 0, TAG_WORK, MPI_COMM_WORLD);
}

static void collect(int count)
{
    int word, there;
    while (count > 0) {
        MPI_Iprobe(MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD, &there, MPI_STATUS_IGNORE);
        if (!there)
            continue;
        MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG_WORK, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        count--;
    }
}

int main(int argc, char **argv)
{
    int rank, ranks, word = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (rank == 0)
        collect(MESSAGES * (ranks - 1));
    else if (could_write(rank))
        work(rank);
    for (int other = 1; other < ranks && rank == 0; other++)
        MPI_Send(&word, 1, MPI_INT, other, TAG_END, MPI_COMM_WORLD);
    if (rank != 0)
        MPI_Recv(&word, 1, MPI_INT, 0, TAG_END, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Finalize();
    return 0;
}
