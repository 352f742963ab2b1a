/* See fold.h. A wire record belongs to a record of the same kind, thread and envelope whose call
 * was under way: the k-th such of the wire to the k-th of the call. */
#include "reports/walk/fold.h"

#include "oracles/reading/message_notes.h"
#include "trace/calls.h"

static bool is_of(const struct record *record, unsigned level, unsigned thread)
{
    return record_is_event(record) && record->level == level && record->thread == thread;
}

/* The communicator is not compared: a protocol may have one of its own. */
static bool is_alike(const struct record *a, const struct record *b)
{
    if (a->kind != b->kind)
        return false;
    switch ((unsigned)a->kind) {
    case RECORD_SEND:
        return a->peer == b->peer && a->tag == b->tag;
    case RECORD_COMPLETE:
        return ((a->flags ^ b->flags) & FLAG_NEGATIVE) == 0 && a->peer == b->peer &&
               a->tag == b->tag;
    case RECORD_RECV:
    case RECORD_PROBE:
        return ((a->flags ^ b->flags) & FLAG_NEGATIVE) == 0 && a->want_peer == b->want_peer &&
               a->want_tag == b->want_tag;
    case RECORD_COLLECTIVE:
        return call_operation(a->call) == call_operation(b->call);
    case RECORD_CALL:
    case RECORD_COMM:
        return a->call == b->call;
    default:
        return false;
    }
}

/* `below` ran while the call was under way. */
static bool is_inside(const struct record *below, const struct call_span *span)
{
    return span->enter <= below->enter &&
           (span->leave == 0 || (below->leave != 0 && below->leave <= span->leave));
}

/* The nearest record of the application above (step -1) or below in the trace. */
static bool find_call(const struct trace *trace, uint64_t index, int step, uint64_t *above)
{
    const struct record *below = &trace->record[index];
    uint64_t at = index;
    for (int i = 0; i < FOLD_REACH; i++) {
        if (step < 0 ? at == 0 : at + 1 >= trace->count)
            return false;
        at += (uint64_t)(int64_t)step;
        const struct record *record = &trace->record[at];
        if (!is_of(record, LEVEL_APP, below->thread))
            continue;
        struct call_span span = call_span_of(trace, at);
        if (!is_inside(below, &span))
            return false;
        if (!is_alike(record, below))
            continue;
        *above = at;
        return true;
    }
    return false;
}

/* How many of the wire like it stand before it in the same call. */
static uint64_t place_below(const struct trace *trace, uint64_t index, uint64_t enter)
{
    const struct record *below = &trace->record[index];
    uint64_t place = 0;
    for (uint64_t at = index; at > 0 && index - at < FOLD_REACH; at--) {
        const struct record *record = &trace->record[at - 1];
        if (!is_of(record, LEVEL_WIRE, below->thread))
            continue;
        if (record->enter < enter)
            break;
        place += is_alike(record, below);
    }
    return place;
}

bool fold_above(const struct trace *trace, uint64_t index, uint64_t *above)
{
    const struct record *below = &trace->record[index];
    uint64_t found;
    if (below->level != LEVEL_WIRE ||
        (!find_call(trace, index, -1, &found) && !find_call(trace, index, 1, &found)))
        return false;
    struct call_span span = call_span_of(trace, found);
    uint64_t place = place_below(trace, index, span.enter);
    for (uint64_t at = span.first; at <= span.last; at++) {
        if (!is_of(&trace->record[at], LEVEL_APP, below->thread) ||
            !is_alike(&trace->record[at], below) || place-- > 0)
            continue;
        *above = at;
        return true;
    }
    return false;
}

bool fold_below(const struct trace *trace, uint64_t index, uint64_t *below)
{
    const struct record *record = &trace->record[index];
    uint64_t first = index > FOLD_REACH ? index - FOLD_REACH : 0, above;
    if (record->level != LEVEL_APP)
        return false;
    for (uint64_t at = first; at < trace->count && at <= index + FOLD_REACH; at++)
        if (is_of(&trace->record[at], LEVEL_WIRE, record->thread) &&
            is_alike(record, &trace->record[at]) && fold_above(trace, at, &above) &&
            above == index) {
            *below = at;
            return true;
        }
    return false;
}
