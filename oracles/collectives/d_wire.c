/* The collectives of the wire in one incarnation: which call of the application each went out for.
 * See d_family.h. */
#include "oracles/collectives/d_family.h"

#include "trace/calls.h"

static bool encloses(const struct record *call, const struct record *record)
{
    return call->thread == record->thread && call->enter <= record->enter &&
           (call->leave == 0 || call->leave >= record->enter);
}

/* Calls that test have their record after what happens inside them. */
static bool tests_around(const struct trace *trace, uint64_t index)
{
    for (uint64_t at = index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (record_is_of_app(record) && record->thread == trace->record[index].thread)
            return record->enter <= trace->record[index].enter;
    }
    return false;
}

static bool carries_out(const struct record *wire, const struct record *call)
{
    return call_operation(wire->call) == call_operation(call->call) && wire->bytes == call->bytes &&
           wire->hash == call->hash;
}

/* MPI_Startall has a record for each request, one after the other, and all enclose what happens in
 * it: the one of them that has this operation and data; 0: none, or several. Calls here and below
 * are numbers of records, plus one; `newest` is the newest of the application before `record`. */
static uint64_t started_call(const struct trace *trace, uint64_t newest,
                             const struct record *record)
{
    uint64_t found = 0;
    for (uint64_t at = newest; at > 0; at--) {
        const struct record *call = &trace->record[at - 1];
        if (!record_is_of_app(call) || !encloses(call, record))
            break;
        if (carries_out(record, call) && found > 0)
            return 0;
        if (carries_out(record, call))
            found = at;
    }
    return found;
}

/* 0: it cannot be told. */
static uint64_t enclosing_call(const struct trace *trace, uint64_t newest,
                               const struct record *record)
{
    if (newest > 1 && record_is_of_app(&trace->record[newest - 2]) &&
        encloses(&trace->record[newest - 2], record))
        return started_call(trace, newest, record);
    return newest;
}

bool d_join_of(const struct d_pass *pass, const struct meeting *meeting, int rank,
               struct d_join *join)
{
    const struct attendance *own = &meeting->of[rank];
    const struct trace *trace = trace_set_find(pass->judging->traces, rank, pass->incarnation);
    if (own->index == 0)
        return false;
    *join = (struct d_join){.rank = rank, .index = own->index - 1, .inside = D_INSIDE_NOTHING};
    const struct record *record = &trace->record[join->index];
    const struct record *call = own->above > 0 ? &trace->record[own->above - 1] : NULL;
    if (call != NULL && encloses(call, record)) {
        uint64_t at = enclosing_call(trace, own->above, record);
        if (at > 0)
            join->of = table_get(&pass->calls.located, (uint64_t)rank, at - 1);
        join->inside = join->of != NULL ? D_INSIDE_CALL : D_INSIDE_OTHER;
    } else if ((call != NULL && call->thread != record->thread) ||
               tests_around(trace, join->index)) {
        join->inside = D_INSIDE_OTHER; /* of threads it cannot be told */
    }
    return true;
}

static void mark(struct d_pass *pass, const struct d_join *join)
{
    struct d_part *part = d_part_of(join->of, join->rank);
    if (part->trace->record[join->index].kind != RECORD_COLLECTIVE)
        return;
    part->on_wire = true;
    if (join->of->category < D_CATEGORIES)
        pass->native[join->of->category] = true;
}

void d_mark_wire(struct d_pass *pass)
{
    struct d_join join;
    for (size_t i = 0; i < pass->meetings->count; i++)
        for (int rank = 0; rank < pass->causal->ranks; rank++)
            if (d_join_of(pass, pass->meetings->meeting[i], rank, &join) &&
                join.inside == D_INSIDE_CALL)
                mark(pass, &join);
}
