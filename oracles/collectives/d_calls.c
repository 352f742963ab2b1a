/* The collectives that the application called, as the effective histories have them: the k-th of
 * each member on a communicator belongs together. See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum d_category d_category_of(unsigned call)
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

/* Where one rank is while its history is read. */
struct reader {
    struct d_pass *pass;
    int rank;
    const struct piece *piece;
    struct table *joined;   /* communicator to the calls joined so far: struct counter */
    struct table *requests; /* request to struct d_part */
    struct pool *counters;
};

struct counter {
    uint64_t value;
};

static uint64_t next_number(struct reader *reader, uint32_t comm)
{
    struct counter *counter = table_get(reader->joined, comm, 0);
    if (counter == NULL) {
        counter = pool_take(reader->counters);
        if (counter == NULL || !table_put(reader->joined, comm, 0, counter)) {
            reader->pass->exhausted = true;
            return 0;
        }
    }
    return ++counter->value;
}

static bool keep_call(struct d_pass *pass, struct d_call *call)
{
    if (pass->call_count == pass->call_room) {
        size_t room = pass->call_room ? 2 * pass->call_room : 256;
        struct d_call **grown = realloc(pass->call, room * sizeof(struct d_call *));
        if (grown == NULL)
            return false;
        pass->call = grown;
        pass->call_room = room;
    }
    if (!table_put(&pass->numbered, call->comm, call->number, call))
        return false;
    pass->call[pass->call_count++] = call;
    return true;
}

static struct d_call *new_call(struct d_pass *pass, const struct gathering *members,
                               const struct record *record, uint64_t number)
{
    struct d_call *call = pool_take(&pass->call_pool);
    struct d_part *part = calloc(members->size, sizeof *part);
    if (call == NULL || part == NULL) {
        free(part);
        pass->exhausted = true;
        return NULL;
    }
    *call =
        (struct d_call){.comm = members->comm,
                        .number = number,
                        .size = members->size,
                        .call = record->call,
                        .category = members->inter ? D_NO_CATEGORY : d_category_of(record->call),
                        .root = -1,
                        .part = part};
    for (int rank = 0; rank < pass->lines.ranks; rank++)
        if (members->member[rank])
            part[members->place[rank]].rank = rank;
    if (record->kind == RECORD_COLLECTIVE && record->peer >= 0 &&
        record->peer < pass->lines.ranks && members->member[record->peer])
        call->root = members->place[record->peer];
    if (call->root < 0 &&
        (call->category == D_SINGLE_SENDER || call->category == D_SINGLE_RECEIVER))
        call->category = D_NO_CATEGORY; /* its root is not known: nothing can be said */
    if (!keep_call(pass, call)) {
        free(part);
        pass->exhausted = true;
        return NULL;
    }
    return call;
}

static struct d_call *call_for(struct reader *reader, const struct gathering *members,
                               const struct record *record)
{
    uint64_t number = next_number(reader, members->comm);
    struct d_call *call = table_get(&reader->pass->numbered, members->comm, number);
    return call != NULL ? call : new_call(reader->pass, members, record, number);
}

/* Returned before the checkpoint that ends the piece. */
static bool is_done(const struct reader *reader, const struct record *record)
{
    return record->leave != 0 && record->leave <= reader->piece->cut && record->error == 0;
}

static void join(struct reader *reader, uint64_t index, uint32_t comm)
{
    struct d_pass *pass = reader->pass;
    const struct trace *trace = reader->piece->trace;
    const struct record *record = &trace->record[index];
    const struct gathering *members = collectives_find(&pass->members, comm);
    bool done = is_done(reader, record);
    /* A checkpoint inside it: it is called again by whoever is restored from there. */
    if (members == NULL || !members->member[reader->rank] ||
        (!done && reader->piece->cut != UINT64_MAX && record->error == 0))
        return;
    struct d_call *call = call_for(reader, members, record);
    if (call == NULL)
        return;
    struct d_part *part = &call->part[members->place[reader->rank]];
    bool known = done && record->kind == RECORD_COLLECTIVE && !(record->flags & FLAG_NO_HASH);
    part->trace = trace;
    part->index = index;
    part->enter = record->enter;
    part->sent = done ? record->leave : 0;
    part->here = trace->incarnation == pass->incarnation;
    if (record->request == 0) {
        part->received = part->sent;
        part->result = known ? record->result_hash : 0;
    } else if (!table_put(reader->requests, record->request, 0, part)) {
        pass->exhausted = true;
    }
    if (part->here && !table_put(&pass->located, (uint64_t)reader->rank, index, call))
        pass->exhausted = true;
}

static void complete(struct reader *reader, const struct record *record)
{
    struct d_part *part =
        record->request == 0 ? NULL : table_get(reader->requests, record->request, 0);
    if (part == NULL || (record->flags & FLAG_NEGATIVE) || !is_done(reader, record))
        return;
    table_remove(reader->requests, record->request, 0);
    if (record->flags & FLAG_FREED)
        return; /* completes unseen */
    part->received = record->leave;
    part->result = record->flags & FLAG_NO_HASH ? 0 : record->hash;
}

static void read_piece(struct reader *reader)
{
    const struct piece *piece = reader->piece;
    for (uint64_t at = piece->from; at < piece->to && !reader->pass->exhausted; at++) {
        const struct record *record = &piece->trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind == RECORD_NONE || kind == RECORD_GROUP || kind == RECORD_TEXT ||
            record->level != LEVEL_APP)
            continue;
        if (kind == RECORD_COMPLETE)
            complete(reader, record);
        else if (collective_comm(record) != 0)
            join(reader, at, collective_comm(record));
    }
}

static void read_rank(struct d_pass *pass, int rank)
{
    const struct history *history = &pass->histories.of[rank];
    struct table joined = {0}, requests = {0};
    struct pool counters = {.bytes = sizeof(struct counter)};
    for (size_t i = 0; i < history->piece_count; i++) {
        struct reader reader = {pass, rank, &history->piece[i], &joined, &requests, &counters};
        table_release(&requests); /* their numbers are of one trace */
        read_piece(&reader);
    }
    table_release(&joined);
    table_release(&requests);
    pool_release(&counters);
}

static void on_complete(void *context, const struct instance *instance)
{
    (void)context;
    (void)instance;
}

static void on_discord(void *context, enum discord discord, const struct instance *instance,
                       const struct contribution *with, const struct contribution *against)
{
    (void)context;
    (void)discord;
    (void)instance;
    (void)with;
    (void)against;
}

/* Communicators keep their id over restarts. */
static void learn_members(struct d_pass *pass)
{
    static const struct collective_listener nobody = {NULL, on_complete, on_discord};
    const struct trace_set *traces = pass->judging->traces;
    collectives_init(&pass->members, traces->ranks, &nobody);
    pass->members.helper = pass->histories.tenures.helper;
    for (int rank = 0; rank < traces->ranks; rank++)
        if (pass->histories.tenures.helper[rank])
            collectives_leave_out(&pass->members, rank);
    for (size_t i = 0; i < traces->count; i++)
        collectives_learn(&pass->members, &traces->trace[i], LEVEL_APP, traces->trace[i].count);
    pass->exhausted |= pass->members.exhausted;
}

enum error_code d_read_calls(struct d_pass *pass, struct error *error)
{
    pass->call_pool.bytes = sizeof(struct d_call);
    learn_members(pass);
    for (int rank = 0; rank < pass->lines.ranks && !pass->exhausted; rank++)
        read_rank(pass, rank);
    return pass->exhausted ? error_set(error, ERROR_MEMORY, "no memory for the collectives") : OK;
}

void d_release_calls(struct d_pass *pass)
{
    for (size_t i = 0; i < pass->call_count; i++)
        free(pass->call[i]->part);
    free(pass->call);
    table_release(&pass->numbered);
    table_release(&pass->located);
    pool_release(&pass->call_pool);
    collectives_release(&pass->members);
}
