/* See requests.h. */
#include "common/messages/requests.h"

#include "common/communicators/types.h"
#include "common/messages/parts.h"
#include "faultline.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64
#define NO_PIECE (-1)

static struct {
    struct request *all;
    struct request *posted;
    struct request **by_number; /* index 0 is not used; owned */
    int room;
    int lowest_free;       /* no number below is free */
    struct request *early; /* made before checkpoint_restore, by number; owned */
    int early_count;
} table = {.lowest_free = 1};

struct request *request_new(enum request_kind kind, struct comm *comm, int peer, int tag,
                            const struct payload *payload)
{
    struct request *request = memory(1, sizeof *request);
    *request = (struct request){.next = table.all,
                                .kind = kind,
                                .active = true,
                                .comm = comm,
                                .peer = peer,
                                .tag = tag,
                                .packet_kind = PACKET_MESSAGE};
    if (payload)
        request->payload = *payload;
    if (comm)
        comm_hold(comm);
    layer_hold_handles();
    table.all = request;
    return request;
}

static void forget_number(struct request *request)
{
    if (request->number == 0)
        return;
    table.by_number[request->number] = NULL;
    if (request->number < table.lowest_free)
        table.lowest_free = request->number;
}

void request_detach(struct request *request)
{
    forget_number(request);
    request->number = 0;
    request->detached = true;
}

void request_free(struct request *request)
{
    struct request **link = &table.all;
    while (*link != request)
        link = &(*link)->next;
    *link = request->next;
    request_unpost(request);
    forget_number(request);
    packet_drop(request->packet);
    if (request->own_type)
        type_release(&request->payload.type);
    if (request->comm)
        comm_drop(request->comm);
    layer_drop_handles();
    free(request->exchange);
    free(request);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static void renumber(struct request *request, int number)
{
    int room = table.room ? table.room : FIRST_ROOM;
    if (number > NUMBERED_REQUESTS_MAX)
        die("more than %d requests at once", NUMBERED_REQUESTS_MAX);
    while (room <= number)
        room *= 2;
    if (room != table.room) {
        table.by_number = larger(table.by_number, (size_t)room * sizeof *table.by_number);
        memset(table.by_number + table.room, 0,
               (size_t)(room - table.room) * sizeof *table.by_number);
        table.room = room;
    }
    request->number = number;
    table.by_number[number] = request;
}

MPI_Request request_handle(struct request *request)
{
    int number = table.lowest_free;
    while (number < table.room && table.by_number[number])
        number++;
    renumber(request, number);
    table.lowest_free = number + 1;
    return request_handle_of(request);
}

struct request *request_of(MPI_Request handle)
{
    uint64_t number = numbered(HANDLE_BITS(handle), NUMBERED_REQUESTS, NUMBERED_REQUESTS_MAX);
    return number > 0 && number < (uint64_t)table.room ? table.by_number[number] : NULL;
}

/* --- lists ------------------------------------------------------------------------------------ */

void request_post(struct request *request)
{
    struct request **link = &table.posted;
    while (*link)
        link = &(*link)->posted_next;
    request->posted_next = NULL;
    *link = request;
}

void request_unpost(struct request *request)
{
    for (struct request **link = &table.posted; *link; link = &(*link)->posted_next)
        if (*link == request) {
            *link = request->posted_next;
            return;
        }
}

struct request *requests_posted(void)
{
    return table.posted;
}

struct request *requests_all(void)
{
    return table.all;
}

struct request *request_sent_as(int to, uint64_t number)
{
    for (struct request *one = table.all; one; one = one->next)
        if (one->kind == REQUEST_SEND && one->active && !one->done &&
            one->mode == SEND_SYNCHRONOUS && one->sent_as == number && one->comm &&
            one->comm->world[one->peer] == to)
            return one;
    return NULL;
}

/* --- as bytes --------------------------------------------------------------------------------- */

/* After it a row each: the datatype, the packet. */
struct stored {
    int32_t number;
    int32_t kind;
    int32_t mode;
    int32_t persistent;
    int32_t active;
    int32_t done;
    int32_t cancelled;
    int32_t detached;
    int32_t peer;
    int32_t tag;
    int32_t count;
    int32_t piece;   /* of layer_state, that the buffer lies in; NO_PIECE */
    int32_t posting; /* place among those that are posted, from 1; 0: is not */
    uint32_t packet_kind;
    uint64_t offset; /* of the buffer in its piece */
    uint64_t comm;   /* its id; 0: none */
    uint64_t sent_as;
};

/* Finds the piece of registered state in which all of the payload lies. */
static void locate(const struct payload *payload, struct stored *stored)
{
    char *first;
    uint64_t bytes;
    const struct state *state = layer_state();
    payload_span(payload, &first, &bytes);
    stored->piece = state_around(state, first, bytes);
    if (stored->piece != NO_PIECE)
        stored->offset =
            (uint64_t)((char *)payload->buffer - (char *)state->piece[stored->piece].data);
}

static int posting_of(const struct request *request)
{
    int place = 1;
    for (const struct request *one = table.posted; one; one = one->posted_next, place++)
        if (one == request)
            return place;
    return 0;
}

/* A message found by a probe has no buffer, a send that is under way needs none any more. */
static bool needs_buffer(const struct request *request)
{
    return request->kind == REQUEST_RECEIVE || request->persistent;
}

/* Each row with the type, if there is a buffer to be described, and the packet, if there is one. */
static void put_rows(const struct request *request, struct bytes *out)
{
    struct bytes type = {0}, packet = {0};
    struct error error;
    if (needs_buffer(request) && type_write(request->payload.type, &type, &error) != OK)
        die("a request cannot be saved: %s", error.text);
    if (request->packet)
        packet_write(request->packet, &packet);
    bytes_put_row(out, type.data, type.size);
    bytes_put_row(out, packet.data, packet.size);
    bytes_release(&type);
    bytes_release(&packet);
}

static void write_one(const struct request *request, struct bytes *out)
{
    struct stored stored = {.number = request->number,
                            .kind = (int32_t)request->kind,
                            .mode = (int32_t)request->mode,
                            .persistent = request->persistent,
                            .active = request->active,
                            .done = request->done,
                            .cancelled = request->cancelled,
                            .detached = request->detached,
                            .peer = request->peer,
                            .tag = request->tag,
                            .count = request->payload.count,
                            .piece = NO_PIECE,
                            .posting = posting_of(request),
                            .packet_kind = request->packet_kind,
                            .comm = request->comm ? request->comm->id : 0,
                            .sent_as = request->sent_as};
    if (request->kind == REQUEST_COLLECTIVE)
        layer_refuse(
            "a collective call that does not block and is pending at a potential checkpoint",
            "MPI_Wait ahead of it");
    if (needs_buffer(request) && request->payload.buffer != MPI_BOTTOM)
        locate(&request->payload, &stored);
    bytes_put(out, &stored, sizeof stored);
    put_rows(request, out);
}

void requests_write(struct bytes *out)
{
    for (const struct request *one = table.all; one; one = one->next)
        write_one(one, out);
}

static void place_buffer(const struct stored *stored, struct request *request)
{
    const struct state *state = layer_state();
    if (stored->piece >= 0 && (size_t)stored->piece < state->count)
        request->payload.buffer = (char *)state->piece[stored->piece].data + stored->offset;
    else
        request->lost_buffer = stored->count > 0;
}

static struct request *make(const struct stored *stored, struct reader type, struct reader packet)
{
    struct error error;
    struct payload payload = {.count = stored->count, .type = MPI_BYTE};
    struct comm *comm = stored->comm ? comm_by_id(stored->comm) : NULL;
    if (stored->comm && !comm)
        die("the saved state holds a request on a communicator that is not there");
    struct request *request =
        request_new((enum request_kind)stored->kind, comm, stored->peer, stored->tag, &payload);
    request->mode = (enum send_mode)stored->mode;
    request->persistent = stored->persistent;
    request->active = stored->active;
    request->done = stored->done;
    request->cancelled = stored->cancelled;
    request->detached = stored->detached;
    request->packet_kind = stored->packet_kind;
    request->sent_as = stored->sent_as;
    if (type.left > 0) {
        if (type_read(&type, &request->payload.type, &error) != OK)
            die("a request cannot be read: %s", error.text);
        request->own_type = true;
    }
    if (packet.left > 0)
        request->packet = packet_read(&packet);
    if (needs_buffer(request))
        place_buffer(stored, request);
    if (stored->number > 0)
        renumber(request, stored->number);
    return request;
}

/* What the program made before checkpoint_restore has buffers that it still has: they stay known
 * where the saved state does not say where they are. */
static void keep_buffer(struct request *request, const struct request *before)
{
    if (!request->lost_buffer || !before || !before->persistent || !request->persistent)
        return;
    request->payload.buffer = before->payload.buffer;
    request->lost_buffer = false;
}

/* The list has the newest first, so those that are read come in reverse. */
static void turn(void)
{
    struct request *turned = NULL;
    while (table.all) {
        struct request *one = table.all;
        table.all = one->next;
        one->next = turned;
        turned = one;
    }
    table.all = turned;
}

void requests_forget(void)
{
    free(table.early);
    table.early_count = table.room;
    table.early = memory((size_t)table.room + 1, sizeof *table.early);
    for (int i = 1; i < table.room; i++)
        if (table.by_number[i])
            table.early[i] = *table.by_number[i];
    while (table.all)
        request_free(table.all);
    table.posted = NULL;
    table.lowest_free = 1;
}

/* Those that were posted, in order; a row that grows. */
struct posting {
    struct request **row; /* owned */
    int places;
};

static void keep_posting(struct posting *posting, int place, struct request *request)
{
    if (place < 1 || place > NUMBERED_REQUESTS_MAX)
        die("the saved requests are damaged");
    if (place > posting->places) {
        posting->row = larger(posting->row, (size_t)place * sizeof *posting->row);
        memset(posting->row + posting->places, 0,
               (size_t)(place - posting->places) * sizeof *posting->row);
        posting->places = place;
    }
    posting->row[place - 1] = request;
}

static bool read_one(struct reader *in, struct posting *posting)
{
    struct stored stored;
    const void *row = reader_take(in, sizeof stored);
    struct reader type = reader_row(in), packet = reader_row(in);
    if (!row || type.failed || packet.failed)
        return false;
    memcpy(&stored, row, sizeof stored);
    struct request *request = make(&stored, type, packet);
    if (stored.number > 0 && stored.number < table.early_count)
        keep_buffer(request, &table.early[stored.number]);
    if (stored.posting != 0)
        keep_posting(posting, stored.posting, request);
    return true;
}

void requests_read(struct reader in)
{
    struct posting posting = {0};
    while (in.left > 0)
        if (!read_one(&in, &posting))
            die("the saved requests are damaged");
    for (int i = 0; i < posting.places; i++)
        if (posting.row[i])
            request_post(posting.row[i]);
    turn();
    free(posting.row);
}
