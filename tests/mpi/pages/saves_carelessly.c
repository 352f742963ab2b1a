/* Ranks in a ring that save what they have in every tenth iteration, and tell rank 0. One that
 * cannot rename its file says so, and goes on without telling anybody: then the others wait for it,
 * and it for them. For the page of a deadlock that an error of storage began. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#define ITERATIONS 40
#define EVERY 10
#define PATH_BYTES 4096

enum { TAG_RING = 1, TAG_SAVED, TAG_GO_ON };

static int rank, ranks;

/* 0, or -1 with errno. */
static int save(int number, double value)
{
    char fresh[PATH_BYTES], whole[PATH_BYTES];
    const char *store = getenv("FAULTLINE_STORE");
    snprintf(fresh, sizeof fresh, "%s/Ckpt%d.rank-%d.new", store, number, rank);
    snprintf(whole, sizeof whole, "%s/Ckpt%d.rank-%d", store, number, rank);
    FILE *file = fopen(fresh, "w");
    if (file == NULL || fwrite(&value, sizeof value, 1, file) != 1 || fclose(file) != 0)
        return -1;
    return rename(fresh, whole);
}

/* All have saved. */
static void agree(void)
{
    int word = 0;
    for (int other = 1; other < ranks && rank == 0; other++)
        MPI_Recv(&word, 1, MPI_INT, other, TAG_SAVED, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int other = 1; other < ranks && rank == 0; other++)
        MPI_Send(&word, 1, MPI_INT, other, TAG_GO_ON, MPI_COMM_WORLD);
    if (rank == 0)
        return;
    MPI_Send(&word, 1, MPI_INT, 0, TAG_SAVED, MPI_COMM_WORLD);
    MPI_Recv(&word, 1, MPI_INT, 0, TAG_GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    double value = 0, from = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    for (int i = 1; i <= ITERATIONS; i++) {
        MPI_Sendrecv(&value, 1, MPI_DOUBLE, (rank + 1) % ranks, TAG_RING, &from, 1, MPI_DOUBLE,
                     (rank + ranks - 1) % ranks, TAG_RING, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        value = 0.5 * (value + from) + rank;
        if (i % EVERY != 0)
            continue;
        if (save(i / EVERY, value) == 0)
            agree();
        else
            fprintf(stderr, "rank %d: checkpoint %d is given up\n", rank, i / EVERY);
    }
    MPI_Finalize();
    return 0;
}
