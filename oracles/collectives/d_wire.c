/* The collectives of the wire in one incarnation: which call of the application each went out for,
 * and which of the ranks' belong together. See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "trace/calls.h"

#include <stdlib.h>

/* One rank's trace, read in order. */
struct reader {
    struct d_pass *pass;
    const struct trace *trace;
    struct table numbers; /* communicator of the wire to struct counter */
    struct pool counters;
    uint64_t call; /* record of the application's newest call, plus one; 0: none yet */
};

struct counter {
    uint64_t value;
};

static bool is_real(unsigned kind)
{
    return kind != RECORD_NONE && kind != RECORD_GROUP && kind != RECORD_TEXT;
}

static unsigned kind_of(const struct record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_acquire);
}

static bool encloses(const struct record *call, const struct record *record)
{
    return call->thread == record->thread && call->enter <= record->enter &&
           (call->leave == 0 || call->leave >= record->enter);
}

/* Calls that test have their record behind what happens inside them. */
static bool tests_around(const struct trace *trace, uint64_t index)
{
    for (uint64_t at = index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (is_real(kind_of(record)) && record->level == LEVEL_APP &&
            record->thread == trace->record[index].thread)
            return record->enter <= trace->record[index].enter;
    }
    return false;
}

static bool carries_out(const struct record *wire, const struct record *call)
{
    return call_operation(wire->call) == call_operation(call->call) && wire->bytes == call->bytes &&
           wire->hash == call->hash;
}

/* MPI_Startall has a record for each request, one behind the other, and all enclose what happens in
 * it: the one of them that has this operation and data, as reader.call; 0: none, or several. */
static uint64_t started_call(const struct reader *reader, const struct record *record)
{
    uint64_t found = 0;
    for (uint64_t at = reader->call; at > 0; at--) {
        const struct record *call = &reader->trace->record[at - 1];
        if (call->level != LEVEL_APP || !encloses(call, record))
            break;
        if (carries_out(record, call) && found > 0)
            return 0;
        if (carries_out(record, call))
            found = at;
    }
    return found;
}

/* As reader.call; 0: it cannot be told. */
static uint64_t enclosing_call(const struct reader *reader, const struct record *record)
{
    uint64_t newest = reader->call;
    if (newest > 1 && reader->trace->record[newest - 2].level == LEVEL_APP &&
        encloses(&reader->trace->record[newest - 2], record))
        return started_call(reader, record);
    return newest;
}

static void find_call(const struct reader *reader, struct d_join *join)
{
    const struct trace *trace = reader->trace;
    const struct record *record = &trace->record[join->index];
    const struct record *call = reader->call > 0 ? &trace->record[reader->call - 1] : NULL;
    join->inside = D_INSIDE_NOTHING;
    if (call != NULL && encloses(call, record)) {
        uint64_t at = enclosing_call(reader, record);
        if (at > 0)
            join->of = table_get(&reader->pass->located, (uint64_t)join->rank, at - 1);
        join->inside = join->of != NULL ? D_INSIDE_CALL : D_INSIDE_OTHER;
    } else if ((call != NULL && call->thread != record->thread) ||
               tests_around(trace, join->index)) {
        join->inside = D_INSIDE_OTHER; /* of threads it cannot be told */
    }
}

static void mark(struct d_pass *pass, const struct d_join *join)
{
    d_part_of(join->of, join->rank)->on_wire = true;
    if (join->of->category < D_CATEGORIES)
        pass->native[join->of->category] = true;
}

/* --- meetings ------------------------------------------------------------------------------ */

static uint64_t next_number(struct reader *reader, uint32_t comm)
{
    struct counter *counter = table_get(&reader->numbers, comm, 0);
    if (counter == NULL) {
        counter = pool_take(&reader->counters);
        if (counter == NULL || !table_put(&reader->numbers, comm, 0, counter)) {
            reader->pass->exhausted = true;
            return 0;
        }
    }
    return ++counter->value;
}

static struct d_meeting *new_meeting(struct d_pass *pass, struct table *meetings, uint32_t comm,
                                     uint64_t number)
{
    struct d_meeting *meeting = pool_take(&pass->meeting_pool);
    if (pass->meeting_count == pass->meeting_room) {
        size_t room = pass->meeting_room ? 2 * pass->meeting_room : 256;
        struct d_meeting **grown = realloc(pass->meeting, room * sizeof(struct d_meeting *));
        if (grown == NULL) {
            pass->exhausted = true;
            return NULL;
        }
        pass->meeting = grown;
        pass->meeting_room = room;
    }
    if (meeting == NULL || !table_put(meetings, comm, number, meeting)) {
        pass->exhausted = true;
        return NULL;
    }
    meeting->comm = comm;
    meeting->number = number;
    return pass->meeting[pass->meeting_count++] = meeting;
}

static void add_join(struct reader *reader, struct table *meetings, uint64_t index)
{
    struct d_pass *pass = reader->pass;
    const struct record *record = &reader->trace->record[index];
    uint32_t comm = collective_comm(record);
    uint64_t number = next_number(reader, comm);
    struct d_meeting *meeting = table_get(meetings, comm, number);
    if (meeting == NULL)
        meeting = new_meeting(pass, meetings, comm, number);
    struct d_join *join = pool_take(&pass->join_pool);
    if (meeting == NULL || join == NULL) {
        pass->exhausted = true;
        return;
    }
    *join = (struct d_join){
        .rank = reader->trace->rank, .index = index, .enter = record->enter, .call = record->call};
    find_call(reader, join);
    struct d_join **end = &meeting->join;
    while (*end != NULL)
        end = &(*end)->next;
    *end = join;
    if (join->inside == D_INSIDE_CALL && record->kind == RECORD_COLLECTIVE)
        mark(pass, join);
}

/* --- reading ------------------------------------------------------------------------------- */

static void read_trace(struct d_pass *pass, const struct trace *trace, struct table *meetings)
{
    struct reader reader = {.pass = pass, .trace = trace, .counters.bytes = sizeof(struct counter)};
    for (uint64_t at = 0; at < trace->count && !pass->exhausted; at++) {
        const struct record *record = &trace->record[at];
        if (!is_real(kind_of(record)))
            continue;
        if (record->level == LEVEL_APP)
            reader.call = at + 1;
        else if (record->level == LEVEL_WIRE && collective_comm(record) != 0)
            add_join(&reader, meetings, at);
    }
    table_release(&reader.numbers);
    pool_release(&reader.counters);
}

enum error_code d_read_wire(struct d_pass *pass, struct error *error)
{
    struct table meetings = {0};
    pass->meeting_pool.bytes = sizeof(struct d_meeting);
    pass->join_pool.bytes = sizeof(struct d_join);
    for (int rank = 0; rank < pass->lines.ranks && !pass->exhausted; rank++) {
        const struct trace *trace = trace_set_find(pass->judging->traces, rank, pass->incarnation);
        if (trace != NULL)
            read_trace(pass, trace, &meetings);
    }
    table_release(&meetings);
    return pass->exhausted ? error_set(error, ERROR_MEMORY, "no memory for the collectives") : OK;
}

void d_release_wire(struct d_pass *pass)
{
    free(pass->meeting);
    pool_release(&pass->meeting_pool);
    pool_release(&pass->join_pool);
}
