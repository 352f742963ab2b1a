/* A claim is a line of the table: what its witness must show. See witness.h, shown.h. */
#include "witness/places.h"
#include "witness/shown.h"

#include <string.h>

bool at_is_call(struct at at, enum level level)
{
    return at.record->kind == RECORD_COLLECTIVE && at.record->level == level;
}

uint64_t at_data(const struct record *record)
{
    bool call = record->kind == RECORD_COLLECTIVE && record->result_hash != 0;
    return call ? record->result_hash : record->hash;
}

struct at shown_note(const struct shown *shown, enum note_kind kind, size_t nth)
{
    for (size_t i = 0; i < shown->count; i++)
        if (at_is_note(shown->event[i], kind) && nth-- == 0)
            return shown->event[i];
    return (struct at){0};
}

uint64_t shown_line(const struct shown *shown, enum note_kind kind)
{
    return shown_note(shown, kind, 0).record != NULL ? shown_note(shown, kind, 0).record->bytes : 0;
}

bool shown_pair(const struct shown *shown)
{
    return shown->sent.record != NULL && shown->got.record != NULL &&
           shown->sent.record->comm == shown->got.record->comm &&
           shown->sent.record->tag == shown->got.record->tag &&
           shown->sent.record->peer == at_rank(shown->got) &&
           shown->got.record->peer == at_rank(shown->sent);
}

uint64_t at_notes_inside(struct at call, enum note_kind kind)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < call.trace->count; i++) {
        struct at at = {call.trace, i, &call.trace->record[i]};
        count += at_is_note(at, kind) && at_inside(at, call) &&
                 at.record->peer == call.record->peer && at.record->comm == call.record->comm &&
                 (int32_t)at.record->request == call.record->tag;
    }
    return count;
}

bool shown_inside(const struct shown *shown, struct at call, enum record_kind kind)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].record->kind == kind && shown->event[i].record->level == LEVEL_WIRE &&
            at_inside(shown->event[i], call))
            return true;
    return false;
}

/* --- the table ----------------------------------------------------------------------------- */

static const struct {
    const char *claim;
    bool (*holds)(const struct shown *shown);
} table[] = {
    {"H.orphan", witness_is_orphan},
    {"H.loss", witness_is_lost},
    {"H.duplicate", witness_is_duplicate},
    {"H.payload", witness_is_other},
    {"H.order", witness_is_overtaken},
    {"H.collective", witness_is_other_call},
    {"H.result", witness_is_other_result},
    {"H.progress", witness_is_unfinished},
    {"B.empty", witness_crosses},
    {"B.commit", witness_is_not_durable},
    {"C.1.1", witness_stops_too_early},
    {"C.1.2", witness_flows_back},
    {"C.1.3", witness_flows_over},
    {"C.late.log", witness_is_unlogged},
    {"C.late.ready", witness_is_ready_too_early},
    {"C.late.replay", witness_is_replayed_wrongly},
    {"C.early.list", witness_is_unlisted},
    {"C.early.suppress", witness_is_suppressed_wrongly},
    {"C.early.same", witness_is_sent_otherwise},
    {"C.nondet", witness_is_decided_otherwise},
    {"C.class", witness_is_called_otherwise},
    {"C.epoch", witness_is_far},
    {"C.commit", witness_commits_too_early},
    {"C.restore", witness_is_other_line},
    {"C.initiate", witness_is_begun_too_early},
    {"D.2.1", witness_stops_too_early},
    {"D.2.2", witness_call_flows_back},
    {"D.2.3", witness_call_flows_over},
    {"D.all", witness_call_is_recovered_wrongly},
    {"D.gather", witness_call_is_recovered_wrongly},
    {"D.bcast", witness_call_is_recovered_wrongly},
    {"D.barrier", witness_barrier_straddles},
    {"S.cut", witness_crosses_back},
    {"S.channel", witness_channel_differs},
    {"S.done", witness_is_not_done},
    {"R.clear", witness_is_not_clear},
    {"R.atomic", witness_is_not_atomic},
    {"R.buffer", witness_is_served_wrongly},
    {"R.address", witness_is_misled},
};

static void sort_out(struct shown *shown, struct at at)
{
    const struct record *record = at.record;
    shown->event[shown->count++] = at;
    if (at_is_sent(record)) {
        shown->sent = shown->sent.record != NULL ? shown->sent : at;
        shown->sent_last = at;
    } else if (at_is_got(record)) {
        shown->got = shown->got.record != NULL ? shown->got : at;
        shown->again = at;
    } else if (at_is_note(at, NOTE_RESTORED) && shown->restored.record == NULL) {
        shown->restored = at;
    } else if (record->kind == RECORD_STORAGE && shown->written.record == NULL) {
        shown->written = at;
    }
}

enum witness_answer witness_check(const struct witness *witness)
{
    struct shown shown = {.witness = witness, .traces = witness->traces};
    for (size_t i = 0; i < witness->count; i++) {
        const struct witness_event *event = &witness->event[i];
        const struct trace *trace =
            trace_set_find(witness->traces, event->rank, event->incarnation);
        if (trace == NULL || event->index >= trace->count)
            return WITNESS_REFUTED;
        sort_out(&shown, (struct at){trace, event->index, &trace->record[event->index]});
    }
    for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if (strcmp(table[i].claim, witness->claim) == 0)
            return table[i].holds(&shown) ? WITNESS_HOLDS : WITNESS_REFUTED;
    return WITNESS_UNKNOWN_CLAIM;
}
