/* Of the program `drawn`: persistent requests whose buffers are not in the registered state. Every
 * incarnation makes them ahead of checkpoint_restore; each step starts and completes them. Ahead of
 * them the program makes one more request and one more operation, and frees both, so that their
 * numbers are free. Must not know: what is restored. */
#ifndef DRAWN_OUTSIDE_H
#define DRAWN_OUTSIDE_H

#include "drawn_plan.h"
#include "drawn_rare.h"
#include "program.h"

#define TAG_OUTSIDE 30040

enum { OUTSIDE_IN, OUTSIDE_OUT, OUTSIDE_SUM, OUTSIDE_REQUESTS };

static struct {
    MPI_Request request[OUTSIDE_REQUESTS];
    uint64_t in, out, mine, all;
    MPI_Op sum, other;
} outside;

static void outside_prepare(void)
{
    MPI_Request freed;
    MPI_Op first;
    for (int i = 0; i < OUTSIDE_REQUESTS; i++)
        outside.request[i] = MPI_REQUEST_NULL;
    if (!feature[OUTSIDE])
        return;
    MPI_Op_create(subtract, 1, &first);
    MPI_Op_create(add, 1, &outside.sum);
    MPI_Op_create(subtract, 1, &outside.other);
    MPI_Recv_init(&outside.in, 1, MPI_UINT64_T, self.rank, TAG_OUTSIDE, MPI_COMM_WORLD, &freed);
    MPI_Recv_init(&outside.in, 1, MPI_UINT64_T, self.rank, TAG_OUTSIDE, MPI_COMM_WORLD,
                  &outside.request[OUTSIDE_IN]);
    MPI_Send_init(&outside.out, 1, MPI_UINT64_T, self.rank, TAG_OUTSIDE, MPI_COMM_WORLD,
                  &outside.request[OUTSIDE_OUT]);
    if (feature[PERSISTENT_COLLECTIVES])
        MPI_Allreduce_init(&outside.mine, &outside.all, 1, MPI_UINT64_T, outside.sum,
                           MPI_COMM_WORLD, MPI_INFO_NULL, &outside.request[OUTSIDE_SUM]);
    MPI_Request_free(&freed);
    MPI_Op_free(&first);
}

static void outside_step(uint64_t step)
{
    uint64_t ranks = (uint64_t)self.ranks;
    MPI_Status status[OUTSIDE_REQUESTS];
    int count = feature[PERSISTENT_COLLECTIVES] ? OUTSIDE_REQUESTS : OUTSIDE_SUM;
    if (!feature[OUTSIDE])
        return;
    outside.out = program_mix(step, (uint64_t)self.rank);
    outside.mine = step + (uint64_t)self.rank;
    MPI_Startall(count, outside.request);
    MPI_Waitall(count, outside.request, status);
    if (outside.in != outside.out)
        wrong_in(step, "a message to a buffer that is no state is another step's");
    if (count > OUTSIDE_SUM && outside.all != ranks * step + ranks * (ranks - 1) / 2)
        wrong_in(step, "a persistent reduction by an operation of the program's own is wrong");
}

static void outside_end(void)
{
    for (int i = 0; i < OUTSIDE_REQUESTS; i++)
        if (outside.request[i] != MPI_REQUEST_NULL)
            MPI_Request_free(&outside.request[i]);
    if (!feature[OUTSIDE])
        return;
    MPI_Op_free(&outside.sum);
    MPI_Op_free(&outside.other);
}

#endif
