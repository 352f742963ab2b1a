/* Calls in which data flows from a root to all others [C3, section 5.3]: MPI_Bcast, MPI_Scatter,
 * MPI_Scatterv. Every receiver learns where the root stands. Must not know: the log. */
#include "c3/collectives/collective.h"

/* One call as its wrapper was given it. Of MPI_Bcast `mine` is the data at the root too. */
struct spread {
    enum reexec_kind kind;
    struct parts all; /* at the root */
    void *mine;       /* MPI_IN_PLACE at the root of a scatter */
    int count;
    MPI_Datatype type;
    int root;
};

/* --- with the bits in front of the data ------------------------------------------------------- */

static int broadcast_together(struct collective *call, const struct spread *spread)
{
    struct parts data = one_part(spread->mine, spread->count, spread->type);
    struct rows row = rows_for(ROWS_OUT, &data);
    int error = MPI_SUCCESS;
    if (call->rank == spread->root)
        error = rows_put(&row, &data, 0);
    if (error == MPI_SUCCESS)
        error = PMPI_Bcast(row.bytes, row.length[0], MPI_BYTE, spread->root, call->real);
    if (error == MPI_SUCCESS && call->rank != spread->root)
        error = rows_take(&row, &data, 0, &call->bits[spread->root]);
    return error;
}

static int scatter_rows(struct collective *call, const struct spread *spread,
                        const struct rows *out, const struct rows *in)
{
    void *to =
        call->rank == spread->root && spread->mine == MPI_IN_PLACE ? MPI_IN_PLACE : in->bytes;
    if (spread->kind == REEXEC_SCATTER)
        return PMPI_Scatter(out->bytes, in->length[0], MPI_BYTE, to, in->length[0], MPI_BYTE,
                            spread->root, call->real);
    return PMPI_Scatterv(out->bytes, out->length, out->offset, MPI_BYTE, to, in->length[0],
                         MPI_BYTE, spread->root, call->real);
}

static int scatter_together(struct collective *call, const struct spread *spread)
{
    bool is_root = call->rank == spread->root;
    struct parts mine = one_part(spread->mine, spread->count, spread->type);
    struct rows out = {0};
    int error = MPI_SUCCESS;
    if (is_root) {
        out = rows_for(ROWS_OUT, &spread->all);
        error = rows_put_all(&out, &spread->all);
        if (spread->mine == MPI_IN_PLACE)
            mine = one_part(NULL, out.length[call->rank] - (int)BITS_BYTES, MPI_BYTE);
    }
    struct rows in = rows_for(ROWS_IN, &mine);
    if (error == MPI_SUCCESS)
        error = scatter_rows(call, spread, &out, &in);
    if (error == MPI_SUCCESS && spread->mine != MPI_IN_PLACE)
        error = rows_take(&in, &mine, 0, &call->bits[spread->root]);
    return error;
}

/* --- with the bits in a call of their own ----------------------------------------------------- */

static int spread_data(struct collective *call, const struct spread *spread)
{
    const struct parts *all = &spread->all;
    switch (spread->kind) {
    case REEXEC_BCAST:
        return PMPI_Bcast(spread->mine, spread->count, spread->type, spread->root, call->real);
    case REEXEC_SCATTER:
        return PMPI_Scatter(all->buffer, all->length, all->type, spread->mine, spread->count,
                            spread->type, spread->root, call->real);
    case REEXEC_SCATTERV:
        return PMPI_Scatterv(all->buffer, all->lengths, all->offsets, all->type, spread->mine,
                             spread->count, spread->type, spread->root, call->real);
    default:
        return MPI_ERR_INTERN; /* not blocking */
    }
}

static int spread_apart(struct collective *call, const struct spread *spread)
{
    int error = bits_broadcast(call->communicator, spread->root, &call->bits[spread->root]);
    return error == MPI_SUCCESS ? spread_data(call, spread) : error;
}

/* --- the call --------------------------------------------------------------------------------- */

/* In MPI_Scatterv a receiver does not know how much the others get. */
static bool is_together(const struct collective *call, const struct spread *spread)
{
    if (call->size == 1)
        return false;
    if (spread->kind == REEXEC_SCATTERV)
        return bits_ride_always();
    if (spread->kind == REEXEC_SCATTER && call->rank == spread->root)
        return bits_ride_on(part_bytes(&spread->all, call->rank));
    struct payload mine = {NULL, spread->count, spread->type};
    return bits_ride_on(payload_bytes(&mine));
}

static int perform(struct collective *call, const struct spread *spread)
{
    if (!is_together(call, spread))
        return spread_apart(call, spread);
    return spread->kind == REEXEC_BCAST ? broadcast_together(call, spread)
                                        : scatter_together(call, spread);
}

static int to_all(MPI_Comm comm, struct spread *spread)
{
    struct collective call;
    if (!collective_begin(&call, comm))
        return MPI_ERR_COMM;
    spread->all.pieces = call.size;
    if (!collective_has_root(&call, spread->root))
        return spread_data(&call, spread);
    collective_number(&call);
    if (call.rank == spread->root)
        return collective_was_sent(&call, perform(&call, spread));
    struct parts result = one_part(spread->mine, spread->count, spread->type);
    if (collective_replayed(&call, &result))
        return MPI_SUCCESS;
    struct reexec reexec = {spread->kind,  call.communicator, spread->root,
                            spread->count, spread->type,      reexec_next()};
    int error = perform(&call, spread);
    return collective_came_from_root(&call, spread->root, &result, &reexec, error);
}

int reexec_perform(const struct reexec *reexec, void *buffer)
{
    struct collective call;
    struct spread spread = {.kind = reexec->kind,
                            .mine = buffer,
                            .count = reexec->count,
                            .type = reexec->type,
                            .root = reexec->root};
    collective_begin_on(&call, reexec->communicator);
    return perform(&call, &spread);
}

EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    struct spread spread = {
        .kind = REEXEC_BCAST, .mine = buffer, .count = count, .type = datatype, .root = root};
    return to_all(comm, &spread);
}

EXPORTED int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct spread spread = {
        .kind = REEXEC_SCATTER,
        .all = {.buffer = (void *)sendbuf, .length = sendcount, .type = sendtype},
        .mine = recvbuf,
        .count = recvcount,
        .type = recvtype,
        .root = root,
    };
    return to_all(comm, &spread);
}

EXPORTED int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                          MPI_Datatype sendtype, void *recvbuf, int recvcount,
                          MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    struct spread spread = {
        .kind = REEXEC_SCATTERV,
        .all = {.buffer = (void *)sendbuf,
                .lengths = sendcounts,
                .offsets = displs,
                .type = sendtype},
        .mine = recvbuf,
        .count = recvcount,
        .type = recvtype,
        .root = root,
    };
    return to_all(comm, &spread);
}
