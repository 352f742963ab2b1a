/* See deaths.h. */
#include "oracles/reading/deaths.h"

static bool names(const struct record *record, int process)
{
    bool kill = record->kind == RECORD_FAULT &&
                (record->comm == FAULT_KILL || record->comm == FAULT_KILL_INSIDE);
    bool learned = record->kind == RECORD_NOTE && record->tag == NOTE_LEARNED;
    return (kill || learned) && record->peer == process;
}

/* Where a job is ended, the others are killed as well. */
static bool was_seen(const struct trace_set *traces, const struct trace *dead)
{
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        for (uint64_t i = 0; trace->incarnation == dead->incarnation && i < trace->count; i++)
            if (names(&trace->record[i], dead->rank))
                return true;
    }
    return false;
}

bool death_ended_well(const struct trace *trace)
{
    return trace->end != NULL && trace->end->tag == 0 && trace->end->bytes == 0;
}

uint64_t death_of(const struct trace_set *traces, bool finished, const struct trace *trace)
{
    if (trace->end == NULL || death_ended_well(trace) || (!finished && !was_seen(traces, trace)))
        return DEATH_NONE;
    return trace->end->enter;
}

uint64_t death_last_heard(const struct trace *trace)
{
    for (uint64_t i = trace->count; i > 0; i--)
        if (record_is_event(&trace->record[i - 1]))
            return trace->record[i - 1].enter;
    return 0;
}
