/* Of the program `drawn`: requests that outlast several lines. In each period of steps one of each
 * kind is begun in the first step and completed in the last one, so that it is pending at all lines
 * in between, and after a death is brought back and pending again. Must not know: groups of
 * messages. */
#ifndef DRAWN_OUTLASTING_H
#define DRAWN_OUTLASTING_H

#include "checkpoint.h"
#include "drawn_plan.h"
#include "program.h"

#define TAG_OUTLASTING 30050 /* and on, for each kind */
#define PERIOD 10            /* steps */
#define PERIOD_CANCEL 4      /* the step in which a receive is cancelled that was not at once */

enum {
    OUTLASTING_SENT_FIRST,      /* a receive; its message is sent in the first step */
    OUTLASTING_SENT_LAST,       /* ... or in the last */
    OUTLASTING_CANCELLED_FIRST, /* a receive of what nobody sends */
    OUTLASTING_CANCELLED_LATER,
    OUTLASTING_SYNCHRONOUS, /* a send; its message is received in the last step */
    OUTLASTING_KINDS
};

static struct {
    MPI_Request request[OUTLASTING_KINDS];
    uint64_t number[OUTLASTING_KINDS];
} outlasting;

/* Ahead of what is restored. */
static void outlasting_register(void)
{
    for (int kind = 0; kind < OUTLASTING_KINDS; kind++)
        outlasting.request[kind] = MPI_REQUEST_NULL;
    if (feature[OUTLASTING])
        checkpoint_register("outlasting", &outlasting, sizeof outlasting);
}

/* none: what the library of that life took for no request. */
static void outlasting_restored(MPI_Request none)
{
    program_renew_requests(none, outlasting.request, OUTLASTING_KINDS);
}

/* Between whom in the period that begins with step `first`. */
static void outlasting_pair(uint64_t first, int kind, int *from, int *to)
{
    *from = draw(first, 91500 + kind * 10, self.ranks);
    *to = (*from + 1 + draw(first, 91501 + kind * 10, self.ranks - 1)) % self.ranks;
}

static void outlasting_send(uint64_t first, int kind, int to)
{
    MPI_Send(&first, 1, MPI_UINT64_T, to, TAG_OUTLASTING + kind, MPI_COMM_WORLD);
}

static void outlasting_begin(uint64_t first, int kind, int from, int to)
{
    MPI_Request *request = &outlasting.request[kind];
    uint64_t *number = &outlasting.number[kind];
    bool is_send = kind == OUTLASTING_SYNCHRONOUS;
    if (self.rank == from && is_send) {
        *number = first;
        MPI_Issend(number, 1, MPI_UINT64_T, to, TAG_OUTLASTING + kind, MPI_COMM_WORLD, request);
    }
    if (self.rank == to && !is_send)
        MPI_Irecv(number, 1, MPI_UINT64_T, from, TAG_OUTLASTING + kind, MPI_COMM_WORLD, request);
    if (self.rank == to && kind == OUTLASTING_CANCELLED_FIRST)
        MPI_Cancel(request);
    if (self.rank == from && kind == OUTLASTING_SENT_FIRST)
        outlasting_send(first, kind, to);
}

static void outlasting_end(uint64_t first, int kind, int from, int to)
{
    int cancelled;
    MPI_Status status;
    bool is_send = kind == OUTLASTING_SYNCHRONOUS;
    bool is_cancelled = kind == OUTLASTING_CANCELLED_FIRST || kind == OUTLASTING_CANCELLED_LATER;
    if (self.rank == from && kind == OUTLASTING_SENT_LAST)
        outlasting_send(first, kind, to);
    if (self.rank == from && is_send)
        MPI_Wait(&outlasting.request[kind], MPI_STATUS_IGNORE);
    if (self.rank != to)
        return;
    if (is_send)
        MPI_Recv(&outlasting.number[kind], 1, MPI_UINT64_T, from, TAG_OUTLASTING + kind,
                 MPI_COMM_WORLD, &status);
    else
        MPI_Wait(&outlasting.request[kind], &status);
    MPI_Test_cancelled(&status, &cancelled);
    if (cancelled != is_cancelled || (!cancelled && outlasting.number[kind] != first))
        wrong_in(first, "a request that outlasts several steps does not end as it should");
}

static void outlasting_step(uint64_t step)
{
    int from, to;
    uint64_t first = step / PERIOD * PERIOD, last = first + PERIOD - 1;
    if (last > (uint64_t)self.steps - 1)
        last = (uint64_t)self.steps - 1;
    if (!feature[OUTLASTING] || first == last)
        return;
    for (int kind = 0; kind < OUTLASTING_KINDS; kind++) {
        outlasting_pair(first, kind, &from, &to);
        if (step == first)
            outlasting_begin(first, kind, from, to);
        if (self.rank == to && kind == OUTLASTING_CANCELLED_LATER &&
            step == (last < first + PERIOD_CANCEL ? last : first + PERIOD_CANCEL))
            MPI_Cancel(&outlasting.request[kind]);
        if (step == last)
            outlasting_end(first, kind, from, to);
    }
}

#endif
