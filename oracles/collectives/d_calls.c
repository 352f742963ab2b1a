/* The collectives that the application called, as the effective histories have them: the k-th of
 * each member on a communicator belongs together. See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* D_NO_CATEGORY where there is none. */
static enum d_category d_category_of(unsigned call)
{
    switch (call_operation(call)) {
    case OPERATION_BCAST:
    case OPERATION_SCATTER:
    case OPERATION_SCATTERV:
        return D_SINGLE_SENDER;
    case OPERATION_GATHER:
    case OPERATION_GATHERV:
    case OPERATION_REDUCE:
        return D_SINGLE_RECEIVER;
    case OPERATION_ALLGATHER:
    case OPERATION_ALLGATHERV:
    case OPERATION_ALLTOALL:
    case OPERATION_ALLTOALLV:
    case OPERATION_ALLTOALLW:
    case OPERATION_ALLREDUCE:
    case OPERATION_REDUCE_SCATTER:
    case OPERATION_REDUCE_SCATTER_BLOCK:
        return D_ALL_TO_ALL;
    case OPERATION_BARRIER:
        return call == CALL_MPI_Barrier ? D_BARRIER : D_ALL_TO_ALL;
    case OPERATION_SCAN:
    case OPERATION_EXSCAN:
        return D_SCAN;
    default:
        return D_NO_CATEGORY;
    }
}

bool d_flows(const struct d_call *call, unsigned from, unsigned to)
{
    if (from == to)
        return false;
    switch (call->category) {
    case D_SINGLE_SENDER:
        return (int)from == call->root;
    case D_SINGLE_RECEIVER:
        return (int)to == call->root;
    case D_SCAN:
        return from < to;
    default:
        return true; /* a barrier tells all that each has come */
    }
}

struct d_part *d_part_of(const struct d_call *call, int rank)
{
    for (unsigned place = 0; place < call->size; place++)
        if (call->part[place].rank == rank)
            return &call->part[place];
    return NULL;
}

struct event_ref d_event(const struct d_part *part)
{
    return event_of(part->trace, part->index);
}

const char *d_call_text(const struct d_call *call, char buffer[D_CALL_TEXT_BYTES])
{
    char where[40] = "MPI_COMM_WORLD";
    if (call->comm != COMM_WORLD_ID)
        snprintf(where, sizeof where, "communicator %#" PRIx32, call->comm);
    snprintf(buffer, D_CALL_TEXT_BYTES, "%s number %" PRIu64 " on %s", call_name(call->call),
             call->number, where);
    return buffer;
}

/* --- reading ------------------------------------------------------------------------------- */

static void keep_call(struct d_calls *calls, struct d_call *call)
{
    calls->call =
        memory_room(calls->call, calls->call_count, &calls->call_room, sizeof(struct d_call *));
    calls->call[calls->call_count++] = call;
    table_put(&calls->numbered, call->comm, call->number, call);
}

static struct d_call *new_call(struct d_calls *calls, const struct gathering *members,
                               const struct record *record, uint64_t number)
{
    struct d_call *call = pool_take(&calls->call_pool);
    struct d_part *part = memory_new(members->size, sizeof *part);
    *call =
        (struct d_call){.comm = members->comm,
                        .number = number,
                        .size = members->size,
                        .call = record->call,
                        .category = members->inter ? D_NO_CATEGORY : d_category_of(record->call),
                        .root = -1,
                        .part = part};
    for (int rank = 0; rank < calls->ranks; rank++)
        if (members->member[rank])
            part[members->place[rank]].rank = rank;
    if (record->kind == RECORD_COLLECTIVE && record->peer >= 0 && record->peer < calls->ranks &&
        members->member[record->peer])
        call->root = members->place[record->peer];
    if (call->root < 0 &&
        (call->category == D_SINGLE_SENDER || call->category == D_SINGLE_RECEIVER))
        call->category = D_NO_CATEGORY; /* its root is not known: nothing can be said */
    keep_call(calls, call);
    return call;
}

static uint64_t key_of(const struct stream_event *event)
{
    return (uint64_t)(uint32_t)event->trace->incarnation << 32 | (uint32_t)event->rank;
}

/* Returned before the checkpoint that ends the piece. */
static bool is_done(const struct stream_event *event)
{
    return !event->in_progress && event->record->error == 0;
}

void d_calls_joined(void *context, const struct stream_event *event,
                    const struct gathering *gathering, uint64_t number)
{
    struct d_calls *calls = context;
    const struct record *record = event->record;
    if (!gathering->known || !gathering->member[event->rank])
        return;
    struct d_call *call = table_get(&calls->numbered, gathering->comm, number);
    if (call == NULL)
        call = new_call(calls, gathering, record, number);
    struct d_part *part = &call->part[gathering->place[event->rank]];
    bool done = is_done(event);
    bool known = done && record->kind == RECORD_COLLECTIVE && !(record->flags & FLAG_NO_HASH);
    part->trace = event->trace;
    part->index = event->index;
    part->enter = record->enter;
    part->sent = done ? record->leave : 0;
    part->here = event->trace->incarnation == calls->incarnation;
    if (record->request == 0) {
        part->received = part->sent;
        part->result = known ? record->result_hash : 0;
    } else {
        table_put(&calls->open, key_of(event), record->request, part);
    }
    if (part->here)
        table_put(&calls->located, (uint64_t)event->rank, event->index, call);
}

void d_calls_left(void *context, const struct stream_event *event,
                  const struct collective_request *request)
{
    struct d_calls *calls = context;
    const struct record *record = event->record;
    struct d_part *part = table_get(&calls->open, key_of(event), record->request);
    if (part == NULL || !is_done(event))
        return;
    table_remove(&calls->open, key_of(event), record->request);
    if (record->flags & FLAG_FREED)
        return; /* completes unseen */
    part->received = request->seen ? request->seen : record->leave;
    part->result = record->flags & FLAG_NO_HASH ? 0 : record->hash;
}

void d_calls_begin(struct d_calls *calls, const struct pass *pass)
{
    *calls = (struct d_calls){.ranks = pass->histories->ranks,
                              .incarnation = pass->incarnation,
                              .call_pool.bytes = sizeof(struct d_call)};
}

void d_calls_release(struct d_calls *calls)
{
    for (size_t i = 0; i < calls->call_count; i++)
        free(calls->call[i]->part);
    free(calls->call);
    table_release(&calls->numbered);
    table_release(&calls->located);
    table_release(&calls->open);
    pool_release(&calls->call_pool);
}
