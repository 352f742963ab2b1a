/* See kept.h. */
#include "c3/collectives/kept.h"

#include "c3/calls.h"
#include "c3/collectives/nonblocking.h"
#include "c3/collectives/operations.h"
#include "common/communicators/types.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

struct kept {
    struct described call; /* arrays and datatypes are owned */
    struct bytes written;  /* the same without its buffers; owned */
    uint64_t operation;    /* operation_number of the call's */
    uint64_t over;         /* id of the program's communicator, which it may free */
};

/* --- arguments, written and read -------------------------------------------------------------- */

static void write_side(const struct parts *side, struct bytes *out)
{
    size_t row = (size_t)side->pieces * sizeof(int);
    int types = side->types ? side->pieces : 1;
    bytes_put_number(out, side->buffer == MPI_IN_PLACE);
    bytes_put_number(out, (uint64_t)side->pieces);
    bytes_put_number(out, (uint64_t)side->length);
    bytes_put_row(out, side->lengths, side->lengths ? row : 0);
    bytes_put_row(out, side->offsets, side->offsets ? row : 0);
    bytes_put_number(out, side->types != NULL);
    for (int i = 0; i < types; i++) {
        struct error error;
        must(type_write(side->types ? side->types[i] : side->type, out, &error), &error);
    }
}

static void write_call(const struct described *call, struct bytes *out)
{
    bytes_put_number(out, call->kind);
    bytes_put_number(out, (uint64_t)call->root);
    write_side(&call->given, out);
    write_side(&call->got, out);
    if (out->failed)
        die("out of memory for the arguments of a persistent collective request");
}

/* NULL: none was written. */
static int *read_row(struct reader *in)
{
    struct reader row = reader_row(in);
    int *numbers = row.left > 0 ? memory(1, row.left) : NULL;
    if (numbers)
        memcpy(numbers, row.next, row.left);
    return numbers;
}

static void read_side(struct reader *in, struct parts *side)
{
    struct error error;
    *side = (struct parts){.buffer = reader_number(in) ? MPI_IN_PLACE : NULL, .type = MPI_BYTE};
    side->pieces = (int)reader_number(in);
    side->length = (int)reader_number(in);
    side->lengths = read_row(in);
    side->offsets = read_row(in);
    bool typed = reader_number(in) != 0;
    MPI_Datatype *types = typed ? memory((size_t)side->pieces, sizeof *types) : &side->type;
    for (int i = 0; i < (typed ? side->pieces : 1); i++)
        must(type_read(in, &types[i], &error), &error);
    side->types = typed ? types : NULL;
}

static void read_call(struct reader in, struct described *call)
{
    call->kind = (enum described_kind)reader_number(&in);
    call->root = (int)reader_number(&in);
    if (!in.failed && call->kind < DESCRIBED_KINDS) {
        read_side(&in, &call->given);
        read_side(&in, &call->got);
    }
    if (in.failed || call->kind >= DESCRIBED_KINDS)
        die("the arguments of a persistent collective request are damaged");
}

static void release_side(struct parts *side)
{
    MPI_Datatype *types = (MPI_Datatype *)side->types;
    for (int i = 0; types && i < side->pieces; i++)
        type_release(&types[i]);
    type_release(&side->type);
    free(types);
    free((int *)side->lengths);
    free((int *)side->offsets);
}

/* --- making and starting ---------------------------------------------------------------------- */

static void keep(struct request *request, const void *written, size_t bytes)
{
    request->kept = memory(1, sizeof *request->kept);
    bytes_put(&request->kept->written, written, bytes);
    read_call((struct reader){.next = written, .left = bytes}, &request->kept->call);
    request->persistent = true;
}

int kept_init(const struct described *call, MPI_Comm comm, MPI_Request *handle)
{
    MPI_Comm own;
    struct described settled = *call;
    struct bytes written = {0};
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    if (described_flow(call) != FLOW_AMONG_ALL &&
        (call->root < 0 || call->root >= communicator->size))
        return call_error(communicator, MPI_ERR_ROOT);
    int error = MPI_Comm_split(comm, 0, communicator->rank, &own);
    if (error != MPI_SUCCESS)
        return error;
    described_settle(&settled, communicator->rank, communicator->size);
    write_call(&settled, &written);
    struct request *request = request_new(REQUEST_COLLECTIVE);
    request->communicator = handles_of(own);
    request->active = false;
    keep(request, written.data, written.size);
    request->kept->call.given.buffer = settled.given.buffer;
    request->kept->call.got.buffer = settled.got.buffer;
    request->kept->over = communicator->id;
    request->kept->operation = operation_number(settled.op);
    bytes_release(&written);
    *handle = request_handle(request);
    return MPI_SUCCESS;
}

int kept_start(struct request *request)
{
    request->kept->call.op = operation_of(request->kept->operation);
    return nonblocking_start(request, &request->kept->call);
}

void kept_free(struct request *request)
{
    MPI_Comm own = request->communicator->user;
    release_side(&request->kept->call.given);
    release_side(&request->kept->call.got);
    bytes_release(&request->kept->written);
    free(request->kept);
    request->kept = NULL;
    MPI_Comm_free(&own);
}

/* --- the checkpoint --------------------------------------------------------------------------- */

/* Where the bytes of a side lie: a piece of the state by its number, or: */
#define SIDE_IS_EMPTY UINT64_MAX
#define SIDE_IS_LOST (UINT64_MAX - 1)

/* The span of all pieces that have bytes. false: none has. */
static bool span_of(const struct parts *side, char **first, uint64_t *bytes)
{
    char *begin = NULL, *end = NULL;
    for (int i = 0; i < side->pieces; i++) {
        char *low;
        uint64_t length;
        struct payload one = part(side, i);
        if (payload_bytes(&one) == 0)
            continue;
        payload_span(&one, &low, &length);
        begin = !end || low < begin ? low : begin;
        end = !end || low + length > end ? low + length : end;
    }
    *first = begin;
    *bytes = (uint64_t)(end - begin);
    return end != NULL;
}

static void save_place(const struct parts *side, struct bytes *out)
{
    char *first;
    uint64_t bytes, piece = SIDE_IS_EMPTY, offset = 0;
    if (side->buffer != MPI_IN_PLACE && span_of(side, &first, &bytes)) {
        int found = side->buffer == MPI_BOTTOM ? -1 : state_around(&self.state, first, bytes);
        piece = found < 0 ? SIDE_IS_LOST : (uint64_t)found;
        if (found >= 0)
            offset = (uint64_t)((char *)side->buffer - (char *)self.state.piece[found].data);
    }
    bytes_put_number(out, piece);
    bytes_put_number(out, offset);
}

void kept_save(const struct request *request, struct bytes *out)
{
    const struct kept *kept = request->kept;
    bytes_put_row(out, kept->written.data, kept->written.size);
    bytes_put_number(out, kept->over);
    bytes_put_number(out, kept->operation);
    save_place(&kept->call.given, out);
    save_place(&kept->call.got, out);
}

static void restore_place(struct request *request, struct parts *side, struct reader *in)
{
    uint64_t piece = reader_number(in), offset = reader_number(in);
    if (piece == SIDE_IS_LOST)
        request->lost_buffer = true;
    else if (piece < self.state.count)
        side->buffer = (char *)self.state.piece[piece].data + offset;
}

void kept_restore(struct request *request, struct reader in)
{
    struct reader written = reader_row(&in);
    keep(request, written.next, written.left);
    request->kept->over = reader_number(&in);
    request->kept->operation = reader_number(&in);
    restore_place(request, &request->kept->call.given, &in);
    restore_place(request, &request->kept->call.got, &in);
    if (in.failed)
        die("a persistent collective request of the checkpoint is damaged");
}

/* --- Faultline -------------------------------------------------------------------------------- */

static const char *const functions[DESCRIBED_KINDS] = {
    [DESCRIBED_BCAST] = "MPI_Bcast_init",
    [DESCRIBED_SCATTER] = "MPI_Scatter_init",
    [DESCRIBED_SCATTERV] = "MPI_Scatterv_init",
    [DESCRIBED_GATHER] = "MPI_Gather_init",
    [DESCRIBED_GATHERV] = "MPI_Gatherv_init",
    [DESCRIBED_REDUCE] = "MPI_Reduce_init",
    [DESCRIBED_ALLGATHER] = "MPI_Allgather_init",
    [DESCRIBED_ALLGATHERV] = "MPI_Allgatherv_init",
    [DESCRIBED_ALLTOALL] = "MPI_Alltoall_init",
    [DESCRIBED_ALLTOALLV] = "MPI_Alltoallv_init",
    [DESCRIBED_ALLTOALLW] = "MPI_Alltoallw_init",
    [DESCRIBED_ALLREDUCE] = "MPI_Allreduce_init",
    [DESCRIBED_REDUCE_SCATTER] = "MPI_Reduce_scatter_init",
    [DESCRIBED_REDUCE_SCATTER_BLOCK] = "MPI_Reduce_scatter_block_init",
    [DESCRIBED_SCAN] = "MPI_Scan_init",
    [DESCRIBED_EXSCAN] = "MPI_Exscan_init",
    [DESCRIBED_BARRIER] = "MPI_Barrier_init",
};

static struct faultline_side side_for_note(const struct parts *side)
{
    return (struct faultline_side){.buffer = side->buffer,
                                   .count = side->length,
                                   .datatype = (uint64_t)side->type,
                                   .counts = side->lengths,
                                   .displacements = side->offsets,
                                   .datatypes = side->types};
}

void kept_note(const struct request *request)
{
    const struct described *call = &request->kept->call;
    const struct handle *over = handles_by_id(request->kept->over);
    struct faultline_collective noted = {.call = functions[call->kind],
                                         .root = call->root,
                                         .sent = side_for_note(&call->given),
                                         .received = side_for_note(&call->got)};
    if (call->kind == DESCRIBED_BCAST)
        noted.sent = noted.received;
    if (call->kind == DESCRIBED_REDUCE_SCATTER)
        noted.received.counts = noted.sent.counts;
    faultline_brought_back(&(struct faultline_request){
        .handle = HANDLE_BITS(request_handle_of(request)),
        .comm = (uint64_t)(over ? over->user : MPI_COMM_NULL),
        .persistent = true,
        .collective = &noted,
    });
}
