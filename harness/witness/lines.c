/* What the witnesses of family C must show: lines and recovery. See shown.h. */
#include "witness/places.h"
#include "witness/shown.h"

#include "trace/calls.h"

/* --- C: lines ------------------------------------------------------------------------------ */

/* Some rank has no such note of the line in this incarnation, or `then` cannot know of it. */
static bool somebody_lacks(const struct shown *shown, enum note_kind kind, struct at then)
{
    bool has[TRACE_MAX_RANKS] = {false};
    int ranks = shown->traces->ranks < TRACE_MAX_RANKS ? shown->traces->ranks : TRACE_MAX_RANKS;
    for (size_t t = 0; t < shown->traces->count; t++)
        for (uint64_t i = 0; i < shown->traces->trace[t].count; i++) {
            const struct trace *trace = &shown->traces->trace[t];
            struct at at = {trace, i, &trace->record[i]};
            if (at_is_note(at, kind) && at.record->bytes == then.record->bytes &&
                at_rank(at) >= 0 && at_rank(at) < ranks &&
                trace->incarnation == then.trace->incarnation &&
                (at.trace == then.trace ? at.index < then.index
                                        : at_is_known(shown->traces, at, then)))
                has[at_rank(at)] = true;
        }
    for (int rank = 0; rank < ranks; rank++)
        if (!has[rank] && places_have(shown->traces, rank))
            return true;
    return false;
}

bool witness_stops_too_early(const struct shown *shown)
{
    struct at stop = shown_note(shown, NOTE_STOP_LOG, 0);
    return stop.record != NULL && somebody_lacks(shown, NOTE_CHECKPOINT, stop);
}

bool witness_commits_too_early(const struct shown *shown)
{
    struct at commit = shown_note(shown, NOTE_COMMIT, 0);
    return shown->written.record != NULL
               ? witness_is_not_durable(shown)
               : commit.record != NULL && somebody_lacks(shown, NOTE_SAVED, commit);
}

bool witness_flows_back(const struct shown *shown)
{
    uint64_t line = shown_line(shown, NOTE_STOP_LOG);
    return shown_pair(shown) && at_stand(shown->sent, line) == STAND_BEYOND &&
           at_stand(shown->got, line) != STAND_BEYOND;
}

bool witness_flows_over(const struct shown *shown)
{
    uint64_t line = shown_line(shown, NOTE_STOP_LOG);
    return shown_pair(shown) && at_stand(shown->sent, line) == STAND_BEHIND &&
           at_stand(shown->got, line) == STAND_BEYOND;
}

static bool is_late(const struct shown *shown)
{
    return shown_pair(shown) && at_epoch(shown->sent) < at_epoch(shown->got);
}

static bool is_early(const struct shown *shown)
{
    return shown_pair(shown) && at_epoch(shown->sent) > at_epoch(shown->got);
}

/* Lines that the rank took, from behind `low` to `high`. Numbers may be left out. */
static uint64_t lines_between(const struct trace *trace, uint64_t low, uint64_t high)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        struct at at = {trace, i, &trace->record[i]};
        count +=
            at_is_note(at, NOTE_CHECKPOINT) && at.record->bytes > low && at.record->bytes <= high;
    }
    return count;
}

bool witness_is_far(const struct shown *shown)
{
    if (!shown_pair(shown))
        return false;
    uint64_t a = at_epoch(shown->sent), b = at_epoch(shown->got);
    uint64_t low = a < b ? a : b, high = a < b ? b : a;
    return lines_between(shown->sent.trace, low, high) > 1 ||
           lines_between(shown->got.trace, low, high) > 1;
}

/* The call that hands the message over has a note of it, of that line, before `limit`. */
static bool is_noted(struct at got, enum note_kind kind, uint64_t line, enum note_kind limit)
{
    for (uint64_t i = 0; i < got.trace->count; i++) {
        struct at at = {got.trace, i, &got.trace->record[i]};
        if (at_is_note(at, limit) && at.record->bytes == line)
            return false;
        if (at_is_note(at, kind) && at.record->bytes == line && at_inside(at, got) &&
            at.record->peer == got.record->peer && at.record->comm == got.record->comm &&
            (int32_t)at.record->request == got.record->tag && same_bytes(at.record, got.record))
            return true;
    }
    return false;
}

bool witness_is_unlogged(const struct shown *shown)
{
    return is_late(shown) &&
           !is_noted(shown->got, NOTE_LOGGED, at_epoch(shown->got), NOTE_STOP_LOG);
}

bool witness_is_unlisted(const struct shown *shown)
{
    return is_early(shown) &&
           !is_noted(shown->got, NOTE_EARLY, at_epoch(shown->sent), NOTE_CHECKPOINT);
}

/* A note on a message that no call, of those it was made in, delivers. */
static bool is_of_nothing(struct at said)
{
    for (uint64_t i = 0; said.record != NULL && i < said.trace->count; i++) {
        struct at at = {said.trace, i, &said.trace->record[i]};
        if (at_is_got(at.record) && at_inside(said, at) && at.record->peer == said.record->peer &&
            at.record->comm == said.record->comm &&
            at.record->tag == (int32_t)said.record->request && same_bytes(at.record, said.record))
            return false;
    }
    return said.record != NULL;
}

bool witness_is_called_otherwise(const struct shown *shown)
{
    struct at logged = shown_note(shown, NOTE_LOGGED, 0), early = shown_note(shown, NOTE_EARLY, 0);
    if (!shown_pair(shown))
        return is_of_nothing(logged.record != NULL ? logged : early);
    return at_notes_inside(shown->got, NOTE_LOGGED) != is_late(shown) ||
           at_notes_inside(shown->got, NOTE_EARLY) != is_early(shown) ||
           (logged.record != NULL && logged.record->bytes != at_epoch(shown->got)) ||
           (early.record != NULL && early.record->bytes != at_epoch(shown->sent));
}

bool witness_is_ready_too_early(const struct shown *shown)
{
    struct at ready = shown_note(shown, NOTE_READY, 0);
    if (ready.record == NULL || shown->sent.record == NULL)
        return false;
    if (shown->got.record == NULL)
        return at_stand(shown->sent, ready.record->bytes) == STAND_BEHIND &&
               shown_is_lost(shown, ready.trace->incarnation);
    return is_late(shown) && ready.record->enter < at_done(shown->got);
}

/* --- C: recovery --------------------------------------------------------------------------- */

/* More notes of this message in this incarnation than messages were open at the line: `more` sent
 * than delivered before it, or, of early ones, delivered than sent. */
static bool is_too_many(const struct shown *shown, struct at said, bool late)
{
    struct record key = *said.record;
    uint64_t said_so = 0;
    key.tag = (int32_t)said.record->request;
    key.kind = late ? RECORD_RECV : RECORD_SEND;
    struct at message = {said.trace, said.index, &key};
    for (uint64_t i = 0; i <= said.index; i++) {
        const struct record *record = &said.trace->record[i];
        said_so += record->kind == RECORD_NOTE && record->tag == said.record->tag &&
                   record->peer == said.record->peer && record->request == said.record->request &&
                   same_bytes(record, said.record);
    }
    int incarnation = said.trace->incarnation;
    uint64_t sent =
        walk_count(walk_of(shown->traces, message, incarnation, incarnation, false), said.record);
    uint64_t got =
        walk_count(walk_of(shown->traces, message, incarnation, incarnation, true), said.record);
    uint64_t open = late ? sent - (got < sent ? got : sent) : got - (sent < got ? sent : got);
    return said_so > open;
}

bool witness_is_replayed_wrongly(const struct shown *shown)
{
    struct at said = shown_note(shown, NOTE_REPLAYED, 0);
    if (shown->sent.record == NULL || shown->got.record == NULL)
        return said.record != NULL && is_too_many(shown, said, true);
    return at_notes_inside(shown->got, NOTE_REPLAYED) != 1 ||
           shown_inside(shown, shown->got, RECORD_RECV) ||
           !same_bytes(shown->sent.record, shown->got.record);
}

bool witness_is_suppressed_wrongly(const struct shown *shown)
{
    struct at said = shown_note(shown, NOTE_SUPPRESSED, 0);
    if (shown->sent.record == NULL)
        return said.record != NULL && is_too_many(shown, said, false);
    return shown->sent_last.trace->incarnation > shown->sent.trace->incarnation &&
           (at_notes_inside(shown->sent_last, NOTE_SUPPRESSED) != 1 ||
            shown_inside(shown, shown->sent_last, RECORD_SEND));
}

bool witness_is_sent_otherwise(const struct shown *shown)
{
    return shown->sent.record != NULL &&
           (!same_bytes(shown->sent.record, shown->sent_last.record) ||
            shown->sent.record->bytes != shown->sent_last.record->bytes);
}

/* How often the rank was told "not yet" between the line and the event. */
static uint64_t polls(struct at at, uint64_t line)
{
    uint64_t count = 0;
    for (uint64_t i = 0; i < at.index; i++) {
        const struct record *record = &at.trace->record[i];
        struct at before = {at.trace, i, record};
        if ((at_is_note(before, NOTE_CHECKPOINT) || at_is_note(before, NOTE_RESTORED)) &&
            record->bytes == line)
            count = 0;
        else if (record->level == LEVEL_APP && (record->flags & FLAG_NEGATIVE))
            count += record->bytes;
    }
    return count;
}

static bool is_choice(const struct record *record)
{
    enum call_role role = call_role(record->call);
    return record->kind == RECORD_COMPLETE && (role == ROLE_WAITANY || role == ROLE_WAITSOME ||
                                               role == ROLE_TESTANY || role == ROLE_TESTSOME);
}

/* Requests are numbered anew, so which of them a call chose is believed. */
bool witness_is_decided_otherwise(const struct shown *shown)
{
    uint64_t line = shown_line(shown, NOTE_RESTORED);
    if (shown->count < 2 || shown->restored.record == NULL)
        return false;
    struct at a = shown->event[1], b = shown->event[shown->count - 1];
    if (shown->count < 3)
        return a.trace->rank == shown->restored.trace->rank;
    return a.record->kind != b.record->kind || a.record->peer != b.record->peer ||
           a.record->tag != b.record->tag || a.record->bytes != b.record->bytes ||
           a.record->hash != b.record->hash || is_choice(a.record) ||
           polls(a, line) != polls(b, line);
}

/* The newest line committed before that incarnation; 0: none. */
static uint64_t committed(const struct shown *shown, int incarnation)
{
    uint64_t line = 0;
    for (size_t t = 0; t < shown->traces->count; t++)
        for (uint64_t i = 0; i < shown->traces->trace[t].count; i++) {
            const struct trace *trace = &shown->traces->trace[t];
            struct at at = {trace, i, &trace->record[i]};
            if (trace->incarnation < incarnation && at_is_note(at, NOTE_COMMIT) &&
                at.record->bytes > line)
                line = at.record->bytes;
        }
    return line;
}

/* Some rank of the incarnation restored something else than `line`, or nothing, and it came to its
 * end or the incarnation is the last one. */
static bool is_restored_otherwise(const struct shown *shown, int incarnation, uint64_t line)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        bool same = false, any = incarnation == shown->traces->incarnations - 1 ||
                                 atomic_load(&trace->header->closed) != 0;
        for (uint64_t i = 0; trace->incarnation == incarnation && i < trace->count; i++)
            if (at_is_note((struct at){trace, i, &trace->record[i]}, NOTE_RESTORED)) {
                any = true;
                same |= trace->record[i].bytes == line;
            }
        if (trace->incarnation == incarnation && any && !same)
            return true;
    }
    return false;
}

/* In some incarnation behind the commit: those in between may have died before they restored. */
static bool is_left_behind(const struct shown *shown, struct at commit)
{
    for (int i = commit.trace->incarnation + 1; i < shown->traces->incarnations; i++)
        if (is_restored_otherwise(shown, i, commit.record->bytes))
            return true;
    return false;
}

bool witness_is_other_line(const struct shown *shown)
{
    struct at commit = shown_note(shown, NOTE_COMMIT, 0);
    if (shown->restored.record == NULL)
        return commit.record != NULL && is_left_behind(shown, commit);
    int incarnation = shown->restored.trace->incarnation;
    uint64_t line = shown->restored.record->bytes;
    return line != committed(shown, incarnation) || is_restored_otherwise(shown, incarnation, line);
}

bool witness_is_begun_too_early(const struct shown *shown)
{
    struct at second = shown_note(shown, NOTE_INITIATED, 1),
              commit = shown_note(shown, NOTE_COMMIT, 0);
    struct at first = shown_note(shown, NOTE_INITIATED, 0);
    if (shown->restored.record != NULL && second.record == NULL)
        return first.record != NULL && first.record->bytes <= shown->restored.record->bytes;
    return second.record != NULL &&
           (second.record->bytes <= first.record->bytes || commit.record == NULL ||
            !at_is_known(shown->traces, commit, second));
}
