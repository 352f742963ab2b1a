/* Calls in which data flows from all to all [C3, section 5.1]: MPI_Allgather(v), MPI_Alltoall(v,w),
 * MPI_Allreduce, MPI_Reduce_scatter(_block); and MPI_Scan and MPI_Exscan, in which it flows only to
 * higher ranks, but which the library can do with all members or not at all: so what holds for one
 * of them that a line runs through must hold for all, as here. Every rank learns where every other
 * stands. Must not know: the log. */
#include "c3/collectives/collective.h"

#include <stdlib.h>

enum exchange_kind {
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    ALLTOALLW,
    ALLREDUCE,
    REDUCE_SCATTER,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN
};

/* One call as its wrapper was given it. */
struct exchange {
    enum exchange_kind kind;
    struct parts mine; /* what is sent: of an allgather one piece; buffer: MPI_IN_PLACE allowed */
    struct parts all;  /* what is received: of a reduction one piece */
    MPI_Op op;
};

/* --- with the bits in front of the data ------------------------------------------------------- */

/* The own piece goes from its place in the row to all others. */
static int allgather_together(struct collective *call, const struct exchange *exchange)
{
    struct rows in = rows_for(ROWS_IN, &exchange->all);
    bool in_place = exchange->mine.buffer == MPI_IN_PLACE;
    struct rows own = {.bytes = in.bytes, .length = in.length, .offset = &in.offset[call->rank]};
    int error =
        in_place ? rows_put(&in, &exchange->all, call->rank) : rows_put(&own, &exchange->mine, 0);
    if (error == MPI_SUCCESS && exchange->kind == ALLGATHER)
        error = PMPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.bytes, in.length[0], MPI_BYTE,
                               call->real);
    else if (error == MPI_SUCCESS)
        error = PMPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, in.bytes, in.length, in.offset,
                                MPI_BYTE, call->real);
    if (error == MPI_SUCCESS)
        error = rows_take_all(&in, &exchange->all, in_place ? call->rank : -1, call->bits);
    return error;
}

static int alltoallw_rows(struct collective *call, const struct rows *out, const struct rows *in)
{
    MPI_Datatype *types = memory((size_t)call->size, sizeof(MPI_Datatype));
    for (int rank = 0; rank < call->size; rank++)
        types[rank] = MPI_BYTE;
    int error = PMPI_Alltoallw(out->bytes, out->length, out->offset, types, in->bytes, in->length,
                               in->offset, types, call->real);
    free(types);
    return error;
}

static int alltoall_together(struct collective *call, const struct exchange *exchange)
{
    const struct parts *mine =
        exchange->mine.buffer == MPI_IN_PLACE ? &exchange->all : &exchange->mine;
    struct rows out = rows_for(ROWS_OUT, mine), in = rows_for(ROWS_IN, &exchange->all);
    int error = rows_put_all(&out, mine);
    if (error != MPI_SUCCESS)
        return error;
    if (exchange->kind == ALLTOALL)
        error = PMPI_Alltoall(out.bytes, out.length[0], MPI_BYTE, in.bytes, in.length[0], MPI_BYTE,
                              call->real);
    else if (exchange->kind == ALLTOALLV)
        error = PMPI_Alltoallv(out.bytes, out.length, out.offset, MPI_BYTE, in.bytes, in.length,
                               in.offset, MPI_BYTE, call->real);
    else
        error = alltoallw_rows(call, &out, &in);
    return error == MPI_SUCCESS ? rows_take_all(&in, &exchange->all, -1, call->bits) : error;
}

/* --- with the bits in a call of their own ----------------------------------------------------- */

static int gather_data(struct collective *call, const struct exchange *exchange)
{
    const struct parts *mine = &exchange->mine, *all = &exchange->all;
    switch (exchange->kind) {
    case ALLGATHER:
        return PMPI_Allgather(mine->buffer, mine->length, mine->type, all->buffer, all->length,
                              all->type, call->real);
    case ALLGATHERV:
        return PMPI_Allgatherv(mine->buffer, mine->length, mine->type, all->buffer, all->lengths,
                               all->offsets, all->type, call->real);
    case ALLTOALL:
        return PMPI_Alltoall(mine->buffer, mine->length, mine->type, all->buffer, all->length,
                             all->type, call->real);
    case ALLTOALLV:
        return PMPI_Alltoallv(mine->buffer, mine->lengths, mine->offsets, mine->type, all->buffer,
                              all->lengths, all->offsets, all->type, call->real);
    default:
        return PMPI_Alltoallw(mine->buffer, mine->lengths, mine->offsets, mine->types, all->buffer,
                              all->lengths, all->offsets, all->types, call->real);
    }
}

/* Of a reduction that gives this rank a part, `mine` says how the whole is cut. */
static int reduce_data(struct collective *call, const struct exchange *exchange)
{
    const struct parts *mine = &exchange->mine, *all = &exchange->all;
    switch (exchange->kind) {
    case ALLREDUCE:
        return PMPI_Allreduce(mine->buffer, all->buffer, mine->length, mine->type, exchange->op,
                              call->real);
    case REDUCE_SCATTER:
        return PMPI_Reduce_scatter(mine->buffer, all->buffer, mine->lengths, mine->type,
                                   exchange->op, call->real);
    case REDUCE_SCATTER_BLOCK:
        return PMPI_Reduce_scatter_block(mine->buffer, all->buffer, mine->length, mine->type,
                                         exchange->op, call->real);
    case SCAN:
        return PMPI_Scan(mine->buffer, all->buffer, mine->length, mine->type, exchange->op,
                         call->real);
    default:
        return PMPI_Exscan(mine->buffer, all->buffer, mine->length, mine->type, exchange->op,
                           call->real);
    }
}

static int exchange_apart(struct collective *call, const struct exchange *exchange)
{
    int error = bits_allgather(call->communicator, call->bits);
    if (error != MPI_SUCCESS)
        return error;
    return exchange->kind < ALLREDUCE ? gather_data(call, exchange) : reduce_data(call, exchange);
}

/* --- the call --------------------------------------------------------------------------------- */

/* In MPI_Alltoallv and MPI_Alltoallw nobody knows how much all send together. The bits are one of
 * each rank, so they cannot ride on what a reduction makes of the data. */
static bool is_together(const struct collective *call, const struct exchange *exchange)
{
    if (call->size == 1 || exchange->kind >= ALLREDUCE)
        return false;
    if (exchange->kind == ALLTOALLV || exchange->kind == ALLTOALLW)
        return bits_ride_always();
    return bits_ride_on(parts_bytes(&exchange->all));
}

static int perform(struct collective *call, const struct exchange *exchange)
{
    if (!is_together(call, exchange))
        return exchange_apart(call, exchange);
    return exchange->kind < ALLTOALL ? allgather_together(call, exchange)
                                     : alltoall_together(call, exchange);
}

static int among_all(struct collective *call, const struct exchange *exchange)
{
    collective_number(call);
    if (collective_replayed(call, &exchange->all))
        return MPI_SUCCESS;
    return collective_was_exchanged(call, &exchange->all, perform(call, exchange));
}

/* The whole of a function: `parameters` in parentheses are those ahead of the communicator, the
 * rest describes the exchange. */
#define LIST(...) __VA_ARGS__
#define EXCHANGE(function, parameters, ...)                                                        \
    EXPORTED int function(LIST parameters, MPI_Comm comm)                                          \
    {                                                                                              \
        struct collective call;                                                                    \
        if (!collective_begin(&call, comm))                                                        \
            return MPI_ERR_COMM;                                                                   \
        struct exchange exchange = {__VA_ARGS__};                                                  \
        return among_all(&call, &exchange);                                                        \
    }

static struct parts equal(const void *buffer, int pieces, int length, MPI_Datatype type)
{
    return (struct parts){
        .buffer = (void *)buffer, .pieces = pieces, .length = length, .type = type};
}

static struct parts varying(const void *buffer, int pieces, const int *lengths, const int *offsets,
                            MPI_Datatype type)
{
    return (struct parts){.buffer = (void *)buffer,
                          .pieces = pieces,
                          .lengths = lengths,
                          .offsets = offsets,
                          .type = type};
}

static struct parts typed(const void *buffer, int pieces, const int *lengths, const int *offsets,
                          const MPI_Datatype *types)
{
    return (struct parts){.buffer = (void *)buffer,
                          .pieces = pieces,
                          .lengths = lengths,
                          .offsets = offsets,
                          .types = types};
}

EXCHANGE(MPI_Allgather,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype),
         .kind = ALLGATHER, .mine = one_part((void *)sendbuf, sendcount, sendtype),
         .all = equal(recvbuf, call.size, recvcount, recvtype))

EXCHANGE(MPI_Allgatherv,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
          const int recvcounts[], const int displs[], MPI_Datatype recvtype),
         .kind = ALLGATHERV, .mine = one_part((void *)sendbuf, sendcount, sendtype),
         .all = varying(recvbuf, call.size, recvcounts, displs, recvtype))

EXCHANGE(MPI_Alltoall,
         (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
          MPI_Datatype recvtype),
         .kind = ALLTOALL, .mine = equal(sendbuf, call.size, sendcount, sendtype),
         .all = equal(recvbuf, call.size, recvcount, recvtype))

EXCHANGE(MPI_Alltoallv,
         (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
          void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype),
         .kind = ALLTOALLV, .mine = varying(sendbuf, call.size, sendcounts, sdispls, sendtype),
         .all = varying(recvbuf, call.size, recvcounts, rdispls, recvtype))

EXCHANGE(MPI_Alltoallw,
         (const void *sendbuf, const int sendcounts[], const int sdispls[],
          const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
          const int rdispls[], const MPI_Datatype recvtypes[]),
         .kind = ALLTOALLW, .mine = typed(sendbuf, call.size, sendcounts, sdispls, sendtypes),
         .all = typed(recvbuf, call.size, recvcounts, rdispls, recvtypes))

EXCHANGE(MPI_Reduce_scatter,
         (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype,
          MPI_Op op),
         .kind = REDUCE_SCATTER, .mine = varying(sendbuf, call.size, recvcounts, NULL, datatype),
         .all = one_part(recvbuf, recvcounts[call.rank], datatype), .op = op)

/* A reduction of `count` elements whose result each rank gets whole. */
static int reduce_among_all(enum exchange_kind kind, const void *sendbuf, void *recvbuf, int count,
                            MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    struct collective call;
    if (!collective_begin(&call, comm))
        return MPI_ERR_COMM;
    struct exchange exchange = {
        .kind = kind,
        .mine = one_part((void *)sendbuf, count, datatype),
        .all = one_part(recvbuf, count, datatype),
        .op = op,
    };
    if (kind == EXSCAN && call.rank == 0)
        exchange.all.pieces = 0; /* it gets nothing */
    return among_all(&call, &exchange);
}

EXPORTED int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                           MPI_Op op, MPI_Comm comm)
{
    return reduce_among_all(ALLREDUCE, sendbuf, recvbuf, count, datatype, op, comm);
}

EXPORTED int MPI_Scan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                      MPI_Op op, MPI_Comm comm)
{
    return reduce_among_all(SCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

EXPORTED int MPI_Exscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, MPI_Comm comm)
{
    return reduce_among_all(EXSCAN, sendbuf, recvbuf, count, datatype, op, comm);
}

EXPORTED int MPI_Reduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                      MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    return reduce_among_all(REDUCE_SCATTER_BLOCK, sendbuf, recvbuf, recvcount, datatype, op, comm);
}
