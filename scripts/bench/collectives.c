/* How long collective calls take with a protocol and without [C3, figures 9 to 12], in one process:
 * MPI_X is the protocol's where one is preloaded, PMPI_X is the library's. Rounds of both by turns;
 * of each the least time of a round is kept, for what else the machine does only adds. Prints a
 * line a size: bytes, microseconds per call of the library, of the protocol. Usage: collectives
 * bcast|gather|allgather|barrier [ROUNDS] */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SMALLEST 4
#define LARGEST (4 << 20)
#define STEP 4 /* from one size to the next */
#define ROUNDS_DEFAULT 30
#define ROUND_BYTES (1 << 22) /* of all calls of a round together, about */
#define CALLS_MOST 300
#define CALLS_LEAST 3

enum { LIBRARY, PROTOCOL, SIDES };

static char *mine, *all;
static int ranks, rank;

/* The root goes round, so that nobody is far ahead of the others. */
static void broadcast(int side, int bytes, int turn)
{
    int root = turn % ranks;
    if (side == LIBRARY)
        PMPI_Bcast(mine, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    else
        MPI_Bcast(mine, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void gather(int side, int bytes, int turn)
{
    int root = turn % ranks;
    if (side == LIBRARY)
        PMPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
    else
        MPI_Gather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, root, MPI_COMM_WORLD);
}

static void allgather(int side, int bytes, int turn)
{
    (void)turn;
    if (side == LIBRARY)
        PMPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
    else
        MPI_Allgather(mine, bytes, MPI_BYTE, all, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static void barrier(int side, int bytes, int turn)
{
    (void)bytes;
    (void)turn;
    if (side == LIBRARY)
        PMPI_Barrier(MPI_COMM_WORLD);
    else
        MPI_Barrier(MPI_COMM_WORLD);
}

typedef void a_call(int side, int bytes, int turn);

static a_call *call_of(const char *name)
{
    static const struct {
        const char *name;
        a_call *call;
    } calls[] = {
        {"bcast", broadcast}, {"gather", gather}, {"allgather", allgather}, {"barrier", barrier}};
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strcmp(calls[i].name, name) == 0)
            return calls[i].call;
    return NULL;
}

static int calls_of_round(int bytes)
{
    int calls = ROUND_BYTES / (bytes + 1);
    return calls < CALLS_LEAST ? CALLS_LEAST : calls > CALLS_MOST ? CALLS_MOST : calls;
}

/* Seconds per call, as the slowest rank has them. */
static double one_round(a_call *call, int side, int bytes)
{
    int calls = calls_of_round(bytes);
    double slowest, took;
    PMPI_Barrier(MPI_COMM_WORLD);
    double start = MPI_Wtime();
    for (int turn = 0; turn < calls; turn++)
        call(side, bytes, turn);
    took = (MPI_Wtime() - start) / calls;
    PMPI_Allreduce(&took, &slowest, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    return slowest;
}

static void measure(a_call *call, int bytes, int rounds)
{
    double least[SIDES] = {1e9, 1e9};
    for (int round = -1; round < rounds; round++) /* the first warms up */
        for (int side = 0; side < SIDES; side++) {
            double took = one_round(call, side, bytes);
            if (round >= 0 && took < least[side])
                least[side] = took;
        }
    if (rank == 0)
        printf("%d %.3f %.3f\n", bytes, 1e6 * least[LIBRARY], 1e6 * least[PROTOCOL]);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    a_call *call = argc > 1 ? call_of(argv[1]) : NULL;
    int rounds = argc > 2 ? atoi(argv[2]) : ROUNDS_DEFAULT;
    if (!call || rounds < 1) {
        fprintf(stderr, "usage: collectives bcast|gather|allgather|barrier [ROUNDS]\n");
        MPI_Abort(MPI_COMM_WORLD, 64);
    }
    mine = calloc(LARGEST, 1);
    all = calloc((size_t)ranks, LARGEST);
    if (!mine || !all)
        MPI_Abort(MPI_COMM_WORLD, 1);
    if (call == barrier)
        measure(call, 0, rounds);
    else
        for (int bytes = SMALLEST; bytes <= LARGEST; bytes *= STEP)
            measure(call, bytes, rounds);
    free(mine);
    free(all);
    MPI_Finalize();
    return 0;
}
