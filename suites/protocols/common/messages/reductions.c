/* Reductions and scans, blocking and not: see collectives.h. Whoever gets a result gets what all
 * have contributed to it, and combines that in the order of ranks when the call is complete. */
#include "common/messages/calls.h"
#include "common/messages/collectives.h"
#include "common/messages/exchange.h"
#include "common/messages/parts.h"
#include "common/messages/tree_calls.h"

#include <stdlib.h>
#include <string.h>

/* Room for elements of any type, and where element 0 lies in it. */
struct room {
    void *memory; /* owned */
    void *first;
};

/* What this rank is to get: the context of an exchange. */
struct reduction {
    MPI_Op op;
    struct payload result;
    int rooms;
    struct room room[]; /* what each has contributed, in the order of ranks */
};

static struct room room_for(const struct payload *payload)
{
    MPI_Aint low, extent, true_low, true_extent;
    struct room room;
    PMPI_Type_get_extent(payload->type, &low, &extent);
    PMPI_Type_get_true_extent(payload->type, &true_low, &true_extent);
    size_t bytes = (size_t)(true_extent + (payload->count > 0 ? payload->count - 1 : 0) * extent);
    room.memory = memory(1, bytes ? bytes : 1);
    room.first = (char *)room.memory - true_low;
    return room;
}

/* --- combining -------------------------------------------------------------------------------- */

/* room[to] becomes room[at] op room[at + 1], which go. */
static void combine(struct reduction *it, int at, int to)
{
    struct room left = it->room[at], right = it->room[at + 1];
    /* inoutvec becomes invec op inoutvec */
    PMPI_Reduce_local(left.first, right.first, it->result.count, it->result.type, it->op);
    free(left.memory);
    it->room[to] = right;
}

/* All into room[0], neighbours with neighbours, as recursive doubling does it: of a number of ranks
 * that is no power of 2 the first ones go together until there are as many as one. MPICH reduces
 * few elements so; then the program gets its rounding with this layer as without. */
static void combine_all(struct reduction *it)
{
    int power = 1, left = 0;
    while (power <= it->rooms / 2)
        power *= 2;
    int pairs = it->rooms - power;
    for (int i = 0; i < it->rooms; left++)
        if (i < 2 * pairs) {
            combine(it, i, left);
            i += 2;
        } else {
            it->room[left] = it->room[i++];
        }
    for (; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++)
            combine(it, 2 * i, i);
}

static int copy(const struct payload *from, const struct payload *to)
{
    uint64_t bytes = payload_bytes(from);
    void *row = memory(1, bytes ? bytes : 1);
    int error = payload_pack(from, row);
    if (error == MPI_SUCCESS)
        error = payload_unpack(to, row, bytes);
    free(row);
    return error == MPI_SUCCESS ? error : call_error(error);
}

static int finish(struct exchange *exchange)
{
    struct reduction *it = exchange->context;
    combine_all(it);
    struct payload combined = {it->room[0].first, it->result.count, it->result.type};
    int error = copy(&combined, &it->result);
    free(it->room[0].memory);
    free(it);
    return error;
}

/* This rank gets what ranks 0 to `count` - 1 contribute. */
static void expect(struct exchange *call, int count, struct payload result, MPI_Op op)
{
    if (count == 0)
        return;
    struct reduction *it = memory(1, sizeof *it + (size_t)count * sizeof it->room[0]);
    *it = (struct reduction){.op = op, .result = result, .rooms = count};
    for (int i = 0; i < count; i++) {
        it->room[i] = room_for(&result);
        exchange_receive(call, i, (struct payload){it->room[i].first, result.count, result.type});
    }
    call->finish = finish;
    call->context = it;
}

/* --- along trees ------------------------------------------------------------------------------ */

/* Contributions as packed bytes. */
static struct room unpacked(const struct payload *payload, const struct packet *packet)
{
    struct room room = room_for(payload);
    struct payload here = {room.first, payload->count, payload->type};
    uint64_t bytes = payload_bytes(&here);
    payload_unpack(&here, packet->data, packet->head.bytes < bytes ? packet->head.bytes : bytes);
    return room;
}

static struct packet *joined(const struct packet *left, const struct packet *right)
{
    struct packet *both = packet_new(left->head.bytes + right->head.bytes);
    memcpy(both->data, left->data, left->head.bytes);
    memcpy(both->data + left->head.bytes, right->data, right->head.bytes);
    return both;
}

static struct packet *operated(const struct layer_combining *how, const struct packet *left,
                               const struct packet *right)
{
    struct payload payload = {NULL, how->count, how->type};
    struct room a = unpacked(&payload, left), b = unpacked(&payload, right);
    PMPI_Reduce_local(a.first, b.first, how->count, how->type, how->op);
    payload.buffer = b.first;
    struct packet *result = packet_new(payload_bytes(&payload));
    payload_pack(&payload, result->data);
    free(a.memory);
    free(b.memory);
    return result;
}

struct packet *layer_combine(const struct layer_combining *how, struct packet *left,
                             struct packet *right)
{
    struct packet *result =
        how->op == MPI_OP_NULL ? joined(left, right) : operated(how, left, right);
    packet_drop(left);
    packet_drop(right);
    return result;
}

/* The result goes to `result` at the root, or if `to_all` at everybody. */
static int reduce_along_tree(struct exchange *call, int root, bool to_all, struct payload mine,
                             struct payload result, MPI_Op op, MPI_Request *request)
{
    const struct layer_combining how = {result.count, result.type, op};
    struct payload *place = NULL;
    if (to_all || call->comm->rank == root) {
        place = memory(1, sizeof *place);
        *place = result;
    }
    tree_reduce(call, root, to_all, mine, &how, place, place ? 1 : 0);
    return exchange_end(call, request);
}

/* --- one result ------------------------------------------------------------------------------- */

static int reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype type, MPI_Op op,
                  int root, MPI_Comm user, MPI_Request *request)
{
    int error;
    struct exchange *call = exchange_begin(user, root, &error);
    if (!call)
        return error;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (layer_has_trees())
        return reduce_along_tree(call, root, false, collective_part(mine, count, type),
                                 collective_part(recvbuf, count, type), op, request);
    exchange_send(call, root, collective_part(mine, count, type));
    if (call->comm->rank == root)
        expect(call, call->comm->size, collective_part(recvbuf, count, type), op);
    return exchange_end(call, request);
}

CALL(MPI_Reduce, MPI_Ireduce,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root),
     reduce(sendbuf, recvbuf, count, datatype, op, root, comm, request))

/* --- a result each: of all, or of those below --------------------------------------------------
 */

enum span { SPAN_ALL, SPAN_INCLUSIVE, SPAN_EXCLUSIVE };

/* How many ranks contribute to what `rank` gets. */
static int contributors(enum span span, int rank, int size)
{
    return span == SPAN_ALL ? size : span == SPAN_INCLUSIVE ? rank + 1 : rank;
}

static int reduce_span(enum span span, const void *sendbuf, void *recvbuf, int count,
                       MPI_Datatype type, MPI_Op op, MPI_Comm user, MPI_Request *request)
{
    int error;
    struct exchange *call = exchange_begin(user, 0, &error);
    if (!call)
        return error;
    int rank = call->comm->rank, size = call->comm->size;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (span == SPAN_ALL && layer_has_trees())
        return reduce_along_tree(call, 0, true, collective_part(mine, count, type),
                                 collective_part(recvbuf, count, type), op, request);
    for (int i = 0; i < size; i++)
        if (rank < contributors(span, i, size))
            exchange_send(call, i, collective_part(mine, count, type));
    expect(call, contributors(span, rank, size), collective_part(recvbuf, count, type), op);
    return exchange_end(call, request);
}

LAYER_EXPORTED int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    if (collective_is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    return reduce_span(SPAN_ALL, sendbuf, recvbuf, count, datatype, op, comm, NULL);
}

LAYER_EXPORTED int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count,
                                  MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                  MPI_Request *request)
{
    return reduce_span(SPAN_ALL, sendbuf, recvbuf, count, datatype, op, comm, request);
}

CALL(MPI_Scan, MPI_Iscan,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op),
     reduce_span(SPAN_INCLUSIVE, sendbuf, recvbuf, count, datatype, op, comm, request))

CALL(MPI_Exscan, MPI_Iexscan,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op),
     reduce_span(SPAN_EXCLUSIVE, sendbuf, recvbuf, count, datatype, op, comm, request))

/* --- each gets its share ---------------------------------------------------------------------- */

/* counts NULL: `count` each. */
static int reduce_scatter(const void *sendbuf, void *recvbuf, const int *counts, int count,
                          MPI_Datatype type, MPI_Op op, MPI_Comm user, MPI_Request *request)
{
    int error, own;
    struct exchange *call = exchange_begin(user, 0, &error);
    if (!call)
        return error;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    MPI_Aint ahead = 0;
    for (int i = 0; i < call->comm->size; i++) {
        int share = counts ? counts[i] : count;
        exchange_send(call, i, collective_part_at(mine, ahead, share, type));
        ahead += share;
    }
    own = counts ? counts[call->comm->rank] : count;
    expect(call, call->comm->size, collective_part(recvbuf, own, type), op);
    return exchange_end(call, request);
}

CALL(MPI_Reduce_scatter, MPI_Ireduce_scatter,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op),
     reduce_scatter(sendbuf, recvbuf, recvcounts, 0, datatype, op, comm, request))

CALL(MPI_Reduce_scatter_block, MPI_Ireduce_scatter_block,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op),
     reduce_scatter(sendbuf, recvbuf, NULL, recvcount, datatype, op, comm, request))
