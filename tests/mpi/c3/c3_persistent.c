/* Persistent collective requests, kept over checkpoints: some made ahead of checkpoint_restore,
 * some after it and in the registered state; with a datatype and an operation of the program's
 * own; one is freed and made again now and then. With an argument, odd ranks start them the other
 * way round, as MPI allows. Every number is checked. For C3. */
#include "checkpoint.h"
#include "faultline.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITERATIONS 24
#define ANEW_EVERY 5
#define RANKS_MAX 16
#define NUMBERS 3 /* every second one of twice as many */

enum { EARLY, SPREAD, SUM, PIECES, BARRIER, CALLS };

/* What comes back after a restart. */
static struct {
    int32_t iteration;
    uint64_t checksum; /* of all that came */
    MPI_Request request[CALLS];
    uint64_t spread[2 * NUMBERS];
    uint64_t own, sum;
    uint64_t part[RANKS_MAX], pieces[RANKS_MAX];
} kept;

static int rank, ranks, turned;
static uint64_t early; /* not registered: its request is made again by the program */
static MPI_Datatype every_second;
static MPI_Op larger_of;

static uint64_t number(int of, int call)
{
    return (uint64_t)kept.iteration * 1000 + (uint64_t)of * 10 + (uint64_t)call;
}

static void expect(uint64_t got, uint64_t wanted, const char *what)
{
    if (got != wanted) {
        fprintf(stderr, "c3_persistent: rank %d, iteration %d: %s is %llu, not %llu\n", rank,
                kept.iteration, what, (unsigned long long)got, (unsigned long long)wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    kept.checksum = kept.checksum * 31 + got;
}

static void take_larger(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        if (((uint64_t *)in)[i] > ((uint64_t *)inout)[i])
            ((uint64_t *)inout)[i] = ((uint64_t *)in)[i];
}

static void make_pieces(void)
{
    static int counts[RANKS_MAX], offsets[RANKS_MAX];
    for (int i = 0; i < ranks; i++) {
        counts[i] = 1;
        offsets[i] = ranks - 1 - i;
    }
    MPI_Alltoallv_init(kept.part, counts, offsets, MPI_UINT64_T, kept.pieces, counts, offsets,
                       MPI_UINT64_T, MPI_COMM_WORLD, MPI_INFO_NULL, &kept.request[PIECES]);
}

/* The type is gone before the request is started. */
static void make_all(void)
{
    MPI_Bcast_init(kept.spread, NUMBERS, every_second, ranks - 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                   &kept.request[SPREAD]);
    MPI_Type_free(&every_second);
    MPI_Allreduce_init(&kept.own, &kept.sum, 1, MPI_UINT64_T, larger_of, MPI_COMM_WORLD,
                       MPI_INFO_NULL, &kept.request[SUM]);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &kept.request[BARRIER]);
    make_pieces();
}

static void fill(void)
{
    early = rank == 0 ? number(0, EARLY) : 0;
    kept.own = number(rank, SUM);
    for (int i = 0; i < 2 * NUMBERS; i++)
        kept.spread[i] = rank == ranks - 1 && i % 2 == 0 ? number(i, SPREAD) : 0;
    for (int i = 0; i < ranks; i++)
        kept.part[ranks - 1 - i] = number(i * ranks + rank, PIECES);
}

static void start(void)
{
    MPI_Request order[CALLS];
    for (int i = 0; i < CALLS; i++)
        order[i] = kept.request[turned ? CALLS - 1 - i : i];
    MPI_Start(&order[0]);
    MPI_Startall(CALLS - 1, order + 1);
}

static void iterate(void)
{
    fill();
    start();
    MPI_Waitall(CALLS, kept.request, MPI_STATUSES_IGNORE);
    expect(early, number(0, EARLY), "the number from rank 0");
    expect(kept.sum, number(ranks - 1, SUM), "the largest number");
    for (int i = 0; i < 2 * NUMBERS; i++)
        expect(kept.spread[i], i % 2 ? 0 : number(i, SPREAD), "a number from the last rank");
    for (int i = 0; i < ranks; i++)
        expect(kept.pieces[ranks - 1 - i], number(rank * ranks + i, PIECES), "a piece");
    if (kept.iteration % ANEW_EVERY == ANEW_EVERY - 1) {
        MPI_Request_free(&kept.request[PIECES]);
        make_pieces();
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    turned = argc > 1 && rank % 2;
    MPI_Type_create_resized(MPI_UINT64_T, 0, 2 * sizeof(uint64_t), &every_second);
    MPI_Type_commit(&every_second);
    MPI_Op_create(take_larger, 1, &larger_of);
    MPI_Bcast_init(&early, 1, MPI_UINT64_T, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &kept.request[EARLY]);
    checkpoint_register("kept", &kept, sizeof kept);
    if (checkpoint_restore() == 0)
        make_all();
    for (; kept.iteration < ITERATIONS; kept.iteration++) {
        potential_checkpoint();
        iterate();
    }
    for (int i = 0; i < CALLS; i++)
        MPI_Request_free(&kept.request[i]);
    faultline_result("checksum", &kept.checksum, sizeof kept.checksum);
    if (rank == 0)
        printf("c3_persistent: %llu\n", (unsigned long long)kept.checksum);
    MPI_Finalize();
    return 0;
}
