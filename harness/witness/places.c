/* See places.h. */
#include "witness/places.h"

#include "trace/calls.h"

/* The first record from `from` on that is a `becomes` note; the count of records if there is none.
 */
static uint64_t next_becomes(const struct trace *trace, uint64_t from)
{
    while (from < trace->count &&
           !at_is_note((struct at){trace, from, &trace->record[from]}, NOTE_BECOMES))
        from++;
    return from;
}

bool places_move(const struct trace_set *traces)
{
    for (size_t t = 0; t < traces->count; t++)
        if (next_becomes(&traces->trace[t], 0) < traces->trace[t].count)
            return true;
    return false;
}

int at_rank(struct at at)
{
    uint64_t rank = (uint64_t)at.trace->rank;
    for (uint64_t i = next_becomes(at.trace, 0); i < at.index; i = next_becomes(at.trace, i + 1))
        rank = at.trace->record[i].bytes;
    return rank <= TRACE_MAX_RANKS ? (int)rank : -1;
}

/* It never came out of MPI_Init: if it has not said who it is by then, that is not known. Calls and
 * notes of a protocol show that it did; a phase of the program, or a draw, may come before. */
static bool is_stillborn(const struct trace *trace)
{
    bool shows = false;
    for (uint64_t i = 0; i < trace->count; i++) {
        unsigned kind = trace->record[i].kind;
        if (trace->record[i].level == LEVEL_APP && (trace->record[i].call == CALL_MPI_Init ||
                                                    trace->record[i].call == CALL_MPI_Init_thread))
            return at_done((struct at){trace, i, &trace->record[i]}) == UINT64_MAX;
        shows |= kind == RECORD_NOTE
                     ? trace->record[i].tag != NOTE_PHASE && trace->record[i].tag != NOTE_DRAWN
                     : kind != RECORD_NONE && kind != RECORD_TEXT && kind != RECORD_GROUP &&
                           kind != RECORD_FAULT && kind != RECORD_STORAGE;
    }
    return !shows;
}

/* A call of the program had returned before the process said what it is. */
static bool began_as_numbered(const struct trace *trace, uint64_t said)
{
    if (said == trace->count)
        return !is_stillborn(trace);
    for (uint64_t i = 0; i < said; i++) {
        struct at at = {trace, i, &trace->record[i]};
        if (at.record->level == LEVEL_APP && at.record->kind == RECORD_CALL &&
            at_done(at) < trace->record[said].enter)
            return true;
    }
    return false;
}

bool places_have(const struct trace_set *traces, int rank)
{
    bool began = false;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        uint64_t said = next_becomes(trace, 0);
        began |= trace->rank == rank && (said < trace->count || !is_stillborn(trace));
        if (trace->rank == rank && began_as_numbered(trace, said))
            return true;
        for (; said < trace->count; said = next_becomes(trace, said + 1))
            if (trace->record[said].bytes == (uint64_t)rank)
                return true;
    }
    return !began;
}
