/* S.channel: what was recorded of a channel with a line is what crosses the line forwards in it:
 * the same messages, in the order in which they were sent, with their bytes. A channel goes from a
 * rank to a rank on a communicator, whatever the tags. Until it is told to be clear more of it may
 * be recorded. So it is of the application's messages, and of what else its calls are made of on
 * the wire (faultline_carries), as the messages of a collective call.
 *
 * Two sequences are compared: the messages of the channel that cross the line (struct s_crossing,
 * as sent) and the `recorded` notes that the receiver made for it (struct s_note, as made). As long
 * as the next note is of the next message both go on. Where it is not (settle):
 *
 *     crossing a b c   notes a c      b has no note: it is missing
 *     crossing a b c   notes a c b    b has a later note: wrong order, if one thread sent all
 *     crossing a b     notes a x      x is of no message, b has no note, same tag: b was changed
 *     crossing a       notes a x      x is of no message: one too many
 *
 * A note is used for one message (note->used). Two exceptions raise no alarm: a message that may
 * never have been sent (`optional`) need not be recorded, and a note of no message may be that of a
 * send inside which the sender died (may_be_unfinished).
 * Cost: messages plus notes of a channel where they agree; their product at worst. */
#include "oracles/cuts/s_family.h"

#include <inttypes.h>

/* One channel of a line: what should be there, and what is. */
struct state {
    struct s_pass *pass;
    uint64_t line;
    int source;
    int destination;
    uint32_t comm;
    struct s_crossing *crossing; /* those from..to-1 of the pass */
    size_t from, to;
    bool complete; /* nothing more will be recorded */
    bool ordered;  /* sent by one thread */
};

static bool is_of(const struct state *state, const struct s_note *note)
{
    return note->comm == state->comm && !note->used;
}

static bool same_tag(const struct s_crossing *crossing, const struct s_note *note)
{
    return crossing->tag == note->tag;
}

static bool same_bytes(const struct s_crossing *crossing, const struct s_note *note)
{
    return crossing->no_hash || note->no_hash || crossing->hash == note->hash;
}

static bool is_same(const struct s_crossing *crossing, const struct s_note *note)
{
    return same_tag(crossing, note) && same_bytes(crossing, note);
}

/* --- what is told -------------------------------------------------------------------------- */

static void show_cut(struct finding *finding, const struct state *state)
{
    const struct s_note *from =
        s_find(state->pass, NOTE_CHECKPOINT, state->line, state->source, PEER_ANY);
    const struct s_note *to =
        s_find(state->pass, NOTE_CHECKPOINT, state->line, state->destination, PEER_ANY);
    if (from != NULL)
        finding_show(finding, from->event);
    if (to != NULL)
        finding_show(finding, to->event);
}

/* What is carried on the wire need not have come to the application yet. */
static const char *delivered(const struct state *state)
{
    return state->pass->level == LEVEL_WIRE ? "received" : "delivered";
}

/* Begins a finding about a message that crosses. */
static struct finding *find_crossing(const struct state *state, const struct s_crossing *crossing)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding =
        judging_find(state->pass->judging, CLAIM_S_CHANNEL, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s before its checkpoint of line %" PRIu64 ": %s",
                state->source, s_message_text(crossing, message), state->line,
                event_text(crossing->sent, event));
    if (crossing->delivered)
        finding_say(finding, "rank %d %s it after its own: %s", state->destination,
                    delivered(state), event_text(crossing->delivery, event));
    else
        finding_say(finding, "rank %d had not %s it before its own", state->destination,
                    delivered(state));
    finding_show(finding, crossing->sent);
    if (crossing->delivered)
        finding_show(finding, crossing->delivery);
    show_cut(finding, state);
    return finding;
}

static void report_missing(const struct state *state, const struct s_crossing *crossing)
{
    char event[EVENT_TEXT_BYTES];
    const struct s_note *clear =
        s_find(state->pass, NOTE_CLEAR, state->line, state->destination, state->source);
    struct finding *finding = find_crossing(state, crossing);
    if (clear == NULL) {
        finding_say(finding, "it was not recorded with the line, and later ones were");
        return;
    }
    finding_say(finding, "it was not recorded with the line, and the channel was told clear: %s",
                event_text(clear->event, event));
    finding_show(finding, clear->event);
}

static void report_of_note(const struct state *state, const struct s_crossing *crossing,
                           const struct s_note *note, const char *what)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = find_crossing(state, crossing);
    finding_say(finding, "%s: %s", what, event_text(note->event, event));
    finding_show(finding, note->event);
}

static void report_extra(const struct state *state, const struct s_note *note)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding =
        judging_find(state->pass->judging, CLAIM_S_CHANNEL, VERDICT_VIOLATION);
    finding_say(
        finding,
        "rank %d recorded a message from rank %d, tag %" PRId32 ", with line %" PRIu64 ": %s",
        state->destination, state->source, note->tag, state->line, event_text(note->event, event));
    finding_say(finding,
                "no such message crosses the line forwards in this channel, but those that "
                "are recorded");
    finding_show(finding, note->event);
    show_cut(finding, state);
}

/* --- comparing ----------------------------------------------------------------------------- */

/* A send of the channel whose rank died inside the call: it may have gone out. */
static bool may_be_unfinished(const struct state *state, const struct s_note *note)
{
    const struct history *history = &state->pass->histories->of[state->source];
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        for (uint64_t at = piece->from; at < piece->to; at++) {
            const struct record *record = &piece->trace->record[at];
            uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
            if (record->kind == RECORD_SEND && record->level == state->pass->level &&
                (leave == 0 || leave > piece->cut) && record->comm == state->comm &&
                record->peer == state->destination && record->tag == note->tag)
                return true;
        }
    }
    return false;
}

/* The first crossing of the channel from `at` on that the note is of, or state->to. */
static size_t find_message(const struct state *state, size_t at, const struct s_note *note,
                           bool (*fits)(const struct s_crossing *, const struct s_note *))
{
    while (at < state->to && !fits(&state->crossing[at], note))
        at++;
    return at;
}

static struct s_note *next_note(const struct state *state, struct s_note *note)
{
    do
        note = note == NULL ? s_find(state->pass, state->pass->recorded, state->line,
                                     state->destination, state->source)
                            : s_next(state->pass, note, state->source);
    while (note != NULL && !is_of(state, note));
    return note;
}

/* A note of the channel from `note` on is of that message. */
static struct s_note *find_note(const struct state *state, struct s_note *note,
                                const struct s_crossing *crossing)
{
    while (note != NULL && !is_same(crossing, note))
        note = next_note(state, note);
    return note;
}

/* The note is not that of the next message. Returns where the messages go on. */
static size_t settle(const struct state *state, size_t at, struct s_note *note)
{
    size_t later = find_message(state, at, note, is_same);
    if (later == state->to) {
        if (at < state->to && same_tag(&state->crossing[at], note) &&
            find_note(state, note, &state->crossing[at]) == NULL) {
            report_of_note(state, &state->crossing[at], note, "it was recorded with other bytes");
            return at + 1;
        }
        if (!may_be_unfinished(state, note))
            report_extra(state, note);
        return at;
    }
    for (; at < later; at++) {
        struct s_note *own = find_note(state, note, &state->crossing[at]);
        if (own != NULL && state->ordered) {
            report_of_note(state, &state->crossing[at], own,
                           "it was recorded after one that was sent later");
            own->used = true;
        } else if (own != NULL) {
            own->used = true;
        } else if (!state->crossing[at].optional) {
            report_missing(state, &state->crossing[at]);
        }
    }
    return later + 1;
}

static void compare(struct state *state)
{
    size_t at = state->from;
    for (struct s_note *note = next_note(state, NULL); note != NULL;
         note = next_note(state, note)) {
        if (at < state->to && is_same(&state->crossing[at], note))
            at++;
        else
            at = settle(state, at, note);
    }
    for (; at < state->to && state->complete; at++)
        if (!state->crossing[at].optional)
            report_missing(state, &state->crossing[at]);
}

/* --- channels ------------------------------------------------------------------------------ */

/* A rank is told that a channel is clear; of what it sends to itself it is told nothing. */
static bool is_complete(const struct s_pass *pass, uint64_t line, int source, int destination)
{
    if (source == destination)
        return s_find(pass, NOTE_SAVED, line, destination, PEER_ANY) != NULL;
    return s_find(pass, NOTE_CLEAR, line, destination, source) != NULL;
}

static void judge_channel(struct s_pass *pass, struct state *state)
{
    state->complete = is_complete(pass, state->line, state->source, state->destination);
    state->ordered = true;
    for (size_t i = state->from; i < state->to; i++) {
        judging_saw(pass->judging, CLAIM_S_CHANNEL,
                    state->complete && !state->crossing[i].optional);
        state->ordered &= state->crossing[i].thread == state->crossing[state->from].thread;
    }
    compare(state);
}

static bool same_channel(const struct s_crossing *a, const struct s_crossing *b)
{
    return a->line == b->line && a->source == b->source && a->destination == b->destination &&
           a->comm == b->comm;
}

static void clear_used(struct s_pass *pass)
{
    for (size_t i = 0; i < pass->note_count; i++)
        pass->note[i].used = false;
}

/* Whatever was recorded in a channel in which nothing crosses the line. */
static void judge_empty(struct s_pass *pass, struct s_note *note)
{
    const struct s_note *own = s_find(pass, NOTE_CHECKPOINT, note->line, note->rank, PEER_ANY);
    const struct s_note *other =
        note->peer >= 0 && note->peer < pass->histories->ranks
            ? s_find(pass, NOTE_CHECKPOINT, note->line, note->peer, PEER_ANY)
            : NULL;
    struct state state = {.pass = pass,
                          .line = note->line,
                          .source = note->peer,
                          .destination = note->rank,
                          .comm = note->comm};
    if (own == NULL || other == NULL)
        return; /* where the cut lies is not told: the line was never finished */
    for (size_t i = 0; i < pass->crossing_count; i++)
        if (pass->crossing[i].line == note->line && pass->crossing[i].source == note->peer &&
            pass->crossing[i].destination == note->rank && pass->crossing[i].comm == note->comm)
            return;
    if (!may_be_unfinished(&state, note))
        report_extra(&state, note);
}

void s_judge_channels(struct s_pass *pass)
{
    size_t to;
    clear_used(pass);
    for (size_t from = 0; from < pass->crossing_count; from = to) {
        const struct s_crossing *first = &pass->crossing[from];
        for (to = from + 1; to < pass->crossing_count; to++)
            if (!same_channel(first, &pass->crossing[to]))
                break;
        struct state state = {.pass = pass,
                              .line = first->line,
                              .source = first->source,
                              .destination = first->destination,
                              .comm = first->comm,
                              .crossing = pass->crossing,
                              .from = from,
                              .to = to};
        judge_channel(pass, &state);
    }
    for (size_t i = 0; i < pass->note_count; i++)
        if (pass->note[i].kind == pass->recorded)
            judge_empty(pass, &pass->note[i]);
}
