/* See message_notes.h. A note says "I replayed a message from rank 0, tag 7" and not by which call.
 * It is made inside that call, so it is found by the channel and by time: the notes are sorted by
 * rank, channel and time, the channel is found by binary search, and the first note that is not
 * taken yet and lies within the time of the call is the one.
 *
 * Two things make that hard:
 *   - One call can have several records. MPI_Waitall has one for each request that it completes,
 *     and one for the call as a whole, before them (MPI_Testall: after them). A note can be made
 *     at any time in the call: call_span_of gives the time of the whole, and all its records.
 *   - Such a call can have several messages of one channel. Their notes lie within the same time
 *     and are told apart by the bytes.
 *
 *         Waitall: a (from 0, tag 7), b (from 0, tag 7)    notes inside: replayed b, replayed a
 *
 *     What is one note too many for a, could be b's. So message_note_take_more answers only for
 * calls that have no other message of the channel. */
#include "oracles/reading/message_notes.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

static int compare(const struct message_note *a, const struct message_note *b)
{
    const uint64_t keys[][2] = {{(uint64_t)a->rank, (uint64_t)b->rank},
                                {a->comm, b->comm},
                                {(uint32_t)a->peer, (uint32_t)b->peer},
                                {a->tag, b->tag},
                                {a->ticks, b->ticks},
                                {a->event.index, b->event.index}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

static int by_channel(const void *left, const void *right)
{
    return compare(left, right);
}

static bool is_of_message(unsigned note)
{
    return note == NOTE_LOGGED || note == NOTE_REPLAYED || note == NOTE_EARLY ||
           note == NOTE_SUPPRESSED;
}

static void add(struct message_notes *list, size_t *room, const struct trace *trace, uint64_t index)
{
    const struct record *note = &trace->record[index];
    list->note = memory_room(list->note, list->count, room, sizeof *list->note);
    list->note[list->count++] = (struct message_note){.rank = trace->rank,
                                                      .comm = note->comm,
                                                      .peer = note->peer,
                                                      .tag = note->request,
                                                      .kind = (unsigned)note->tag,
                                                      .line = note->bytes,
                                                      .hash = note->hash,
                                                      .ticks = note->enter,
                                                      .event = event_of(trace, index),
                                                      .no_hash = (note->flags & FLAG_NO_HASH) != 0};
}

void message_notes_read(const struct trace_set *traces, int incarnation, struct message_notes *list)
{
    size_t room = 0;
    *list = (struct message_notes){0};
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        uint64_t at = trace->count;
        while (trace->incarnation == incarnation && note_before(trace, at, &at))
            if (is_of_message((unsigned)trace->record[at].tag))
                add(list, &room, trace, at);
    }
    if (list->count > 1)
        qsort(list->note, list->count, sizeof *list->note, by_channel);
}

void message_notes_release(struct message_notes *list)
{
    free(list->note);
    *list = (struct message_notes){0};
}

/* --- calls --------------------------------------------------------------------------------- */

/* The record of the call as a whole. It stands next to the records of its completions: before them
 * if the call waits, after them if it tests. */
static const struct record *find_whole_call(const struct trace *trace, uint64_t index, bool before)
{
    const struct record *of = &trace->record[index];
    while (before ? index > 0 : index + 1 < trace->count) {
        const struct record *record = &trace->record[before ? --index : ++index];
        if (record->kind == RECORD_GROUP || record->kind == RECORD_TEXT ||
            record->level != LEVEL_APP || record->thread != of->thread)
            continue;
        return record->kind == RECORD_CALL && record->call == of->call ? record : NULL;
    }
    return NULL;
}

static bool waits_for_many(unsigned call)
{
    enum call_role role = call_role(call);
    return role == ROLE_WAITALL || role == ROLE_WAITANY || role == ROLE_WAITSOME;
}

static bool tests_many(unsigned call)
{
    enum call_role role = call_role(call);
    return role == ROLE_TESTALL || role == ROLE_TESTANY || role == ROLE_TESTSOME;
}

/* Both are completions of one call, or sends started by one. */
static bool is_same_call(const struct record *a, const struct record *b)
{
    if (a->kind != b->kind || a->level != b->level || a->thread != b->thread || a->call != b->call)
        return false;
    if (a->kind == RECORD_COMPLETE)
        return waits_for_many(a->call) || tests_many(a->call);
    return a->kind == RECORD_SEND && (a->flags & b->flags & FLAG_PERSISTENT) &&
           a->enter <= b->leave && b->enter <= a->leave;
}

struct call_span call_span_of(const struct trace *trace, uint64_t index)
{
    const struct record *record = &trace->record[index];
    struct call_span span = {record->enter, record->leave, index, index};
    while (span.first > 0 && is_same_call(record, &trace->record[span.first - 1]))
        span.first--;
    while (span.last + 1 < trace->count && is_same_call(record, &trace->record[span.last + 1]))
        span.last++;
    const struct record *whole = NULL;
    if (record->kind == RECORD_COMPLETE && waits_for_many(record->call))
        whole = find_whole_call(trace, span.first, true);
    else if (record->kind == RECORD_COMPLETE && tests_many(record->call))
        whole = find_whole_call(trace, span.last, false);
    if (whole != NULL) {
        span.enter = whole->enter;
        span.leave = whole->leave;
    }
    return span;
}

/* --- notes to calls ------------------------------------------------------------------------ */

static bool is_same_channel(const struct record *a, const struct record *b)
{
    return a->comm == b->comm && a->peer == b->peer && a->tag == b->tag;
}

/* No other message of the channel in the same call. */
static bool is_alone(const struct trace *trace, uint64_t index, const struct call_span *span)
{
    for (uint64_t at = span->first; at <= span->last; at++)
        if (at != index && is_same_channel(&trace->record[at], &trace->record[index]))
            return false;
    return true;
}

static size_t first_of_channel(const struct message_notes *list, int rank,
                               const struct record *record)
{
    struct message_note key = {
        .rank = rank, .comm = record->comm, .peer = record->peer, .tag = (uint32_t)record->tag};
    size_t low = 0, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare(&list->note[middle], &key) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static struct message_note *take(struct message_notes *list, const struct trace *trace,
                                 uint64_t index, unsigned kinds, bool only_alone)
{
    const struct record *record = &trace->record[index];
    if (list->count == 0)
        return NULL;
    struct call_span span = call_span_of(trace, index);
    bool alone = is_alone(trace, index, &span);
    if (only_alone && !alone)
        return NULL;
    bool no_hash = (record->flags & FLAG_NO_HASH) != 0;
    for (size_t i = first_of_channel(list, trace->rank, record); i < list->count; i++) {
        struct message_note *note = &list->note[i];
        if (note->rank != trace->rank || note->comm != record->comm || note->peer != record->peer ||
            note->tag != (uint32_t)record->tag || note->ticks > span.leave)
            break;
        if (note->taken || note->ticks < span.enter || !(1u << note->kind & kinds) ||
            !(alone || no_hash || note->no_hash || note->hash == record->hash))
            continue;
        note->taken = true;
        return note;
    }
    return NULL;
}

struct message_note *message_note_take(struct message_notes *list, const struct trace *trace,
                                       uint64_t index, unsigned kinds)
{
    return take(list, trace, index, kinds, false);
}

struct message_note *message_note_take_more(struct message_notes *list, const struct trace *trace,
                                            uint64_t index, unsigned kinds)
{
    return take(list, trace, index, kinds, true);
}

/* The record of a call that waits stands before the notes made inside it, that of a call that tests
 * after them. */
const struct record *message_note_inside(const struct message_note *note, const struct trace *trace)
{
    for (uint64_t at = note->event.index; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (!record_is_of_app(record))
            continue;
        if (record->leave == 0 || record->leave >= note->ticks)
            return record;
        break;
    }
    for (uint64_t at = note->event.index + 1; at < trace->count; at++) {
        const struct record *record = &trace->record[at];
        if (record_is_of_app(record) && record->enter != record->leave)
            return record->enter <= note->ticks ? record : NULL;
    }
    return NULL;
}

bool message_note_in_finished_call(const struct message_note *note, const struct trace *trace)
{
    for (uint64_t at = note->event.index + 1; at < trace->count; at++)
        if (record_is_of_app(&trace->record[at]))
            return true;
    return false;
}
