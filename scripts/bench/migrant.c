/* A program whose state is as large as it is told to be, for the time that a migration takes. The
 * last rank has the state and passes by potential checkpoints; rank 0 waits for it in a receive.
 * Usage: migrant BYTES. Must not know: any protocol. */
#include "checkpoint.h"
#include "program.h"

#define STEPS 3
#define TAG 1
#define STRIDE 4096 /* bytes; a page is there when one byte of it was written */

struct migrant {
    uint64_t step;
    char *data; /* bytes */
    size_t bytes;
    uint64_t touched; /* is the data there */
};

/* Pages that were never written would travel as one page of zeros. */
static void touch(struct migrant *migrant)
{
    for (size_t i = 0; i < migrant->bytes; i += STRIDE)
        migrant->data[i] = (char)(i / STRIDE + 1);
    migrant->touched = 1;
}

static uint64_t wrong(const struct migrant *migrant)
{
    uint64_t count = 0;
    for (size_t i = 0; i < migrant->bytes; i += STRIDE)
        count += migrant->data[i] != (char)(i / STRIDE + 1);
    return count;
}

/* Rank 0 asks for the line at its potential checkpoint, and answers after it: rank 1 has passed
 * its own by then and waits, so that it is told of the line in a call, not while its state is
 * copied. */
static void exchange(const struct migrant *migrant, int rank)
{
    uint64_t token = migrant->step;
    int other = 1 - rank;
    if (rank == 1 || token > 0)
        MPI_Send(&token, 1, MPI_UINT64_T, other, TAG, MPI_COMM_WORLD);
    if (rank == 1 || token < STEPS)
        MPI_Recv(&token, 1, MPI_UINT64_T, other, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static int run(struct migrant *migrant, int rank)
{
    checkpoint_register("step", &migrant->step, sizeof migrant->step);
    checkpoint_register("touched", &migrant->touched, sizeof migrant->touched);
    checkpoint_register("data", migrant->data, migrant->bytes);
    checkpoint_restore();
    if (rank == 1 && !migrant->touched)
        touch(migrant);
    while (migrant->step < STEPS) {
        exchange(migrant, rank);
        migrant->step++;
        potential_checkpoint();
    }
    if (rank == 0)
        exchange(migrant, rank);
    if (rank == 1 && wrong(migrant) > 0)
        fprintf(stderr, "migrant: %llu pages are not what they were\n",
                (unsigned long long)wrong(migrant));
    return rank == 1 && wrong(migrant) > 0;
}

int main(int argc, char **argv)
{
    int rank, ranks, status = PROGRAM_EXIT_USAGE;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    long long bytes = argc == 2 ? atoll(argv[1]) : 0;
    if (bytes > 0 && ranks == 2) {
        struct migrant migrant = {.bytes = rank == 1 ? (size_t)bytes : 1};
        migrant.data = program_memory(migrant.bytes, 1);
        status = run(&migrant, rank);
        free(migrant.data);
    } else if (rank == 0) {
        fprintf(stderr, "usage: migrant BYTES, on 2 ranks\n");
    }
    MPI_Finalize();
    return status;
}
