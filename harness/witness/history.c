/* See history.h. */
#include "witness/history.h"

#include "trace/calls.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define NEVER UINT64_MAX
#define LOOKS_MOST 200000000u /* at records, for one chain of messages */

static uint64_t leave_of(const struct record *record)
{
    return atomic_load_explicit(&record->leave, memory_order_relaxed);
}

bool at_is_sent(const struct record *record)
{
    return record->kind == RECORD_SEND && record->level == LEVEL_APP && record->peer >= 0;
}

static bool takes(const struct record *record)
{
    bool whole = record->kind == RECORD_RECV &&
                 (record->request == 0 || (record->flags & FLAG_MATCHED) != 0);
    return (whole || (record->kind == RECORD_COMPLETE && record->comm != 0)) &&
           !(record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED)) && record->peer >= 0 &&
           leave_of(record) != 0;
}

bool at_is_got(const struct record *record)
{
    return takes(record) && record->level == LEVEL_APP;
}

bool at_is_note(struct at at, enum note_kind kind)
{
    return at.record != NULL && at.record->kind == RECORD_NOTE && at.record->tag == (int32_t)kind;
}

uint64_t at_done(struct at at)
{
    uint64_t leave = leave_of(at.record);
    enum call_role role = call_role(at.record->call);
    if (at.record->kind == RECORD_SEND && (role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE))
        return at.record->enter;
    return leave != 0 ? leave : NEVER;
}

bool at_inside(struct at inner, struct at outer)
{
    uint64_t leave = leave_of(outer.record);
    return inner.trace == outer.trace && inner.index != outer.index &&
           inner.record->enter >= outer.record->enter &&
           (leave == 0 || inner.record->enter <= leave);
}

/* --- notes --------------------------------------------------------------------------------- */

/* The notes of a trace from the newest to the oldest, by the chain that they form. */
struct note_walk {
    const struct trace *trace;
    uint64_t next; /* index + 1 */
    uint64_t left; /* against a chain that was damaged */
};

static struct note_walk notes_of(const struct trace *trace)
{
    return (struct note_walk){trace, atomic_load(&trace->header->last_note), trace->count};
}

static struct at note_next(struct note_walk *walk)
{
    if (walk->next == 0 || walk->next > walk->trace->count || walk->left == 0)
        return (struct at){0};
    struct at note = {walk->trace, walk->next - 1, &walk->trace->record[walk->next - 1]};
    walk->left--;
    walk->next = note.record->kind == RECORD_NOTE ? note.record->previous_note : 0;
    return note;
}

/* --- where a rank stood -------------------------------------------------------------------- */

/* The newest line that the rank has gone past by notes of `kind`, or come back to, at `ticks`. */
static uint64_t newest(const struct trace *trace, enum note_kind kind, uint64_t ticks)
{
    uint64_t line = 0;
    struct note_walk notes = notes_of(trace);
    for (struct at note = note_next(&notes); note.record != NULL; note = note_next(&notes))
        if ((at_is_note(note, kind) || at_is_note(note, NOTE_RESTORED)) &&
            note.record->enter <= ticks && note.record->bytes > line)
            line = note.record->bytes;
    return line;
}

enum stand at_stand(struct at at, uint64_t line)
{
    uint64_t taken = newest(at.trace, NOTE_CHECKPOINT, at_done(at));
    if (taken > line || newest(at.trace, NOTE_STOP_LOG, at_done(at)) >= line)
        return STAND_BEYOND;
    return taken == line ? STAND_LOGGING : STAND_BEHIND;
}

uint64_t at_epoch(struct at at)
{
    return newest(at.trace, NOTE_CHECKPOINT, at_done(at));
}

/* --- effective histories ------------------------------------------------------------------- */

/* The first `kind` note, of that line if `line` is not 0; the count of records if there is none. */
static uint64_t find_note(const struct trace *trace, enum note_kind kind, uint64_t line)
{
    uint64_t first = trace->count;
    struct note_walk notes = notes_of(trace);
    for (struct at note = note_next(&notes); note.record != NULL; note = note_next(&notes))
        if (at_is_note(note, kind) && (line == 0 || note.record->bytes == line) &&
            note.index < first)
            first = note.index;
    return first;
}

/* The first record of the program's call in which the note lies; the one behind the note if there
 * is none. MPI_Init hands nothing over. */
static uint64_t begin_around(const struct trace *trace, uint64_t note)
{
    const struct record *made = &trace->record[note];
    uint64_t first = note + 1;
    for (uint64_t i = note; i > 0; i--) {
        const struct record *record = &trace->record[i - 1];
        if (record->level != LEVEL_APP || record->thread != made->thread ||
            record->kind == RECORD_GROUP || record->kind == RECORD_TEXT)
            continue;
        if ((leave_of(record) != 0 && leave_of(record) <= made->enter) ||
            record->kind == RECORD_CALL)
            break;
        first = i - 1;
    }
    return first;
}

struct span span_of(const struct trace_set *traces, const struct trace *of, int incarnation)
{
    uint64_t end = NEVER;
    while (incarnation >= of->incarnation) {
        const struct trace *trace = trace_set_find(traces, of->rank, incarnation);
        uint64_t restored = trace != NULL ? find_note(trace, NOTE_RESTORED, 0) : 0;
        bool from_nothing = trace == NULL || restored == trace->count;
        if (trace == of)
            return (struct span){from_nothing ? 0 : restored + 1, end < of->count ? end : of->count,
                                 from_nothing ? 0 : begin_around(of, restored),
                                 end < of->count ? of->record[end].enter : NEVER};
        if (from_nothing)
            break;
        uint64_t line = trace->record[restored].bytes;
        for (incarnation--; incarnation >= 0; incarnation--) {
            const struct trace *older = trace_set_find(traces, of->rank, incarnation);
            end = older != NULL ? find_note(older, NOTE_CHECKPOINT, line) : 0;
            if (older != NULL && end < older->count)
                break;
        }
    }
    return (struct span){0};
}

/* --- messages ------------------------------------------------------------------------------ */

struct channel_walk walk_of(const struct trace_set *traces, struct at message, int incarnation,
                            int below, bool got)
{
    struct channel_walk walk = {.traces = traces,
                                .key = *message.record,
                                .source = message.trace->rank,
                                .incarnation = incarnation,
                                .below = below,
                                .got = got};
    if (message.record->kind != RECORD_SEND) {
        walk.source = message.record->peer;
        walk.key.peer = message.trace->rank;
    }
    return walk;
}

/* To the next trace that may have some. */
static bool walk_on(struct channel_walk *walk)
{
    int own = walk->got ? walk->key.peer : walk->source;
    while (walk->next_trace < walk->traces->count) {
        walk->trace = &walk->traces->trace[walk->next_trace++];
        if (walk->trace->rank != own || walk->trace->incarnation >= walk->below)
            continue;
        struct span span = span_of(walk->traces, walk->trace, walk->incarnation);
        walk->index = walk->got ? span.again : span.from;
        walk->end = span.to;
        walk->cut = span.cut;
        return true;
    }
    return false;
}

/* A send that was cancelled in time, as of record `end`, sent nothing. */
static bool is_cancelled(struct at sent, uint64_t end)
{
    for (uint64_t i = sent.index + 1; sent.record->request != 0 && i < end; i++) {
        const struct record *record = &sent.trace->record[i];
        if (record->kind == RECORD_COMPLETE && record->level == sent.record->level &&
            record->request == sent.record->request && !(record->flags & FLAG_NEGATIVE))
            return (record->flags & FLAG_CANCELLED) != 0;
    }
    return false;
}

struct at walk_next(struct channel_walk *walk)
{
    int other = walk->got ? walk->source : walk->key.peer;
    do
        while (walk->index < walk->end) {
            struct at at = {walk->trace, walk->index, &walk->trace->record[walk->index]};
            walk->index++;
            if ((walk->got ? at_is_got(at.record) && at_done(at) <= walk->cut
                           : at_is_sent(at.record)) &&
                at.record->peer == other && at.record->comm == walk->key.comm &&
                at.record->tag == walk->key.tag && (walk->got || !is_cancelled(at, walk->end)))
                return at;
        }
    while (walk_on(walk));
    return (struct at){0};
}

bool same_bytes(const struct record *a, const struct record *b)
{
    bool cut =
        (a->kind != RECORD_NOTE && a->error != 0) || (b->kind != RECORD_NOTE && b->error != 0);
    return cut || ((a->flags | b->flags) & FLAG_NO_HASH) != 0 || a->hash == b->hash;
}

uint64_t walk_count(struct channel_walk walk, const struct record *like)
{
    uint64_t count = 0;
    for (struct at at = walk_next(&walk); at.record != NULL; at = walk_next(&walk))
        count += same_bytes(at.record, like);
    return count;
}

/* --- what can be known --------------------------------------------------------------------- */

/* The send of the wire that `got` took, if it lies behind `reach` and could not be another.
 * `left`: records that may still be looked at. */
static bool brings(const struct trace *sender, struct at got, uint64_t reach, uint64_t *left)
{
    for (uint64_t i = 0; i<sender->count && * left> 0; i++, (*left)--) {
        const struct record *sent = &sender->record[i];
        if (sent->kind == RECORD_SEND && sent->level == LEVEL_WIRE &&
            sent->peer == got.trace->rank && sent->comm == got.record->comm &&
            sent->tag == got.record->tag && same_bytes(sent, got.record))
            return i > reach; /* the first with these bytes */
    }
    return false;
}

bool at_is_known(const struct trace_set *traces, struct at from, struct at to)
{
    int incarnation = from.trace->incarnation;
    if (incarnation != to.trace->incarnation)
        return incarnation < to.trace->incarnation;
    uint64_t *reach = malloc((size_t)traces->ranks * sizeof *reach); /* by rank */
    if (reach == NULL || from.record->enter > at_done(to)) {
        free(reach);
        return false;
    }
    memset(reach, 0xff, (size_t)traces->ranks * sizeof *reach);
    reach[from.trace->rank] = from.index;
    uint64_t left = LOOKS_MOST;
    for (bool more = true; more && left > 0;) {
        more = false;
        for (size_t t = 0; t < traces->count; t++) {
            const struct trace *trace = &traces->trace[t];
            for (uint64_t i = 0;
                 trace->incarnation == incarnation && i < trace->count && i < reach[trace->rank];
                 i++) {
                struct at got = {trace, i, &trace->record[i]};
                if (!takes(got.record) || got.record->level != LEVEL_WIRE ||
                    got.record->peer >= traces->ranks || at_done(got) < from.record->enter ||
                    reach[got.record->peer] == NEVER)
                    continue;
                const struct trace *sender = trace_set_find(traces, got.record->peer, incarnation);
                if (sender != NULL && brings(sender, got, reach[got.record->peer], &left)) {
                    reach[trace->rank] = i;
                    more = true;
                }
            }
        }
    }
    bool known = reach[to.trace->rank] < to.index;
    free(reach);
    return known;
}
