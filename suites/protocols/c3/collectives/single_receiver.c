/* Calls in which data flows from all to a root [C3, section 5.2]: MPI_Gather, MPI_Gatherv,
 * MPI_Reduce. The root learns where each sender stands; after recovery a sender learns from the
 * root's suppressList that it is not to send. Must not know: the log. */
#include "c3/collectives/collective.h"

enum gather_kind { GATHER, GATHERV, REDUCE };

/* One call as its wrapper was given it. Of MPI_Reduce `all` is the result, in one piece. */
struct collection {
    enum gather_kind kind;
    const void *mine; /* MPI_IN_PLACE at the root */
    int count;
    MPI_Datatype type;
    struct parts all; /* at the root */
    MPI_Op op;
    int root;
};

/* --- with the bits in front of the data ------------------------------------------------------- */

static int gather_rows(struct collective *call, const struct collection *collection,
                       const struct rows *out, const struct rows *in)
{
    const void *from = collection->mine == MPI_IN_PLACE ? MPI_IN_PLACE : out->bytes;
    int bytes = collection->mine == MPI_IN_PLACE ? in->length[call->rank] : out->length[0];
    if (collection->kind == GATHER)
        return PMPI_Gather(from, bytes, MPI_BYTE, in->bytes, bytes, MPI_BYTE, collection->root,
                           call->real);
    return PMPI_Gatherv(from, bytes, MPI_BYTE, in->bytes, in->length, in->offset, MPI_BYTE,
                        collection->root, call->real);
}

static int gather_together(struct collective *call, const struct collection *collection)
{
    bool is_root = call->rank == collection->root, in_place = collection->mine == MPI_IN_PLACE;
    struct parts mine = one_part((void *)collection->mine, collection->count, collection->type);
    struct rows out = {0}, in = {0};
    int error = MPI_SUCCESS;
    if (!in_place) {
        out = rows_for(ROWS_OUT, &mine);
        error = rows_put(&out, &mine, 0);
    }
    if (is_root)
        in = rows_for(ROWS_IN, &collection->all);
    if (is_root && in_place) /* nobody takes it from there, but it is what the root sends */
        error = rows_put(&in, &collection->all, call->rank);
    if (error == MPI_SUCCESS)
        error = gather_rows(call, collection, &out, &in);
    if (error == MPI_SUCCESS && is_root)
        error = rows_take_all(&in, &collection->all, in_place ? call->rank : -1, call->bits);
    return error;
}

/* --- with the bits in a call of their own ----------------------------------------------------- */

static int collect_data(struct collective *call, const struct collection *collection)
{
    const struct parts *all = &collection->all;
    switch (collection->kind) {
    case GATHER:
        return PMPI_Gather(collection->mine, collection->count, collection->type, all->buffer,
                           all->length, all->type, collection->root, call->real);
    case GATHERV:
        return PMPI_Gatherv(collection->mine, collection->count, collection->type, all->buffer,
                            all->lengths, all->offsets, all->type, collection->root, call->real);
    case REDUCE:
        return PMPI_Reduce(collection->mine, all->buffer, collection->count, collection->type,
                           collection->op, collection->root, call->real);
    }
    return MPI_ERR_INTERN;
}

static int collect_apart(struct collective *call, const struct collection *collection)
{
    int error = bits_gather(call->communicator, collection->root, call->bits);
    return error == MPI_SUCCESS ? collect_data(call, collection) : error;
}

/* --- the call --------------------------------------------------------------------------------- */

/* In MPI_Gatherv a sender does not know how much the others send. The bits are one of each rank, so
 * they cannot ride on what MPI_Reduce makes of the data. */
static bool is_together(const struct collective *call, const struct collection *collection)
{
    if (call->size == 1 || collection->kind == REDUCE)
        return false;
    if (collection->kind == GATHERV)
        return bits_ride_always();
    if (call->rank == collection->root)
        return bits_ride_on(part_bytes(&collection->all, call->rank));
    struct payload mine = {NULL, collection->count, collection->type};
    return bits_ride_on(payload_bytes(&mine));
}

static int to_root(MPI_Comm comm, struct collection *collection)
{
    struct collective call;
    if (!collective_begin(&call, comm))
        return MPI_ERR_COMM;
    if (collection->kind != REDUCE)
        collection->all.pieces = call.size;
    if (!collective_has_root(&call, collection->root))
        return collect_data(&call, collection);
    collective_number(&call);
    bool is_root = call.rank == collection->root;
    if (is_root ? collective_replayed(&call, &collection->all)
                : collective_suppressed(&call, collection->root))
        return MPI_SUCCESS;
    int error = is_together(&call, collection) ? gather_together(&call, collection)
                                               : collect_apart(&call, collection);
    return is_root ? collective_came_from_all(&call, &collection->all, error)
                   : collective_was_sent_to_root(&call, collection->root, error);
}

EXPORTED int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                        int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct collection collection = {
        .kind = GATHER,
        .mine = sendbuf,
        .count = sendcount,
        .type = sendtype,
        .all = {.buffer = recvbuf, .length = recvcount, .type = recvtype},
        .root = root,
    };
    return to_root(comm, &collection);
}

EXPORTED int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                         int root, MPI_Comm comm)
{
    struct collection collection = {
        .kind = GATHERV,
        .mine = sendbuf,
        .count = sendcount,
        .type = sendtype,
        .all = {.buffer = recvbuf, .lengths = recvcounts, .offsets = displs, .type = recvtype},
        .root = root,
    };
    return to_root(comm, &collection);
}

EXPORTED int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                        MPI_Op op, int root, MPI_Comm comm)
{
    struct collection collection = {
        .kind = REDUCE,
        .mine = sendbuf,
        .count = count,
        .type = datatype,
        .all = one_part(recvbuf, count, datatype),
        .op = op,
        .root = root,
    };
    return to_root(comm, &collection);
}
