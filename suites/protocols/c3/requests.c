/* See requests.h. */
#include "c3/requests.h"

#include "c3/transfer.h"
#include "common/communicators/types.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_ROOM 64

static struct {
    struct request **by_number; /* index 0 is not used; owned */
    int room;
    int lowest_free; /* no number below is free */
    struct request *unused;
    struct request *pending_first;
    struct request *pending_last;
} all = {.lowest_free = 1};

struct request *request_new(enum request_kind kind)
{
    struct request *request = all.unused;
    if (request)
        all.unused = request->after;
    else
        request = memory(1, sizeof *request);
    memset(request, 0, offsetof(struct request, row));
    request_row(request, SMALL_BYTES);
    request->kind = kind;
    request->active = true;
    request->wire = MPI_REQUEST_NULL;
    request->message = MPI_MESSAGE_NULL;
    return request;
}

void request_row(struct request *request, uint64_t bytes)
{
    uint64_t needed = piggyback_bytes() + bytes;
    if (needed <= request->row_bytes)
        return;
    free(request->row);
    request->row = memory(1, needed);
    request->row_bytes = needed;
}

void request_hold(struct request *request)
{
    if (!request->holds)
        handle_hold(request->communicator);
    request->holds = true;
}

void request_forget_number(struct request *request)
{
    if (request->number == 0)
        return;
    all.by_number[request->number] = NULL;
    if (request->number < all.lowest_free)
        all.lowest_free = request->number;
    request->number = 0;
}

void request_free(struct request *request)
{
    if (request->row_bytes > PIGGYBACK_MAX_BYTES + COPY_BYTES) {
        free(request->row);
        request->row = NULL;
        request->row_bytes = 0;
    }
    request_forget_number(request);
    if (request->own_type)
        type_release(&request->payload.type);
    if (request->holds)
        handle_drop(request->communicator);
    request->after = all.unused;
    all.unused = request;
}

static void make_room_for(int number)
{
    if (number > NUMBERED_REQUESTS_MAX)
        die("more than %d requests at once", NUMBERED_REQUESTS_MAX);
    int room = all.room ? all.room : FIRST_ROOM;
    while (room <= number)
        room *= 2;
    if (room == all.room)
        return;
    all.by_number = larger(all.by_number, (size_t)room * sizeof *all.by_number);
    memset(all.by_number + all.room, 0, (size_t)(room - all.room) * sizeof *all.by_number);
    all.room = room;
}

void request_renumber(struct request *request, int number)
{
    make_room_for(number);
    request->number = number;
    all.by_number[number] = request;
}

MPI_Request request_handle(struct request *request)
{
    int number = all.lowest_free;
    while (number < all.room && all.by_number[number])
        number++;
    request_renumber(request, number);
    request_hold(request);
    all.lowest_free = number + 1;
    return request_handle_of(request);
}

struct request *request_of(MPI_Request handle)
{
    uint64_t number = numbered(HANDLE_BITS(handle), NUMBERED_REQUESTS, NUMBERED_REQUESTS_MAX);
    return number <= NUMBERED_REQUESTS_MAX ? request_by_number((int)number) : NULL;
}

struct request *request_by_number(int number)
{
    return number > 0 && number < all.room ? all.by_number[number] : NULL;
}

struct request *request_after(int number)
{
    while (++number < all.room)
        if (all.by_number[number])
            return all.by_number[number];
    return NULL;
}

struct request *requests_pending(void)
{
    return all.pending_first;
}

struct request *requests_pending_last(void)
{
    return all.pending_last;
}

/* Places are given out in ascending order, so a new one is most often the last. */
void request_is_pending(struct request *request)
{
    struct request *before = all.pending_last;
    while (before && before->place > request->place)
        before = before->before;
    struct request *after = before ? before->after : all.pending_first;
    request->before = before;
    request->after = after;
    *(before ? &before->after : &all.pending_first) = request;
    *(after ? &after->before : &all.pending_last) = request;
}

void request_is_not_pending(struct request *request)
{
    *(request->before ? &request->before->after : &all.pending_first) = request->after;
    *(request->after ? &request->after->before : &all.pending_last) = request->before;
    request->before = request->after = NULL;
}
