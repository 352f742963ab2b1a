/* The blocking collective calls as messages of the protocol's own, on the hidden communicator: they
 * are sent, classified, logged and suppressed like any other, so a call may straddle the recovery
 * line. Plain algorithms: a root speaks to each rank, or each rank to each. Must not know: the
 * line, the log. */
#include "c3/calls.h"

#include <stdlib.h>
#include <string.h>

/* The messages of one call under way. */
struct exchange {
    struct handle *communicator;
    int tag;
    int count;
    int room;
    struct request **request; /* owned */
    int error;                /* the first */
};

/* Tags on the hidden communicator: a call's messages are told from those of another kind, and kept
 * apart from those of the same kind by their order. */
enum {
    TAG_BARRIER = 1,
    TAG_BCAST,
    TAG_REDUCE,
    TAG_GATHER,
    TAG_SCATTER,
    TAG_ALLGATHER,
    TAG_ALLTOALL,
    TAG_SCAN
};

static void begin(struct exchange *exchange, struct handle *communicator, int tag)
{
    *exchange = (struct exchange){.communicator = communicator, .tag = tag, .error = MPI_SUCCESS};
}

static void add(struct exchange *exchange, struct request *request, int error)
{
    if (error != MPI_SUCCESS) {
        request_free(request);
        exchange->error = exchange->error == MPI_SUCCESS ? error : exchange->error;
        return;
    }
    if (exchange->count == exchange->room) {
        exchange->room = exchange->room ? 2 * exchange->room : 2 * exchange->communicator->size + 2;
        exchange->request =
            larger(exchange->request, (size_t)exchange->room * sizeof(struct request *));
    }
    exchange->request[exchange->count++] = request;
}

static void out(struct exchange *exchange, const void *buffer, int count, MPI_Datatype type,
                int peer)
{
    struct arguments arguments = {(void *)buffer, count,         type,
                                  peer,           exchange->tag, exchange->communicator};
    struct request *request = call_send(&arguments, SEND_STANDARD);
    request->hidden = true;
    add(exchange, request, transfer_send(request));
}

static void in(struct exchange *exchange, void *buffer, int count, MPI_Datatype type, int peer)
{
    struct arguments arguments = {buffer, count, type, peer, exchange->tag, exchange->communicator};
    struct request *request = call_receive(&arguments);
    request->hidden = true;
    add(exchange, request, transfer_receive(request));
}

/* Waits for all that is under way; another round may follow. */
static int finish(struct exchange *exchange)
{
    for (int i = 0; i < exchange->count; i++) {
        int error = call_complete(exchange->request[i], MPI_STATUS_IGNORE);
        if (exchange->error == MPI_SUCCESS)
            exchange->error = error;
    }
    free(exchange->request);
    exchange->request = NULL;
    exchange->count = exchange->room = 0;
    return exchange->error;
}

/* --- pieces ----------------------------------------------------------------------------------- */

static MPI_Aint extent_of(MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return extent;
}

static char *at(const void *buffer, MPI_Aint elements, MPI_Datatype type)
{
    return (char *)buffer + elements * extent_of(type);
}

/* Room for `count` elements where a buffer of them may begin. Owned by the caller: free *owned. */
static void *room_for(int count, MPI_Datatype type, char **owned)
{
    char *first;
    uint64_t bytes;
    payload_span(&(struct payload){NULL, count, type}, &first, &bytes);
    *owned = memory(1, bytes);
    return *owned - (first - (char *)NULL);
}

/* From one place of this rank to another. */
static int copy(const void *from, int from_count, MPI_Datatype from_type, void *to, int to_count,
                MPI_Datatype to_type)
{
    struct payload source = {(void *)from, from_count, from_type}, target = {to, to_count, to_type};
    uint64_t bytes = payload_bytes(&source), room = payload_bytes(&target);
    char *row = memory(1, bytes);
    int error = payload_pack(&source, row);
    if (error == MPI_SUCCESS)
        error = payload_unpack(&target, row, bytes < room ? bytes : room);
    free(row);
    return error;
}

static struct handle *begin_call(MPI_Comm comm)
{
    struct handle *communicator = call_begin(comm);
    int inter = 0;
    if (communicator)
        PMPI_Comm_test_inter(communicator->real, &inter);
    if (inter)
        refuse("a collective call on an intercommunicator", "intracommunicators");
    return communicator;
}

/* What is wrong with a root is for the program's error handler. */
static bool is_root(const struct handle *communicator, int root)
{
    return root >= 0 && root < communicator->size;
}

static int broadcast(struct handle *communicator, void *buffer, int count, MPI_Datatype type,
                     int root)
{
    struct exchange exchange;
    begin(&exchange, communicator, TAG_BCAST);
    if (communicator->rank != root)
        in(&exchange, buffer, count, type, root);
    for (int rank = 0; communicator->rank == root && rank < communicator->size; rank++)
        if (rank != root)
            out(&exchange, buffer, count, type, rank);
    return finish(&exchange);
}

/* *sum becomes sum op next. */
static int combine(void *sum, void *next, int count, MPI_Datatype type, MPI_Op op)
{
    int error = PMPI_Reduce_local(sum, next, count, type, op);
    return error == MPI_SUCCESS ? copy(next, count, type, sum, count, type) : error;
}

/* In the order that this MPI takes for few ranks of one machine, so that sums are rounded alike: up
 * a binomial tree, each rank adding those above it one by one. The root's tree begins at rank 0,
 * whatever the root: an operation need not be commutative. */
static int reduce_to_first(struct handle *communicator, const void *mine, void *sum, int count,
                           MPI_Datatype type, MPI_Op op)
{
    struct exchange exchange;
    char *owned;
    void *next = room_for(count, type, &owned);
    int error = copy(mine, count, type, sum, count, type);
    begin(&exchange, communicator, TAG_REDUCE);
    for (int step = 1; step < communicator->size && error == MPI_SUCCESS; step *= 2) {
        if (communicator->rank & step) {
            out(&exchange, sum, count, type, communicator->rank - step);
            error = finish(&exchange);
            break;
        }
        if (communicator->rank + step >= communicator->size)
            continue;
        in(&exchange, next, count, type, communicator->rank + step);
        error = finish(&exchange);
        if (error == MPI_SUCCESS)
            error = combine(sum, next, count, type, op);
    }
    free(owned);
    return error;
}

static int reduce(struct handle *communicator, const void *mine, void *result, int count,
                  MPI_Datatype type, MPI_Op op, int root)
{
    struct exchange exchange;
    char *owned;
    void *sum = room_for(count, type, &owned);
    int error = reduce_to_first(communicator, mine, sum, count, type, op);
    begin(&exchange, communicator, TAG_REDUCE);
    if (root != 0 && communicator->rank == 0)
        out(&exchange, sum, count, type, root);
    else if (root != 0 && communicator->rank == root)
        in(&exchange, sum, count, type, 0);
    int moved = finish(&exchange);
    if (error == MPI_SUCCESS)
        error = moved;
    if (error == MPI_SUCCESS && communicator->rank == root)
        error = copy(sum, count, type, result, count, type);
    free(owned);
    return error;
}

/* Where rank i's part begins and how long it is; the same for all if lengths is NULL. */
struct parts {
    void *buffer;
    const int *lengths;
    const int *offsets;
    int length;
    MPI_Datatype type;
    const MPI_Datatype *types; /* of Alltoallw, whose offsets are bytes; else NULL */
};

static int part_length(const struct parts *parts, int rank)
{
    return parts->lengths ? parts->lengths[rank] : parts->length;
}

static MPI_Datatype part_type(const struct parts *parts, int rank)
{
    return parts->types ? parts->types[rank] : parts->type;
}

static void *part_at(const struct parts *parts, int rank)
{
    if (parts->types)
        return (char *)parts->buffer + parts->offsets[rank];
    MPI_Aint elements =
        parts->offsets ? parts->offsets[rank] : (MPI_Aint)rank * (MPI_Aint)parts->length;
    return at(parts->buffer, elements, parts->type);
}

static int gather(struct handle *communicator, const void *mine, int count, MPI_Datatype type,
                  const struct parts *all, int root)
{
    struct exchange exchange;
    begin(&exchange, communicator, TAG_GATHER);
    if (communicator->rank != root) {
        out(&exchange, mine, count, type, root);
        return finish(&exchange);
    }
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != root)
            in(&exchange, part_at(all, rank), part_length(all, rank), all->type, rank);
    int error = finish(&exchange);
    if (error == MPI_SUCCESS && mine != MPI_IN_PLACE)
        error = copy(mine, count, type, part_at(all, root), part_length(all, root), all->type);
    return error;
}

static int scatter(struct handle *communicator, const struct parts *all, void *mine, int count,
                   MPI_Datatype type, int root)
{
    struct exchange exchange;
    begin(&exchange, communicator, TAG_SCATTER);
    if (communicator->rank != root) {
        in(&exchange, mine, count, type, root);
        return finish(&exchange);
    }
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != root)
            out(&exchange, part_at(all, rank), part_length(all, rank), all->type, rank);
    int error = finish(&exchange);
    if (error == MPI_SUCCESS && mine != MPI_IN_PLACE)
        error = copy(part_at(all, root), part_length(all, root), all->type, mine, count, type);
    return error;
}

static int allgather(struct handle *communicator, const void *mine, int count, MPI_Datatype type,
                     const struct parts *all)
{
    struct exchange exchange;
    int error = MPI_SUCCESS, own = communicator->rank;
    begin(&exchange, communicator, TAG_ALLGATHER);
    if (mine != MPI_IN_PLACE)
        error = copy(mine, count, type, part_at(all, own), part_length(all, own), all->type);
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != own) {
            in(&exchange, part_at(all, rank), part_length(all, rank), all->type, rank);
            out(&exchange, part_at(all, own), part_length(all, own), all->type, rank);
        }
    int other = finish(&exchange);
    return error != MPI_SUCCESS ? error : other;
}

/* A copy of what is to be sent, for MPI_IN_PLACE: one row per rank. Owned by the caller: free. */
static char **rows_of(struct handle *communicator, const struct parts *parts)
{
    char **rows = memory((size_t)communicator->size, sizeof *rows);
    for (int rank = 0; rank < communicator->size; rank++) {
        struct payload part = {part_at(parts, rank), part_length(parts, rank),
                               part_type(parts, rank)};
        rows[rank] = memory(1, payload_bytes(&part));
        payload_pack(&part, rows[rank]);
    }
    return rows;
}

static int alltoall_in_place(struct handle *communicator, const struct parts *all)
{
    struct exchange exchange;
    char **rows = rows_of(communicator, all);
    begin(&exchange, communicator, TAG_ALLTOALL);
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != communicator->rank) {
            struct payload part = {part_at(all, rank), part_length(all, rank),
                                   part_type(all, rank)};
            in(&exchange, part.buffer, part.count, part.type, rank);
            out(&exchange, rows[rank], (int)payload_bytes(&part), MPI_BYTE, rank);
        }
    int error = finish(&exchange);
    for (int rank = 0; rank < communicator->size; rank++)
        free(rows[rank]);
    free(rows);
    return error;
}

static int alltoall(struct handle *communicator, const struct parts *to, const struct parts *from)
{
    struct exchange exchange;
    if (to->buffer == MPI_IN_PLACE)
        return alltoall_in_place(communicator, from);
    int own = communicator->rank;
    begin(&exchange, communicator, TAG_ALLTOALL);
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != own) {
            in(&exchange, part_at(from, rank), part_length(from, rank), part_type(from, rank),
               rank);
            out(&exchange, part_at(to, rank), part_length(to, rank), part_type(to, rank), rank);
        }
    int error = finish(&exchange);
    int copied = copy(part_at(to, own), part_length(to, own), part_type(to, own),
                      part_at(from, own), part_length(from, own), part_type(from, own));
    return error != MPI_SUCCESS ? error : copied;
}

/* What the ranks below have, combined, arrives in *before (ranks above 0); what they and this one
 * have goes on. result: of MPI_Scan; NULL for MPI_Exscan. */
static int chain(struct handle *communicator, const void *mine, void *before, void *sum, int count,
                 MPI_Datatype type, MPI_Op op)
{
    struct exchange exchange;
    begin(&exchange, communicator, TAG_SCAN);
    int error = copy(mine, count, type, sum, count, type);
    if (communicator->rank > 0) {
        in(&exchange, before, count, type, communicator->rank - 1);
        int received = finish(&exchange);
        error = error == MPI_SUCCESS ? received : error;
        if (error == MPI_SUCCESS)
            error = PMPI_Reduce_local(before, sum, count, type, op);
    }
    if (communicator->rank < communicator->size - 1)
        out(&exchange, sum, count, type, communicator->rank + 1);
    int sent = finish(&exchange);
    return error == MPI_SUCCESS ? sent : error;
}

static int scan(struct handle *communicator, const void *mine, void *result, int count,
                MPI_Datatype type, MPI_Op op, bool inclusive)
{
    char *owned, *owned_sum;
    void *before = room_for(count, type, &owned), *sum = room_for(count, type, &owned_sum);
    if (mine == MPI_IN_PLACE)
        mine = result;
    int error = chain(communicator, mine, before, sum, count, type, op);
    if (error == MPI_SUCCESS && inclusive)
        error = copy(sum, count, type, result, count, type);
    else if (error == MPI_SUCCESS && communicator->rank > 0)
        error = copy(before, count, type, result, count, type);
    free(owned);
    free(owned_sum);
    return error;
}

/* --- the calls -------------------------------------------------------------------------------- */

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    struct exchange exchange;
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    begin(&exchange, communicator, TAG_BARRIER);
    for (int rank = 0; rank < communicator->size; rank++)
        if (rank != communicator->rank) {
            in(&exchange, NULL, 0, MPI_BYTE, rank);
            out(&exchange, NULL, 0, MPI_BYTE, rank);
        }
    return finish(&exchange);
}

EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    return is_root(communicator, root) ? broadcast(communicator, buffer, count, datatype, root)
                                       : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    return is_root(communicator, root)
               ? reduce(communicator, mine, recvbuf, count, datatype, op, root)
               : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    int error = reduce(communicator, mine, recvbuf, count, datatype, op, 0);
    int other = broadcast(communicator, recvbuf, count, datatype, 0);
    return error != MPI_SUCCESS ? error : other;
}

EXPORTED int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    return is_root(communicator, root)
               ? gather(communicator, sendbuf, sendcount, sendtype, &all, root)
               : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = displs, .type = recvtype};
    return is_root(communicator, root)
               ? gather(communicator, sendbuf, sendcount, sendtype, &all, root)
               : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {.buffer = (void *)sendbuf, .length = sendcount, .type = sendtype};
    return is_root(communicator, root)
               ? scatter(communicator, &all, recvbuf, recvcount, recvtype, root)
               : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {
        .buffer = (void *)sendbuf, .lengths = sendcounts, .offsets = displs, .type = sendtype};
    return is_root(communicator, root)
               ? scatter(communicator, &all, recvbuf, recvcount, recvtype, root)
               : call_error(communicator, MPI_ERR_ROOT);
}

EXPORTED int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    return allgather(communicator, sendbuf, sendcount, sendtype, &all);
}

EXPORTED int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, const int recvcounts[], const int displs[],
                            MPI_Datatype recvtype, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts all = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = displs, .type = recvtype};
    return allgather(communicator, sendbuf, sendcount, sendtype, &all);
}

EXPORTED int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts to = {.buffer = (void *)sendbuf, .length = sendcount, .type = sendtype};
    struct parts from = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    return alltoall(communicator, &to, &from);
}

EXPORTED int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                           const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts to = {
        .buffer = (void *)sendbuf, .lengths = sendcounts, .offsets = sdispls, .type = sendtype};
    struct parts from = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = rdispls, .type = recvtype};
    return alltoall(communicator, &to, &from);
}

EXPORTED int MPI_Alltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                           const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                           const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts to = {
        .buffer = (void *)sendbuf, .lengths = sendcounts, .offsets = sdispls, .types = sendtypes};
    struct parts from = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = rdispls, .types = recvtypes};
    return alltoall(communicator, &to, &from);
}

EXPORTED int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    return communicator ? scan(communicator, sendbuf, recvbuf, count, datatype, op, true)
                        : MPI_ERR_COMM;
}

EXPORTED int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    return communicator ? scan(communicator, sendbuf, recvbuf, count, datatype, op, false)
                        : MPI_ERR_COMM;
}

/* Rank 0 combines all, each gets its part. */
static int reduce_scatter(struct handle *communicator, const void *mine, void *result,
                          int all_count, const struct parts *cut, MPI_Op op)
{
    char *owned;
    struct parts parts = *cut;
    parts.buffer = room_for(all_count, cut->type, &owned);
    int error = reduce(communicator, mine == MPI_IN_PLACE ? result : mine, parts.buffer, all_count,
                       cut->type, op, 0);
    int other =
        scatter(communicator, &parts, result, part_length(cut, communicator->rank), cut->type, 0);
    free(owned);
    return error != MPI_SUCCESS ? error : other;
}

EXPORTED int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct parts cut = {.length = recvcount, .type = datatype};
    return reduce_scatter(communicator, sendbuf, recvbuf, recvcount * communicator->size, &cut, op);
}

EXPORTED int MPI_Reduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct handle *communicator = begin_call(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    int all = 0, *offsets = memory((size_t)communicator->size, sizeof *offsets);
    for (int rank = 0; rank < communicator->size; rank++) {
        offsets[rank] = all;
        all += recvcounts[rank];
    }
    struct parts cut = {.lengths = recvcounts, .offsets = offsets, .type = datatype};
    int error = reduce_scatter(communicator, sendbuf, recvbuf, all, &cut, op);
    free(offsets);
    return error;
}
