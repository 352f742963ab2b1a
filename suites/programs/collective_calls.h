/* Every collective call of MPI, as a step of `collectives` and of `drawn`: made as the plan says,
 * what it gives checked whole. Must not know: when it is made, and what else a step does. */
#ifndef COLLECTIVE_CALLS_H
#define COLLECTIVE_CALLS_H

#include "collectives_plan.h"
#include "mpi_library.h"
#include "program.h"

#include <stdint.h>

/* --- how a call is made ----------------------------------------------------------------------- */

/* Some ranks wait, others ask until it is over. */
static void complete(MPI_Request *request)
{
    int over = 0;
    if ((self.kept.step + (uint64_t)self.rank) % 2)
        MPI_Wait(request, MPI_STATUS_IGNORE);
    else
        while (!over)
            MPI_Test(request, &over, MPI_STATUS_IGNORE);
}

static void start_once(MPI_Request *request)
{
    MPI_Start(request);
    complete(request);
    MPI_Request_free(request);
}

/* `call` is complete when it is over. */
#define CALL(name, nonblocking, persistent, ...)                                                   \
    do {                                                                                           \
        MPI_Request request;                                                                       \
        if (call->way == BLOCKING) {                                                               \
            name(__VA_ARGS__, call->comm);                                                         \
        } else if (call->way == NONBLOCKING) {                                                     \
            nonblocking(__VA_ARGS__, call->comm, &request);                                        \
            complete(&request);                                                                    \
        } else {                                                                                   \
            persistent(__VA_ARGS__, call->comm, MPI_INFO_NULL, &request);                          \
            start_once(&request);                                                                  \
        }                                                                                          \
    } while (0)

static void barrier(const struct call *call)
{
    MPI_Request request;
    if (call->way == BLOCKING) {
        MPI_Barrier(call->comm);
    } else if (call->way == NONBLOCKING) {
        MPI_Ibarrier(call->comm, &request);
        complete(&request);
    } else {
        MPI_Barrier_init(call->comm, MPI_INFO_NULL, &request);
        start_once(&request);
    }
}

/* --- data from one to all --------------------------------------------------------------------- */

static void broadcast(struct call *call)
{
    bool is_root = call->rank == call->root;
    struct layout layout = is_root ? call->sent : call->received;
    uint64_t *data = room(call->count, layout);
    if (is_root)
        fill(data, layout, call->count, 0);
    CALL(MPI_Bcast, MPI_Ibcast, MPI_Bcast_init, data, call->count, layout.type, call->root);
    check(data, layout, call->count, call->world[call->root], 0);
    free(data);
}

static void scatter(struct call *call)
{
    bool is_root = call->rank == call->root, here = is_root && call->in_place;
    uint64_t *all = room(is_root ? call->count * call->size : 0, call->sent);
    uint64_t *mine = room(call->count, call->received);
    for (int i = 0; is_root && i < call->size; i++)
        fill(all + i * call->count * call->sent.stride, call->sent, call->count, call->world[i]);
    CALL(MPI_Scatter, MPI_Iscatter, MPI_Scatter_init, all, call->count, call->sent.type,
         here ? MPI_IN_PLACE : mine, call->count, call->received.type, call->root);
    if (!here)
        check(mine, call->received, call->count, call->world[call->root], self.rank);
    free(all);
    free(mine);
}

static void scatter_varying(struct call *call)
{
    bool is_root = call->rank == call->root, here = is_root && call->in_place;
    uint64_t *all = room(is_root ? call->total : 0, call->sent);
    uint64_t *mine = room(call->counts[call->rank], call->received);
    for (int i = 0; is_root && i < call->size; i++)
        fill(all + call->offsets[i] * call->sent.stride, call->sent, call->counts[i],
             call->world[i]);
    CALL(MPI_Scatterv, MPI_Iscatterv, MPI_Scatterv_init, all, call->counts, call->offsets,
         call->sent.type, here ? MPI_IN_PLACE : mine, call->counts[call->rank], call->received.type,
         call->root);
    if (!here)
        check(mine, call->received, call->counts[call->rank], call->world[call->root], self.rank);
    free(all);
    free(mine);
}

/* --- data from all to one, or to all ---------------------------------------------------------- */

/* Pieces of one size after each other, one of each member. */
static void check_pieces(const struct call *call, const uint64_t *all, int to)
{
    for (int i = 0; i < call->size; i++)
        check(all + i * call->count * call->received.stride, call->received, call->count,
              call->world[i], to);
}

static void check_varying(const struct call *call, const uint64_t *all)
{
    for (int i = 0; i < call->size; i++)
        check(all + call->offsets[i] * call->received.stride, call->received, call->counts[i],
              call->world[i], 0);
}

/* MPI_Gather, or MPI_Allgather if `to_all`. */
static void gather(struct call *call, bool to_all)
{
    bool gets = to_all || call->rank == call->root, here = gets && call->in_place;
    uint64_t *all = room(gets ? call->count * call->size : 0, call->received);
    uint64_t *mine = room(call->count, call->sent);
    fill(mine, call->sent, call->count, 0);
    if (here)
        fill(all + call->rank * call->count * call->received.stride, call->received, call->count,
             0);
    const void *from = here ? MPI_IN_PLACE : mine;
    if (to_all)
        CALL(MPI_Allgather, MPI_Iallgather, MPI_Allgather_init, from, call->count, call->sent.type,
             all, call->count, call->received.type);
    else
        CALL(MPI_Gather, MPI_Igather, MPI_Gather_init, from, call->count, call->sent.type, all,
             call->count, call->received.type, call->root);
    if (gets)
        check_pieces(call, all, 0);
    free(all);
    free(mine);
}

static void gather_varying(struct call *call, bool to_all)
{
    bool gets = to_all || call->rank == call->root, here = gets && call->in_place;
    int own = call->counts[call->rank];
    uint64_t *all = room(gets ? call->total : 0, call->received), *mine = room(own, call->sent);
    fill(mine, call->sent, own, 0);
    if (here)
        fill(all + call->offsets[call->rank] * call->received.stride, call->received, own, 0);
    const void *from = here ? MPI_IN_PLACE : mine;
    if (to_all)
        CALL(MPI_Allgatherv, MPI_Iallgatherv, MPI_Allgatherv_init, from, own, call->sent.type, all,
             call->counts, call->offsets, call->received.type);
    else
        CALL(MPI_Gatherv, MPI_Igatherv, MPI_Gatherv_init, from, own, call->sent.type, all,
             call->counts, call->offsets, call->received.type, call->root);
    if (gets)
        check_varying(call, all);
    free(all);
    free(mine);
}

/* --- data from each to each ------------------------------------------------------------------- */

static void alltoall(struct call *call)
{
    struct layout out = call->in_place ? call->received : call->sent;
    uint64_t *to = room(call->count * call->size, out);
    uint64_t *from = call->in_place ? to : room(call->count * call->size, call->received);
    for (int i = 0; i < call->size; i++)
        fill(to + i * call->count * out.stride, out, call->count, call->world[i]);
    CALL(MPI_Alltoall, MPI_Ialltoall, MPI_Alltoall_init, call->in_place ? MPI_IN_PLACE : to,
         call->count, out.type, from, call->count, call->received.type);
    check_pieces(call, from, self.rank);
    free(to);
    if (from != to)
        free(from);
}

/* How much rank i of the communicator and rank k send each other: the same both ways, so that it
 * can be done in place. */
static int between(const struct call *call, int i, int k)
{
    return (call->counts[i] + call->counts[k]) / (2 + (i != k));
}

/* MPI_Alltoallv, or MPI_Alltoallw with a datatype for each rank if `typed`. */
static void alltoall_varying(struct call *call, bool typed)
{
    int *counts = program_memory((size_t)call->size, 3 * sizeof(int)), all = 0;
    int *offsets = counts + call->size, *bytes = offsets + call->size;
    MPI_Datatype *types = program_memory((size_t)call->size, sizeof *types);
    for (int i = 0; i < call->size; i++) {
        counts[i] = between(call, call->rank, i);
        offsets[i] = all;
        bytes[i] = all * call->received.stride * (int)sizeof(uint64_t);
        types[i] = call->received.type;
        all += counts[i];
    }
    uint64_t *to = room(all, call->received);
    uint64_t *from = call->in_place ? to : room(all, call->received);
    for (int i = 0; i < call->size; i++)
        fill(to + offsets[i] * call->received.stride, call->received, counts[i], call->world[i]);
    const void *out = call->in_place ? MPI_IN_PLACE : to;
    if (typed)
        CALL(MPI_Alltoallw, MPI_Ialltoallw, MPI_Alltoallw_init, out, counts, bytes, types, from,
             counts, bytes, types);
    else
        CALL(MPI_Alltoallv, MPI_Ialltoallv, MPI_Alltoallv_init, out, counts, offsets,
             call->received.type, from, counts, offsets, call->received.type);
    for (int i = 0; i < call->size; i++)
        check(from + offsets[i] * call->received.stride, call->received, counts[i], call->world[i],
              self.rank);
    free(to);
    if (from != to)
        free(from);
    free(types);
    free(counts);
}

/* --- reductions ------------------------------------------------------------------------------- */

/* What is combined, and how. An element is one number, or two of a map. */
struct operation {
    MPI_Op op;
    struct layout layout;
    int numbers; /* of an element */
};

static struct operation draw_operation(void)
{
    const struct layout maps = {self.pair, 1};
    const struct operation all[] = {
        {MPI_SUM, self.close, 1},
        {MPI_BXOR, self.close, 1},
        {self.exclusive, self.spread, 1},
        {self.compose, maps, 2},
    };
    return all[draw(self.kept.step, ASK_OPERATION, 4)];
}

static void apply(const struct operation *operation, const uint64_t *before, uint64_t *value)
{
    if (operation->numbers == 2) { /* first `before`, then *value */
        value[1] += value[0] * before[1];
        value[0] *= before[0];
    } else if (operation->op == MPI_SUM) {
        value[0] += before[0];
    } else {
        value[0] ^= before[0];
    }
}

/* The user's operations, as MPI calls them: *inout becomes *in (of the lower ranks) op *inout. */
static void compose_maps(void *in, void *inout, int *length, MPI_Datatype *type)
{
    const struct operation maps = {.numbers = 2};
    (void)type;
    for (int i = 0; i < *length; i++)
        apply(&maps, (const uint64_t *)in + 2 * i, (uint64_t *)inout + 2 * i);
}

static void exclusive_or(void *in, void *inout, int *length, MPI_Datatype *type)
{
    (void)type;
    for (int i = 0; i < *length; i++)
        ((uint64_t *)inout)[2 * i] ^= ((const uint64_t *)in)[2 * i];
}

/* Element `index` of what this rank contributes lies here. */
static uint64_t *element(uint64_t *buffer, const struct operation *operation, int index)
{
    return buffer + (size_t)index * (size_t)operation->numbers * (size_t)operation->layout.stride;
}

/* Element 0 has the sum in it. */
static void contribute(uint64_t *buffer, const struct operation *operation, int elements)
{
    for (int i = 0; i < elements; i++)
        for (int k = 0; k < operation->numbers; k++)
            element(buffer, operation, i)[k] =
                i == 0 ? self.kept.sum : number(self.rank, 0, 2 * i + k);
}

/* `buffer` begins with element `first` of what members `from` to `to` - 1 have contributed. */
static void check_reduced(const struct call *call, uint64_t *buffer,
                          const struct operation *operation, int first, int elements, int from,
                          int to)
{
    for (int i = 0; i < elements; i++) {
        uint64_t value[2] = {0, 0}, *got = element(buffer, operation, i);
        for (int member = from; member < to; member++) {
            uint64_t next[2] = {number(call->world[member], 0, 2 * (first + i)),
                                number(call->world[member], 0, 2 * (first + i) + 1)};
            if (member > from)
                apply(operation, value, next);
            memcpy(value, next, sizeof value);
        }
        for (int k = 0; k < operation->numbers; k++)
            if (first + i == 0)
                collect(got[k]);
            else
                expect(got[k], value[k]);
        if (operation->layout.stride == 2)
            self.kept.wrong += got[1] != HOLE;
    }
}

enum reduction { REDUCE, ALLREDUCE, SCAN, EXSCAN, REDUCE_SCATTER, REDUCE_SCATTER_BLOCK };

/* Which elements this rank gets: `*first` on. Returns how many. */
static int share(const struct call *call, enum reduction kind, int *first)
{
    *first = 0;
    if (kind == REDUCE_SCATTER)
        *first = call->offsets[call->rank];
    else if (kind == REDUCE_SCATTER_BLOCK)
        *first = call->rank * call->count;
    return kind == REDUCE_SCATTER ? call->counts[call->rank] : call->count;
}

static void combine(struct call *call, enum reduction kind, const struct operation *operation,
                    const void *from, void *to)
{
    MPI_Datatype type = operation->layout.type;
    switch (kind) {
    case REDUCE:
        CALL(MPI_Reduce, MPI_Ireduce, MPI_Reduce_init, from, to, call->count, type, operation->op,
             call->root);
        break;
    case ALLREDUCE:
        CALL(MPI_Allreduce, MPI_Iallreduce, MPI_Allreduce_init, from, to, call->count, type,
             operation->op);
        break;
    case SCAN:
        CALL(MPI_Scan, MPI_Iscan, MPI_Scan_init, from, to, call->count, type, operation->op);
        break;
    case EXSCAN:
        CALL(MPI_Exscan, MPI_Iexscan, MPI_Exscan_init, from, to, call->count, type, operation->op);
        break;
    case REDUCE_SCATTER:
        CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter, MPI_Reduce_scatter_init, from, to,
             call->counts, type, operation->op);
        break;
    case REDUCE_SCATTER_BLOCK:
        CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
             from, to, call->count, type, operation->op);
        break;
    }
}

static void reduce(struct call *call, enum reduction kind)
{
    struct operation operation = draw_operation();
    struct layout wide = {operation.layout.type, operation.numbers * operation.layout.stride};
    bool gets = kind == REDUCE ? call->rank == call->root : kind != EXSCAN || call->rank > 0;
    /* MPICH 4.0.2 crashes in MPI_Reduce of more than 2 KiB in place at any other root than 0. */
    bool here = call->in_place && (kind != REDUCE || (gets && call->root == 0));
    int first, own = share(call, kind, &first), all = call->count;
    if (kind == REDUCE_SCATTER)
        all = call->total;
    else if (kind == REDUCE_SCATTER_BLOCK)
        all = call->count * call->size;
    uint64_t *mine = room(all, wide), *result = here ? mine : room(own, wide);
    contribute(mine, &operation, all);
    combine(call, kind, &operation, here ? MPI_IN_PLACE : mine, result);
    int end = kind == SCAN ? call->rank + 1 : kind == EXSCAN ? call->rank : call->size;
    if (gets)
        check_reduced(call, result, &operation, first, own, 0, end);
    free(mine);
    if (!here)
        free(result);
}

/* --- a step ----------------------------------------------------------------------------------- */

enum {
    CALL_BARRIER,
    CALL_BCAST,
    CALL_SCATTER,
    CALL_SCATTERV,
    CALL_GATHER,
    CALL_GATHERV,
    CALL_ALLGATHER,
    CALL_ALLGATHERV,
    CALL_ALLTOALL,
    CALL_ALLTOALLV,
    CALL_ALLTOALLW,
    CALL_REDUCTIONS, /* this and the following */
    CALLS = CALL_REDUCTIONS + REDUCE_SCATTER_BLOCK + 1
};

/* In front of the pieces. (With MPI_Allgatherv MPICH 4.0.2 takes them from other places then.) */
static void leave_free(struct call *call)
{
    int numbers = draw(self.kept.step, ASK_FREE, 3);
    for (int i = 0; i < call->size; i++)
        call->offsets[i] += numbers;
    call->total += numbers;
}

static void perform(struct call *call, int which)
{
    if (which == CALL_SCATTERV || which == CALL_GATHERV)
        leave_free(call);
    switch (which) {
    case CALL_BARRIER:
        barrier(call);
        break;
    case CALL_BCAST:
        broadcast(call);
        break;
    case CALL_SCATTER:
        scatter(call);
        break;
    case CALL_SCATTERV:
        scatter_varying(call);
        break;
    case CALL_GATHER:
    case CALL_ALLGATHER:
        gather(call, which == CALL_ALLGATHER);
        break;
    case CALL_GATHERV:
    case CALL_ALLGATHERV:
        gather_varying(call, which == CALL_ALLGATHERV);
        break;
    case CALL_ALLTOALL:
        alltoall(call);
        break;
    case CALL_ALLTOALLV:
    case CALL_ALLTOALLW:
        alltoall_varying(call, which == CALL_ALLTOALLW);
        break;
    default:
        reduce(call, (enum reduction)(which - CALL_REDUCTIONS));
    }
}

/* Of the communicator that was made in the step. */
static enum constructor constructor_of(uint64_t step)
{
    return self.constructors ? (enum constructor)draw(step, ASK_CHANGE + 2, (int)self.constructors)
                             : AS_IT_IS;
}

/* Another communicator of as many, or of half of the ranks, in another order. */
static void change(uint64_t step)
{
    if (self.kept.comm[CHANGING] != MPI_COMM_NULL)
        MPI_Comm_free(&self.kept.comm[CHANGING]);
    self.kept.has_changing = true;
    int parts = 1 + draw(step, ASK_CHANGE, 2);
    MPI_Comm_split(MPI_COMM_WORLD, self.rank % parts,
                   draw(step, ASK_CHANGE + 1, 2) ? 0 : -self.rank, &self.kept.comm[CHANGING]);
    construct(constructor_of(step), &self.kept.comm[CHANGING]);
}

/* Those that stay as they are. */
static void make_lasting(void)
{
    MPI_Comm_split(MPI_COMM_WORLD, self.rank % 2, 0, &self.kept.comm[HALF]);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -self.rank, &self.kept.comm[REVERSED]);
}

/* The first one, after checkpoint_restore: not by the line that gave, for a line may go back to
 * that call itself. */
static void make_changing(void)
{
    if (self.late && !self.kept.has_changing)
        make_lasting();
    if (!self.kept.has_changing)
        change(0);
}

/* Datatypes, operations, and the communicators but for the one that changes; those of several ranks
 * only if asked for. */
static void prepare_calls(bool communicators)
{
    MPI_Datatype number = MPI_UINT64_T;
    self.close = (struct layout){number, 1};
    self.spread.stride = 2;
    MPI_Type_create_resized(number, 0, 2 * sizeof(uint64_t), &self.spread.type);
    MPI_Type_contiguous(2, number, &self.pair);
    MPI_Type_commit(&self.spread.type);
    MPI_Type_commit(&self.pair);
    MPI_Op_create(compose_maps, 0, &self.compose);
    MPI_Op_create(exclusive_or, 1, &self.exclusive);
    self.kept.comm[WORLD] = MPI_COMM_WORLD;
    self.kept.comm[HALF] = self.kept.comm[REVERSED] = self.kept.comm[CHANGING] = MPI_COMM_NULL;
    if (communicators)
        make_lasting();
}

static void release_calls(void)
{
    for (int i = HALF; i < COMMS; i++)
        if (self.kept.comm[i] != MPI_COMM_NULL)
            MPI_Comm_free(&self.kept.comm[i]);
    MPI_Type_free(&self.spread.type);
    MPI_Type_free(&self.pair);
    MPI_Op_free(&self.compose);
    MPI_Op_free(&self.exclusive);
}

#endif
