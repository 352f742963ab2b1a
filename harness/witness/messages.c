/* What the witnesses of families H and B must show: effective histories, and files. See shown.h. */
#include "witness/places.h"
#include "witness/shown.h"

#include <string.h>

/* --- H, B: histories ----------------------------------------------------------------------- */

/* Of these bytes more were delivered than sent, or the other way round, or the k-th delivered is
 * not the k-th sent. Requests may complete in another order than they were posted in: not there.
 * Where ranks moved, what counts of one lies in several traces: it is believed. */
static bool differs(const struct shown *shown, struct at message, int incarnation, bool too_many)
{
    if (places_move(shown->traces))
        return true;
    struct channel_walk sent = walk_of(shown->traces, message, incarnation, incarnation + 1, false);
    struct channel_walk got = walk_of(shown->traces, message, incarnation, incarnation + 1, true);
    uint64_t all_sent = walk_count(sent, message.record);
    uint64_t all_got = walk_count(got, message.record);
    if (too_many ? all_got > all_sent : all_sent > all_got)
        return true;
    struct at a, b;
    while ((a = walk_next(&sent)).record != NULL && (b = walk_next(&got)).record != NULL &&
           b.record->kind == RECORD_RECV)
        if (!same_bytes(a.record, b.record))
            return true;
    return false;
}

bool shown_is_lost(const struct shown *shown, int incarnation)
{
    return shown->sent.record != NULL && differs(shown, shown->sent, incarnation, false);
}

bool witness_is_lost(const struct shown *shown)
{
    return shown_is_lost(shown, shown->traces->incarnations - 1);
}

bool witness_is_orphan(const struct shown *shown)
{
    for (int i = shown->traces->incarnations - 1; shown->got.record != NULL && i >= 0; i--)
        if (differs(shown, shown->got, i, true))
            return true;
    return false;
}

bool witness_is_duplicate(const struct shown *shown)
{
    return shown_pair(shown) && shown->again.record != shown->got.record &&
           same_bytes(shown->got.record, shown->again.record) && witness_is_orphan(shown);
}

bool witness_is_other(const struct shown *shown)
{
    return shown_pair(shown) && (!same_bytes(shown->sent.record, shown->got.record) ||
                                 shown->sent.record->bytes != shown->got.record->bytes);
}

/* Requests may complete in another order than they were posted in. */
bool witness_is_overtaken(const struct shown *shown)
{
    bool any_tag = shown->got.record != NULL && shown->got.record->want_tag == TAG_ANY &&
                   shown->sent_last.record != NULL &&
                   shown->sent.record->tag != shown->sent_last.record->tag;
    return any_tag ||
           (shown_pair(shown) && (differs(shown, shown->got, shown->got.trace->incarnation, true) ||
                                  shown->got.record->kind == RECORD_COMPLETE));
}

/* In what led to the newest incarnation that the witness shows. */
static uint64_t calls_on(const struct shown *shown, struct at of)
{
    uint64_t count = 0;
    int incarnation = 0;
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].trace->incarnation > incarnation)
            incarnation = shown->event[i].trace->incarnation;
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        if (trace->rank != of.trace->rank)
            continue;
        struct span span = span_of(shown->traces, trace, incarnation);
        for (uint64_t i = span.from; i < span.to; i++)
            count += at_is_call((struct at){trace, i, &trace->record[i]}, LEVEL_APP) &&
                     trace->record[i].comm == of.record->comm;
    }
    return count;
}

bool witness_is_other_call(const struct shown *shown)
{
    for (size_t i = 1; i < shown->count; i++) {
        const struct record *a = shown->event[0].record, *b = shown->event[i].record;
        if (a->call != b->call || a->peer != b->peer || a->bytes != b->bytes ||
            at_data(a) != at_data(b) ||
            calls_on(shown, shown->event[0]) != calls_on(shown, shown->event[i]))
            return true;
    }
    return false;
}

/* The last word on the result in the last incarnation is that of the reference. */
static bool is_declared(const struct shown *shown, const struct witness_reference *wanted)
{
    bool same = false;
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        if (trace->rank != wanted->rank)
            continue;
        struct span span = span_of(shown->traces, trace, shown->traces->incarnations - 1);
        for (uint64_t i = span.from; i < span.to; i++) {
            const struct record *record = &trace->record[i];
            char name[64];
            if (!at_is_note((struct at){trace, i, record}, NOTE_RESULT))
                continue;
            trace_text(trace, i, name, sizeof name);
            if (strcmp(name, wanted->name) == 0)
                same = record->bytes == wanted->bytes && record->hash == wanted->hash;
        }
    }
    return same;
}

/* The event itself is such a declaration, of a rank that may have moved since. */
static bool is_declared_otherwise(struct at event, const struct witness_reference *wanted)
{
    return at_is_note(event, NOTE_RESULT) &&
           (event.record->bytes != wanted->bytes || event.record->hash != wanted->hash) &&
           at_rank(event) != event.trace->rank;
}

bool witness_is_other_result(const struct shown *shown)
{
    for (size_t r = 0; r < shown->witness->reference_count; r++) {
        const struct witness_reference *wanted = &shown->witness->reference[r];
        struct at event = shown->count > 0 ? shown->event[0] : (struct at){0};
        if ((event.record == NULL || at_rank(event) == wanted->rank) &&
            (is_declared_otherwise(event, wanted) || !is_declared(shown, wanted)))
            return true;
    }
    return false;
}

bool witness_is_unfinished(const struct shown *shown)
{
    return !shown->witness->finished;
}

bool witness_crosses(const struct shown *shown)
{
    bool before[2] = {false, false};
    for (size_t i = 0; shown_pair(shown) && i < shown->count; i++) {
        struct at at = shown->event[i];
        if (!at_is_note(at, NOTE_CHECKPOINT))
            continue;
        if (at.trace == shown->sent.trace)
            before[0] = shown->sent.index < at.index;
        if (at.trace == shown->got.trace)
            before[1] = shown->got.index < at.index;
    }
    return before[0] != before[1];
}

/* Of content or name, behind the call and before the commit. */
static bool is_synced(const struct shown *shown, uint32_t number, struct at commit)
{
    uint64_t from = shown->written.record->enter;
    for (size_t t = 0; t < shown->traces->count; t++)
        for (uint64_t i = 0; i < shown->traces->trace[t].count; i++) {
            const struct record *record = &shown->traces->trace[t].record[i];
            if (record->kind == RECORD_STORAGE && record->error == 0 && record->enter > from &&
                record->enter < commit.record->enter &&
                (record->tag == STORAGE_SYNC_ALL ||
                 (record->tag == STORAGE_SYNC && record->request == number)))
                return true;
        }
    return false;
}

bool witness_is_not_durable(const struct shown *shown)
{
    struct at commit = shown_note(shown, NOTE_COMMIT, 0);
    return commit.record != NULL && shown->written.record != NULL &&
           !(is_synced(shown, shown->written.record->request, commit) &&
             is_synced(shown, shown->written.record->comm, commit));
}
