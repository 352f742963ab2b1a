/* See doing.h. Read from the end of the trace backwards, so that what comes again is found however
 * long the trace is; how often it came is counted back to where that began. */
#include "oracles/history_claims/doing.h"

#include "trace/calls.h"
#include "trace/record.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define CALL_BYTES 160
#define TIMES_BYTES 48

/* What comes again and again. */
struct pattern {
    size_t period; /* calls; 0: nothing does */
    uint64_t times;
    uint64_t first[DOING_PERIOD_MOST]; /* records of the first time, in their order */
};

/* --- calls of the program --------------------------------------------------------------------- */

static bool is_call(const struct record *record)
{
    return record_is_of_app(record) && record->kind != RECORD_COMM && record->call != CALL_NONE;
}

/* The newest below *index of the thread; `thread` < 0: of any. */
static bool call_before(const struct trace *trace, int thread, uint64_t *index)
{
    while (*index > 0) {
        const struct record *record = &trace->record[--*index];
        if (is_call(record) && (thread < 0 || record->thread == thread))
            return true;
    }
    return false;
}

/* The same call with the same arguments, whatever came of it. */
static bool is_same(const struct record *a, const struct record *b)
{
    if (a->kind != b->kind || a->call != b->call || a->comm != b->comm ||
        ((a->flags ^ b->flags) & FLAG_NEGATIVE))
        return false;
    switch ((unsigned)a->kind) {
    case RECORD_SEND:
        return a->peer == b->peer && a->tag == b->tag && a->bytes == b->bytes;
    case RECORD_RECV:
    case RECORD_PROBE:
        return a->want_peer == b->want_peer && a->want_tag == b->want_tag;
    case RECORD_COLLECTIVE:
        return a->peer == b->peer && a->bytes == b->bytes;
    default:
        return true;
    }
}

/* Calls that were answered "not yet" one after the other are one record. */
static uint64_t calls_of(const struct record *record)
{
    return (record->flags & FLAG_NEGATIVE) && record->bytes > 0 ? record->bytes : 1;
}

/* Whether the newest calls of the thread, `newest` and those before it, come again every `period`.
 * The ring holds the last `period` that were looked at. */
static bool comes_again(const struct trace *trace, uint64_t newest, size_t period,
                        struct pattern *pattern)
{
    uint64_t ring[DOING_PERIOD_MOST], at = newest, calls = 0;
    int thread = trace->record[newest].thread;
    uint64_t count = 0;
    do {
        const struct record *record = &trace->record[at];
        if (count >= period && !is_same(record, &trace->record[ring[count % period]]))
            break;
        ring[count++ % period] = at;
        calls += calls_of(record);
    } while (call_before(trace, thread, &at));
    pattern->times = period == 1 ? calls : count / period;
    if (pattern->times < DOING_TIMES_LEAST)
        return false;
    pattern->period = period;
    for (size_t i = 0; i < period; i++)
        pattern->first[i] = ring[(count - 1 - i) % period];
    return true;
}

/* --- in words --------------------------------------------------------------------------------- */

static const char *times_text(uint64_t times, char text[TIMES_BYTES])
{
    if (times >= 1000000)
        snprintf(text, TIMES_BYTES, "%.1f million times", (double)times / 1e6);
    else
        snprintf(text, TIMES_BYTES, "%" PRIu64 " times", times);
    return text;
}

static size_t put_source(const struct record *record, char *text, size_t bytes)
{
    int used = record->want_peer == PEER_ANY
                   ? snprintf(text, bytes, " from any rank")
                   : snprintf(text, bytes, " from rank %" PRId32, record->want_peer);
    if (record->want_tag == TAG_ANY)
        used += snprintf(text + used, bytes - (size_t)used, ", any tag");
    else
        used += snprintf(text + used, bytes - (size_t)used, ", tag %" PRId32, record->want_tag);
    return (size_t)used;
}

static const char *call_text(const struct record *record, char text[CALL_BYTES])
{
    size_t used = (size_t)snprintf(text, CALL_BYTES, "%s", call_name(record->call));
    if (record->kind == RECORD_SEND)
        used += (size_t)snprintf(text + used, CALL_BYTES - used,
                                 " of %" PRIu64 " bytes to rank %" PRId32 ", tag %" PRId32,
                                 record->bytes, record->peer, record->tag);
    else if ((record->kind == RECORD_RECV && !(record->flags & FLAG_MATCHED)) ||
             record->kind == RECORD_PROBE)
        used += put_source(record, text + used, CALL_BYTES - used);
    else if (record->kind == RECORD_COLLECTIVE && record->peer >= 0)
        used +=
            (size_t)snprintf(text + used, CALL_BYTES - used, " with root %" PRId32, record->peer);
    if (record->comm != COMM_WORLD_ID && record->comm != COMM_SELF_ID && record->comm != 0)
        used += (size_t)snprintf(text + used, CALL_BYTES - used, " on communicator %#" PRIx32,
                                 record->comm);
    if (record->flags & FLAG_NEGATIVE)
        snprintf(text + used, CALL_BYTES - used, " (\"not yet\")");
    return text;
}

static double seconds_of(const struct trace_set *traces, uint64_t ticks)
{
    return (double)trace_ns(traces, ticks) / 1e9;
}

/* ", since 0.310 s (r1#0:e20)" */
static void say_since(const struct trace_set *traces, const struct trace *trace, uint64_t index,
                      char text[DOING_TEXT_BYTES], size_t used)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref ref = {trace->rank, trace->incarnation, index};
    snprintf(text + used, DOING_TEXT_BYTES - used, " since %.3f s (%s)",
             seconds_of(traces, trace->record[index].enter), event_text(ref, event));
}

/* All calls of a pattern, as far as there is room for them and for when it began. */
static void say_pattern(const struct trace_set *traces, const struct trace *trace,
                        const struct pattern *pattern, char text[DOING_TEXT_BYTES])
{
    const size_t room = DOING_TEXT_BYTES - TIMES_BYTES - EVENT_TEXT_BYTES - 64;
    char call[CALL_BYTES], times[TIMES_BYTES];
    size_t used = (size_t)snprintf(text, DOING_TEXT_BYTES, "rank %d repeats ", trace->rank), i = 0;
    for (; i < pattern->period; i++) {
        call_text(&trace->record[pattern->first[i]], call);
        if (used + strlen(call) + 2 > room)
            break;
        used += (size_t)snprintf(text + used, room - used, "%s%s", i > 0 ? "; " : "", call);
    }
    if (i < pattern->period)
        used += (size_t)snprintf(text + used, DOING_TEXT_BYTES - used, "; and %zu calls more",
                                 pattern->period - i);
    used += (size_t)snprintf(text + used, DOING_TEXT_BYTES - used, ": %s",
                             times_text(pattern->times, times));
    say_since(traces, trace, pattern->first[0], text, used);
}

/* In a call of the program that has not returned a protocol may poll, on the wire. */
static uint64_t polls_since(const struct trace *trace, uint64_t index)
{
    uint64_t polls = 0;
    for (uint64_t at = index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if ((kind == RECORD_COMPLETE || kind == RECORD_PROBE) && record->level == LEVEL_WIRE &&
            (record->flags & FLAG_NEGATIVE))
            polls += calls_of(record);
    }
    return polls;
}

static void say_inside(const struct trace_set *traces, const struct trace *trace, uint64_t index,
                       char text[DOING_TEXT_BYTES])
{
    char call[CALL_BYTES], times[TIMES_BYTES];
    uint64_t polls = polls_since(trace, index);
    size_t used = (size_t)snprintf(text, DOING_TEXT_BYTES, "rank %d is inside %s", trace->rank,
                                   call_text(&trace->record[index], call));
    if (polls > 0)
        used += (size_t)snprintf(text + used, DOING_TEXT_BYTES - used,
                                 ", and has polled in vain %s", times_text(polls, times));
    say_since(traces, trace, index, text, used);
}

const char *doing_text(const struct trace_set *traces, int rank, char text[DOING_TEXT_BYTES])
{
    const struct trace *trace = trace_set_find(traces, rank, traces->incarnations - 1);
    struct pattern pattern = {0};
    uint64_t newest = trace != NULL ? trace->count : 0;
    snprintf(text, DOING_TEXT_BYTES, "rank %d has made no call", rank);
    if (trace == NULL || !call_before(trace, -1, &newest))
        return text;
    const struct record *record = &trace->record[newest];
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    for (size_t period = 1; period <= DOING_PERIOD_MOST && pattern.period == 0; period++)
        (void)comes_again(trace, newest, period, &pattern);
    if (pattern.period > 0) {
        say_pattern(traces, trace, &pattern, text);
    } else if (leave == 0) {
        say_inside(traces, trace, newest, text);
    } else {
        char call[CALL_BYTES], event[EVENT_TEXT_BYTES];
        struct event_ref ref = {trace->rank, trace->incarnation, newest};
        snprintf(text, DOING_TEXT_BYTES, "rank %d has made no call since %.3f s, after %s (%s)",
                 rank, seconds_of(traces, leave), call_text(record, call), event_text(ref, event));
    }
    return text;
}
