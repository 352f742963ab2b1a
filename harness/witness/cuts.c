/* What the witnesses of families S and R must show: cuts, what was told of channels, and places.
 * See shown.h. Of a run in which ranks moved, counts of what was sent are believed: what counts of
 * a rank lies in several traces. */
#include "witness/places.h"
#include "witness/shown.h"

#include "trace/calls.h"

/* --- channels ------------------------------------------------------------------------------ */

/* What a note on a message, a send or a delivery is about. */
struct about {
    uint32_t comm;
    int tag;
    int source;
    int destination;
    const struct record *bytes; /* whose bytes */
};

static struct about about_of(struct at at)
{
    const struct record *record = at.record;
    struct about about = {record->comm, record->tag, record->peer, at_rank(at), record};
    if (record->kind == RECORD_NOTE)
        about.tag = (int)record->request;
    if (record->kind == RECORD_SEND) {
        about.source = at_rank(at);
        about.destination = record->peer;
    }
    return about;
}

/* Notes of that kind and line on that message in the trace, up to `ticks`. */
static unsigned told(const struct trace *trace, enum note_kind kind, uint64_t line,
                     const struct about *about, uint64_t ticks)
{
    unsigned count = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        struct at at = {trace, i, &trace->record[i]};
        count += at_is_note(at, kind) && at.record->bytes == line && at.record->enter <= ticks &&
                 at.record->comm == about->comm && at.record->peer == about->source &&
                 (int)at.record->request == about->tag && same_bytes(at.record, about->bytes);
    }
    return count;
}

/* The rank's own checkpoint of the line in that incarnation. */
static struct at checkpoint_of(const struct trace_set *traces, int rank, int incarnation,
                               uint64_t line)
{
    for (size_t t = 0; t < traces->count; t++)
        for (uint64_t i = 0; i < traces->trace[t].count; i++) {
            struct at at = {&traces->trace[t], i, &traces->trace[t].record[i]};
            if (at.trace->incarnation == incarnation && at_is_note(at, NOTE_CHECKPOINT) &&
                at.record->bytes == line && at_rank(at) == rank)
                return at;
        }
    return (struct at){0};
}

/* How many of these messages cross the line forwards, at least and at most. */
struct crossing {
    unsigned least;
    unsigned most;
};

static struct crossing crossing_of(const struct trace_set *traces, const struct about *about,
                                   struct at from, struct at to)
{
    struct crossing crossing = {0};
    struct channel_walk walk = {
        .traces = traces,
        .key = {.comm = about->comm, .tag = about->tag, .peer = about->destination},
        .source = about->source,
        .incarnation = to.trace->incarnation,
        .below = to.trace->incarnation + 1};
    struct channel_walk got = walk;
    unsigned handed = 0;
    got.got = true;
    for (struct at at = walk_next(&walk); at.record != NULL; at = walk_next(&walk)) {
        bool own = at.trace == from.trace;
        bool same = same_bytes(at.record, about->bytes);
        crossing.least += same && (!own || at_done(at) <= from.record->enter);
        crossing.most += same && (!own || at.record->enter <= from.record->enter);
    }
    for (struct at at = walk_next(&got); at.record != NULL; at = walk_next(&got))
        handed += same_bytes(at.record, about->bytes) &&
                  (at.trace != to.trace || at_done(at) <= to.record->enter);
    crossing.least -= handed < crossing.least ? handed : crossing.least;
    crossing.most -= handed < crossing.most ? handed : crossing.most;
    return crossing;
}

/* --- S ------------------------------------------------------------------------------------- */

/* The checkpoint of whoever was the same rank, of those that are shown: it may have moved since. */
static struct at shown_checkpoint(const struct shown *shown, struct at of)
{
    struct at note;
    for (size_t i = 0; (note = shown_note(shown, NOTE_CHECKPOINT, i)).record != NULL; i++)
        if (at_rank(note) == at_rank(of))
            return note;
    return (struct at){0};
}

/* In a call of both the one gives and the other gets. Who is lower in a scan's communicator is
 * believed. */
static bool gives_to(struct at from, struct at to)
{
    bool both = at_is_call(from, LEVEL_APP) && at_is_call(to, LEVEL_APP) &&
                from.trace != to.trace && from.record->call == to.record->call &&
                from.record->comm == to.record->comm;
    switch (call_operation(from.record->call)) {
    case OPERATION_BCAST:
    case OPERATION_SCATTER:
    case OPERATION_SCATTERV:
        return both && from.record->peer == at_rank(from);
    case OPERATION_GATHER:
    case OPERATION_GATHERV:
    case OPERATION_REDUCE:
        return both && to.record->peer == at_rank(to);
    default:
        return both;
    }
}

/* Given behind the one's checkpoint of a line, had before the other's. */
static bool turns_back(const struct shown *shown, struct at given, struct at got)
{
    struct at from = shown_checkpoint(shown, given);
    struct at to = shown_checkpoint(shown, got);
    return from.record != NULL && to.record != NULL && from.record->bytes == to.record->bytes &&
           given.record->enter > from.record->enter && at_done(got) <= to.record->enter;
}

bool witness_crosses_back(const struct shown *shown)
{
    if (shown_pair(shown))
        return turns_back(shown, shown->sent, shown->got);
    for (size_t i = 0; i < shown->count; i++)
        for (size_t k = 0; k < shown->count; k++)
            if (gives_to(shown->event[i], shown->event[k]) &&
                turns_back(shown, shown->event[i], shown->event[k]))
                return true;
    return false;
}

/* Of the same channel, what was sent later is recorded with the line, before `limit`. */
static bool is_passed(struct at sent, struct at to, uint64_t limit)
{
    for (uint64_t i = sent.index + 1; i < sent.trace->count; i++) {
        struct at later = {sent.trace, i, &sent.trace->record[i]};
        if (!at_is_sent(later.record) || later.record->comm != sent.record->comm ||
            later.record->peer != sent.record->peer)
            continue;
        struct about about = about_of(later);
        if (told(to.trace, NOTE_RECORDED, to.record->bytes, &about, limit) > 0)
            return true;
    }
    return false;
}

bool witness_channel_differs(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_RECORDED, 0);
    struct at message = shown->sent.record != NULL ? shown->sent : note;
    uint64_t line = shown_line(shown, NOTE_CHECKPOINT);
    if (message.record == NULL || line == 0)
        return false;
    struct about about = about_of(message);
    int incarnation = shown_note(shown, NOTE_CHECKPOINT, 0).trace->incarnation;
    struct at from = checkpoint_of(shown->traces, about.source, incarnation, line);
    struct at to = checkpoint_of(shown->traces, about.destination, incarnation, line);
    if (from.record == NULL || to.record == NULL)
        return false;
    if (places_move(shown->traces))
        return true;
    struct crossing crossing = crossing_of(shown->traces, &about, from, to);
    unsigned recorded = told(to.trace, NOTE_RECORDED, line, &about, UINT64_MAX);
    return recorded < crossing.least || recorded > crossing.most ||
           (note.record != NULL && message.record != note.record &&
            is_passed(message, to, note.record->enter));
}

/* Two notes of that kind and line, and of that peer, by one rank in one life of the job. */
static bool is_told_twice(const struct shown *shown, enum note_kind kind)
{
    struct at a = shown_note(shown, kind, 0), b = shown_note(shown, kind, 1);
    return a.record != NULL && b.record != NULL && a.record != b.record &&
           at_rank(a) == at_rank(b) && a.trace->incarnation == b.trace->incarnation &&
           a.record->bytes == b.record->bytes && a.record->peer == b.record->peer;
}

/* The channel from that rank was told to be clear by that note. */
static bool is_clear(struct at by, int peer)
{
    for (uint64_t i = 0; i < by.index; i++) {
        struct at at = {by.trace, i, &by.trace->record[i]};
        if (at_is_note(at, NOTE_CLEAR) && at.record->bytes == by.record->bytes &&
            at.record->peer == peer)
            return true;
    }
    return false;
}

/* Not all channels into the rank were told to be clear by that note of its own. */
static bool is_open(const struct shown *shown, struct at by)
{
    for (int peer = 0; by.record != NULL && peer < shown->traces->ranks; peer++)
        if (peer != at_rank(by) && places_have(shown->traces, peer) && !is_clear(by, peer))
            return true;
    return false;
}

/* Some rank never took its checkpoint of the line. */
static bool somebody_took_none(const struct shown *shown, struct at commit)
{
    for (int rank = 0; rank < shown->traces->ranks; rank++)
        if (places_have(shown->traces, rank) &&
            checkpoint_of(shown->traces, rank, commit.trace->incarnation, commit.record->bytes)
                    .record == NULL)
            return true;
    return false;
}

bool witness_is_not_done(const struct shown *shown)
{
    struct at commit = shown_note(shown, NOTE_COMMIT, 0);
    if (is_told_twice(shown, NOTE_CHECKPOINT) || is_told_twice(shown, NOTE_CLEAR))
        return true;
    return commit.record != NULL
               ? witness_commits_too_early(shown) || somebody_took_none(shown, commit)
               : is_open(shown, shown_note(shown, NOTE_SAVED, 0));
}

/* --- R ------------------------------------------------------------------------------------- */

bool witness_is_not_clear(const struct shown *shown)
{
    struct at taken = shown_note(shown, NOTE_CHECKPOINT, 0);
    if (taken.record == NULL || shown->sent.record == NULL)
        return is_open(shown, taken);
    struct about about = about_of(shown->sent);
    struct at from =
        checkpoint_of(shown->traces, about.source, taken.trace->incarnation, taken.record->bytes);
    if (from.record == NULL || about.destination != at_rank(taken))
        return false;
    return places_move(shown->traces) ||
           told(taken.trace, NOTE_RECORDED, taken.record->bytes, &about, taken.record->enter) <
               crossing_of(shown->traces, &about, from, taken).least;
}

bool witness_is_not_atomic(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_NOTIFIED, 0);
    return note.record != NULL && shown->sent.record != NULL && at_inside(note, shown->sent) &&
           note.record->thread == shown->sent.record->thread &&
           at_done(shown->sent) > shown->sent.record->enter &&
           shown->sent.record->call != CALL_MPI_Ssend;
}

/* Whether what the receive asks for fits the note; where it was posted by another call that is
 * believed. */
static bool asks_for(const struct record *got, const struct record *note)
{
    return got->comm == note->comm &&
           (got->kind != RECORD_RECV ||
            ((got->want_peer == PEER_ANY || got->want_peer == note->peer) &&
             (got->want_tag == TAG_ANY || got->want_tag == (int)note->request)));
}

/* Handed over from the buffer more often than recorded where the rank took the line last: it may
 * have been begun before, and not finished. */
static bool is_replayed_too_often(const struct shown *shown, struct at replayed, uint64_t line)
{
    struct about about = about_of(replayed);
    struct at taken = {0};
    for (int i = replayed.trace->incarnation; i >= 0 && taken.record == NULL; i--) {
        taken = checkpoint_of(shown->traces, at_rank(replayed), i, line);
        if (taken.trace == replayed.trace)
            taken = (struct at){0};
    }
    unsigned recorded =
        taken.record != NULL ? told(taken.trace, NOTE_RECORDED, line, &about, UINT64_MAX) : 0;
    return told(replayed.trace, NOTE_REPLAYED, line, &about, UINT64_MAX) > recorded;
}

bool witness_is_served_wrongly(const struct shown *shown)
{
    struct at recorded = shown_note(shown, NOTE_RECORDED, 0);
    struct at replayed = shown_note(shown, NOTE_REPLAYED, 0);
    uint64_t line = shown_line(shown, NOTE_RESTORED);
    if (shown->got.record == NULL || line == 0)
        return false;
    if (replayed.record != NULL)
        return is_replayed_too_often(shown, replayed, line);
    const struct record *got = shown->got.record;
    if (recorded.record == NULL || recorded.record->bytes != line)
        return false;
    bool it = got->peer == recorded.record->peer && got->tag == (int)recorded.record->request &&
              got->comm == recorded.record->comm && same_bytes(got, recorded.record);
    return it ? at_notes_inside(shown->got, NOTE_REPLAYED) == 0 || got->kind == RECORD_COMPLETE
              : asks_for(got, recorded.record);
}

/* Where the process reaches that rank, as it has said by record `below`. */
static int place_of(const struct trace *trace, int rank, uint64_t below)
{
    int place = rank;
    for (uint64_t i = 0; i < below; i++)
        if (at_is_note((struct at){trace, i, &trace->record[i]}, NOTE_ADDRESS) &&
            trace->record[i].bytes == (uint64_t)rank)
            place = trace->record[i].peer;
    return place;
}

static bool goes_to_nobody(const struct shown *shown, struct at sent, struct at note)
{
    for (int rank = 0; rank < shown->traces->ranks; rank++)
        if (places_have(shown->traces, rank) &&
            place_of(sent.trace, rank, sent.index) == sent.record->peer)
            return false;
    return sent.trace == note.trace && sent.index > note.index &&
           sent.record->comm == note.record->comm;
}

bool witness_is_misled(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_ADDRESS, 0);
    struct at last = shown->count > 0 ? shown->event[shown->count - 1] : (struct at){0};
    if (last.record == NULL || last.record->peer < 0)
        return false;
    if (note.record == NULL)
        return last.record->level == LEVEL_APP && !places_have(shown->traces, last.record->peer);
    return last.record->kind == RECORD_SEND && last.record->level == LEVEL_WIRE &&
           goes_to_nobody(shown, last, note);
}
