/* See pending.h. */
#include "c3/pending.h"

#include "c3/collectives/kept.h"
#include "c3/transfer.h"
#include "common/communicators/types.h"
#include "faultline.h"

#include <inttypes.h>
#include <string.h>

/* As in the file; after it the datatype, or what a collective one keeps. */
struct stored {
    int32_t number; /* of the handle */
    int32_t kind;
    int32_t mode;
    int32_t persistent;
    int32_t active;
    int32_t cancel; /* NOT_CANCELLED and so on */
    int32_t count;
    int32_t peer;
    int32_t tag;
    int32_t piece;   /* of the state, that the buffer lies in; NO_PIECE */
    uint64_t offset; /* of the buffer in it */
    uint64_t place;  /* receives and messages */
    uint64_t bytes;  /* messages: as probed */
    uint64_t handle; /* id of the communicator */
};
#define NO_PIECE (-1)

static bool is_used(const struct request *request)
{
    return request->kind == REQUEST_RECEIVE || request->persistent;
}

/* Finds the piece of registered state in which all of the payload lies. */
static void locate(const struct payload *payload, struct stored *stored)
{
    char *first;
    uint64_t bytes;
    payload_span(payload, &first, &bytes);
    stored->piece = state_around(&self.state, first, bytes);
    if (stored->piece >= 0)
        stored->offset =
            (uint64_t)((char *)payload->buffer - (char *)self.state.piece[stored->piece].data);
}

/* The datatype, or what a persistent collective one keeps. The caller releases them. */
static struct bytes details_of(const struct request *request)
{
    struct bytes details = {0};
    struct error error;
    if (request->kind == REQUEST_COLLECTIVE)
        kept_save(request, &details);
    else if (is_used(request))
        must(type_write(request->payload.type, &details, &error), &error);
    return details;
}

enum { NOT_CANCELLED, CANCEL_ASKED, IS_CANCELLED };

/* How far MPI_Cancel has come. */
static int32_t cancel_of(struct request *request)
{
    if (!request->cancel)
        return NOT_CANCELLED;
    transfer_is_in(request);
    return transfer_is_cancelled(request) ? IS_CANCELLED : CANCEL_ASKED;
}

static struct stored describe(struct request *request)
{
    MPI_Status status;
    MPI_Count bytes = 0;
    struct stored stored = {.number = request->number,
                            .kind = (int32_t)request->kind,
                            .mode = (int32_t)request->mode,
                            .persistent = request->persistent,
                            .active = request->active,
                            .cancel = cancel_of(request),
                            .count = request->payload.count,
                            .peer = request->peer,
                            .tag = request->tag,
                            .piece = NO_PIECE,
                            .place = request->place,
                            .handle = request->communicator->id};
    if (request->kind == REQUEST_MESSAGE) {
        transfer_describe(request, &status);
        PMPI_Get_elements_x(&status, MPI_BYTE, &bytes);
        stored.bytes = (uint64_t)bytes;
    }
    if (is_used(request) && request->payload.buffer != MPI_BOTTOM)
        locate(&request->payload, &stored);
    return stored;
}

static void put(struct bytes *out, struct request *request)
{
    struct stored stored = describe(request);
    struct bytes details = details_of(request);
    if (stored.piece == NO_PIECE && request->active && request->kind == REQUEST_RECEIVE &&
        request->peer != MPI_PROC_NULL && payload_bytes(&request->payload) > 0)
        refuse("a receive that is pending at a checkpoint and whose buffer is not in registered "
               "state",
               "buffers that lie in one registered piece");
    bytes_put(out, &stored, sizeof stored);
    bytes_put_row(out, details.data, details.size);
    bytes_release(&details);
}

/* Receives and messages in the order of their places, as they are to be posted again; then the
 * others. */
void pending_save(struct bytes *out)
{
    for (struct request *one = requests_pending(); one; one = one->after)
        if (one->number > 0)
            put(out, one);
    for (struct request *one = request_after(0); one; one = request_after(one->number))
        if (one->kind == REQUEST_SEND || one->kind == REQUEST_COLLECTIVE ||
            (one->kind == REQUEST_RECEIVE && !one->active))
            put(out, one);
}

/* --- made again ------------------------------------------------------------------------------- */

static void place_buffer(const struct stored *stored, struct request *request)
{
    request->lost_buffer |= stored->piece == NO_PIECE && stored->count > 0;
    if (stored->piece == NO_PIECE)
        return;
    if (stored->piece < 0 || (size_t)stored->piece >= self.state.count)
        die("the checkpoint holds a request whose buffer is in piece %d of the state",
            stored->piece);
    request->payload.buffer = (char *)self.state.piece[stored->piece].data + stored->offset;
}

static struct request *make(const struct stored *stored, struct reader details)
{
    struct error error;
    struct request *request = request_new((enum request_kind)stored->kind);
    request->mode = (enum send_mode)stored->mode;
    request->persistent = stored->persistent;
    request->active = stored->active;
    request->payload = (struct payload){.count = stored->count, .type = MPI_BYTE};
    request->peer = stored->peer;
    request->tag = stored->tag;
    request->place = stored->place;
    request->communicator = handles_by_id(stored->handle);
    if (!request->communicator)
        die("the checkpoint holds a request on a communicator that is not there");
    if (request->kind == REQUEST_COLLECTIVE) {
        kept_restore(request, details);
    } else if (details.left > 0) {
        must(type_read(&details, &request->payload.type, &error), &error);
        request->own_type = true;
    }
    place_buffer(stored, request);
    request_renumber(request, stored->number);
    request_hold(request);
    return request;
}

/* Whether the program has described this request, which is inactive, as it described that of the
 * checkpoint. */
static bool is_the_same(struct request *request, const struct stored *stored, struct reader details)
{
    struct stored now = describe(request);
    struct bytes own = details_of(request);
    now.active = stored->active;
    now.cancel = stored->cancel;
    now.place = stored->place;
    bool same = memcmp(&now, stored, sizeof now) == 0 && own.size == details.left &&
                memcmp(own.data, details.next, own.size) == 0;
    bytes_release(&own);
    return same;
}

/* The request of the checkpoint, if the program has made it before checkpoint_restore. Another
 * request may have its number there: the program had freed that one before the checkpoint. */
static struct request *made_already(const struct stored *stored, struct reader details)
{
    struct request *there = request_by_number(stored->number);
    if (!there)
        return NULL;
    bool rests = there->persistent && !there->active;
    if (rests && is_the_same(there, stored, details)) {
        there->active = stored->active;
        there->place = stored->place;
        return there;
    }
    if (!rests || there->kind == REQUEST_COLLECTIVE)
        die("request %d is there before checkpoint_restore, and the checkpoint has another",
            stored->number);
    request_free(there);
    return NULL;
}

static void go_on(struct request *request, const struct stored *stored)
{
    if (request->kind == REQUEST_SEND) {
        request->done = true;
        return;
    }
    if (request->kind == REQUEST_MESSAGE) {
        status_fill(&request->status, stored->peer, stored->tag, stored->bytes + piggyback_bytes(),
                    false);
        request_is_pending(request);
        transfer_restore_probed(request, stored->bytes);
        return;
    }
    if (stored->cancel == IS_CANCELLED) {
        transfer_restore_cancelled(request);
        return;
    }
    int error = transfer_receive_at_place(request);
    if (error == MPI_SUCCESS && stored->cancel == CANCEL_ASKED)
        error = transfer_cancel(request);
    if (error != MPI_SUCCESS)
        die("a receive that was pending at the checkpoint cannot be posted again");
}

static void note(const struct request *request)
{
    if (request->kind == REQUEST_COLLECTIVE) {
        kept_note(request);
        return;
    }
    faultline_brought_back(&(struct faultline_request){
        .handle = HANDLE_BITS(request_handle_of(request)),
        .comm = (uint64_t)request->communicator->user,
        .message = request->kind == REQUEST_MESSAGE,
        .receives = request->kind == REQUEST_RECEIVE,
        .persistent = request->persistent,
        .active = request->active,
        .peer = request->peer,
        .tag = request->tag,
        .buffer = request->payload.buffer,
        .count = request->payload.count,
        .datatype = (uint64_t)request->payload.type,
    });
}

void pending_restore(struct reader in)
{
    while (in.left > 0 && !in.failed) {
        struct stored stored;
        const void *row = reader_take(&in, sizeof stored);
        struct reader details = reader_row(&in);
        if (!row || in.failed)
            break;
        memcpy(&stored, row, sizeof stored);
        struct request *request = made_already(&stored, details);
        if (!request)
            request = make(&stored, details);
        if (request->active)
            go_on(request, &stored);
        note(request);
    }
    if (in.failed)
        die("the checkpoint's list of requests is damaged");
}
