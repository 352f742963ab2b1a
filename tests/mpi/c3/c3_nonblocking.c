/* Non-blocking collective calls, several at once and completed in another order than they were
 * begun in, with messages between: one that another rank sends only when it has completed its part,
 * so a call that does not go on by itself hangs. Every number is checked. For C3. */
#include "checkpoint.h"
#include "faultline.h"

#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define ITERATIONS 24
#define RANKS_MAX 16
#define TAG_GO_ON 3

enum { FIRST, SECOND, SUM, ROW, LOWER, CALLS };

static int rank, ranks;
static int32_t iteration;
static uint64_t checksum; /* of all that came */

static uint64_t number(int of, int call)
{
    return (uint64_t)iteration * 1000 + (uint64_t)of * 10 + (uint64_t)call;
}

static void expect(uint64_t got, uint64_t wanted, const char *what)
{
    if (got != wanted) {
        fprintf(stderr, "c3_nonblocking: rank %d, iteration %d: %s is %llu, not %llu\n", rank,
                iteration, what, (unsigned long long)got, (unsigned long long)wanted);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    checksum = checksum * 31 + got;
}

/* Rank 0 waits for the last rank before it completes anything, and that one sends only when the
 * allreduce, in which rank 0 takes part, is over. */
static void meet(MPI_Request *sum)
{
    if (rank == ranks - 1) {
        MPI_Wait(sum, MPI_STATUS_IGNORE);
        MPI_Send(&iteration, 1, MPI_INT32_T, 0, TAG_GO_ON, MPI_COMM_WORLD);
    } else if (rank == 0) {
        int32_t its;
        MPI_Recv(&its, 1, MPI_INT32_T, ranks - 1, TAG_GO_ON, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        expect((uint64_t)its, (uint64_t)iteration, "the message");
    }
}

static void iterate(void)
{
    MPI_Request request[CALLS];
    int root = iteration % ranks, other = (iteration + 1) % ranks, done;
    uint64_t first = rank == root ? number(root, FIRST) : 0, own = number(rank, SUM), sum;
    uint64_t second = rank == other ? number(other, SECOND) : 0, row[RANKS_MAX] = {0};
    uint64_t part = number(rank, ROW), below = 0, all = 0, lower = 0;
    MPI_Ibcast(&first, 1, MPI_UINT64_T, root, MPI_COMM_WORLD, &request[FIRST]);
    MPI_Ibcast(&second, 1, MPI_UINT64_T, other, MPI_COMM_WORLD, &request[SECOND]);
    MPI_Iallreduce(&own, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request[SUM]);
    MPI_Igather(&part, 1, MPI_UINT64_T, row, 1, MPI_UINT64_T, root, MPI_COMM_WORLD, &request[ROW]);
    MPI_Iscan(&own, &below, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD, &request[LOWER]);
    meet(&request[SUM]);
    MPI_Wait(&request[SECOND], MPI_STATUS_IGNORE);
    do
        MPI_Waitany(CALLS, request, &done, MPI_STATUS_IGNORE);
    while (done != MPI_UNDEFINED);
    expect(first, number(root, FIRST), "the first broadcast");
    expect(second, number(other, SECOND), "the second broadcast");
    for (int i = 0; i < ranks; i++) {
        all += number(i, SUM);
        lower += i <= rank ? number(i, SUM) : 0;
        if (rank == root)
            expect(row[i], number(i, ROW), "a gathered number");
    }
    expect(sum, all, "the sum");
    expect(below, lower, "the sum of lower ranks");
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    checkpoint_register("iteration", &iteration, sizeof iteration);
    checkpoint_register("checksum", &checksum, sizeof checksum);
    checkpoint_restore();
    for (; iteration < ITERATIONS; iteration++) {
        potential_checkpoint();
        iterate();
    }
    faultline_result("checksum", &checksum, sizeof checksum);
    MPI_Finalize();
    return 0;
}
