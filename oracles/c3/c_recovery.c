/* C.late.replay, C.early.suppress, C.early.same: after a recovery late messages come from the log
 * and early ones are not sent again, each exactly once. Which messages these are follows from the
 * effective histories. Late: sent before the sender's checkpoint, and delivered after the
 * receiver's `restored` note. Early: delivered before the receiver's checkpoint, but sent after the
 * sender's, who therefore comes to the same send again:
 *
 *     incarnation 0   rank 0:  checkpoint   send a   send b   killed
 *                     rank 1:  recv a   checkpoint
 *     incarnation 1   rank 0:  restored     send a (to be suppressed)   send b (to be sent)
 *
 * The matching of incarnation 0 shows that a is early (c_recovery_keep). In incarnation 1 nothing
 * in the records says which send is a's, and its bytes may be wrong, which is what C.early.same is
 * about. So it is found by its place: a is the first send of its channel after the checkpoint, and
 * must be the first after the `restored` note (resend->ordinal, resend->seen).
 *
 * What the protocol tells is not enough: whether the message went on the wire is looked up in the
 * records of the wire inside the call (find_on_wire). Cost: for each send of a recovery the early
 * messages of its line; for each early or late message the records inside its call. */
#include "oracles/c3/c_message.h"
#include "oracles/history_claims/owed.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

/* --- early messages, kept -------------------------------------------------------------------- */

void c_recovery_keep(struct c_pass *pass, const struct channel *channel, const struct sent *sent,
                     const struct received *received, uint64_t after, uint64_t taken)
{
    struct c_run *run = pass->run;
    for (size_t i = 0; i < pass->lines->taken_count; i++) {
        uint64_t line = pass->lines->taken[i];
        if (line <= after || line > taken || sent->leave == 0)
            continue;
        run->early =
            memory_room(run->early, run->early_count, &run->early_room, sizeof *run->early);
        run->early[run->early_count++] = (struct early){.line = line,
                                                        .comm = channel->comm,
                                                        .tag = channel->tag,
                                                        .source = channel->source,
                                                        .destination = channel->destination,
                                                        .sent = sent->event,
                                                        .delivered = received->delivered,
                                                        .bytes = sent->bytes,
                                                        .hash = sent->hash,
                                                        .no_hash = sent->no_hash};
    }
}

/* --- sends that are executed again ----------------------------------------------------------- */

static bool is_send_of(const struct record *record, const struct early *early)
{
    return record->kind == RECORD_SEND && record->level == LEVEL_APP &&
           record->comm == early->comm && record->tag == early->tag &&
           record->peer == early->destination;
}

/* The piece that ends with the checkpoint from which `rank` was restored, or NULL. */
static const struct piece *piece_restored(const struct c_pass *pass, int rank)
{
    const struct history *history = &pass->histories->of[rank];
    const struct rank_lines *lines = &pass->lines->of[rank];
    if (!lines->restored.there || history->piece_count < 2)
        return NULL;
    return &history->piece[history->piece_count - 2];
}

static void add_resend(struct c_pass *pass, const struct early *early, const struct piece *piece)
{
    pass->resend =
        memory_room(pass->resend, pass->resend_count, &pass->resend_room, sizeof *pass->resend);
    struct resend *resend = &pass->resend[pass->resend_count++];
    *resend = (struct resend){.early = *early};
    for (uint64_t at = piece->to; at <= early->sent.index && at < piece->trace->count; at++)
        resend->ordinal += is_send_of(&piece->trace->record[at], early);
}

void c_recovery_begin(struct c_pass *pass)
{
    for (size_t i = 0; i < pass->run->early_count; i++) {
        const struct early *early = &pass->run->early[i];
        const struct piece *piece = piece_restored(pass, early->source);
        if (piece != NULL && piece->trace->incarnation == early->sent.incarnation &&
            early->line == pass->lines->of[early->source].base)
            add_resend(pass, early, piece);
    }
}

static const char *early_text(const struct early *early, char buffer[MESSAGE_TEXT_BYTES])
{
    return message_text(early->source, early->destination, early->comm, early->tag, 0, buffer);
}

/* The facts that make it early, and its second sending. */
static struct finding *begin_early(const struct c_pass *pass, const struct early *early,
                                   struct event_ref again, enum claim_id claim)
{
    char name[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES], second[EVENT_TEXT_BYTES];
    const struct mark *restored = &pass->lines->of[early->source].restored;
    struct finding *finding = judging_find(pass->judging, claim, VERDICT_VIOLATION);
    finding_say(finding,
                "%s was sent after rank %d's checkpoint of line %" PRIu64
                " (%s) and delivered before rank %d's (%s): it is early",
                early_text(early, name), early->source, early->line, event_text(early->sent, event),
                early->destination, event_text(early->delivered, second));
    finding_say(finding, "rank %d was restored to line %" PRIu64 " (%s) and sent it again: %s",
                early->source, early->line, event_text(restored->event, event),
                event_text(again, second));
    finding_show(finding, early->sent);
    finding_show(finding, early->delivered);
    finding_show(finding, restored->event);
    finding_show(finding, again);
    return finding;
}

/* A message that went on the wire, or came from it, inside the call of the application that record
 * `index` is of. */
static bool find_on_wire(const struct trace *trace, uint64_t index, bool send,
                         struct event_ref *found);

static void judge_suppressed(struct c_pass *pass, const struct stream_event *event,
                             const struct early *early)
{
    char text[EVENT_TEXT_BYTES];
    struct event_ref again = event_of(event->trace, event->index), wire;
    judging_saw(pass->judging, CLAIM_C_EARLY_SUPPRESS, 1);
    const struct message_note *note =
        message_note_take(pass->notes, event->trace, event->index, NOTE_BIT(SUPPRESSED));
    const struct message_note *more =
        message_note_take_more(pass->notes, event->trace, event->index, NOTE_BIT(SUPPRESSED));
    bool on_wire = find_on_wire(event->trace, event->index, true, &wire);
    if (note != NULL && more == NULL && !on_wire)
        return;
    struct finding *finding = begin_early(pass, early, again, CLAIM_C_EARLY_SUPPRESS);
    if (note == NULL)
        finding_say(finding, "the protocol did not suppress it");
    if (on_wire) {
        finding_say(finding, "it was put on the wire: %s", event_text(wire, text));
        finding_show(finding, wire);
    }
    if (more != NULL) {
        finding_say(finding, "the protocol says twice that it suppressed it: %s",
                    event_text(more->event, text));
        finding_show(finding, more->event);
    }
}

static void judge_same(const struct c_pass *pass, const struct stream_event *event,
                       const struct early *early)
{
    const struct record *record = event->record;
    bool hashed = !early->no_hash && !(record->flags & FLAG_NO_HASH);
    judging_saw(pass->judging, CLAIM_C_EARLY_SAME, hashed);
    if (record->bytes == early->bytes && (!hashed || record->hash == early->hash))
        return;
    struct finding *finding =
        begin_early(pass, early, event_of(event->trace, event->index), CLAIM_C_EARLY_SAME);
    finding_say(finding,
                "first it was %" PRIu64 " bytes with hash %#" PRIx64 ", again it is %" PRIu64
                " bytes with hash %#" PRIx64,
                early->bytes, early->hash, record->bytes, record->hash);
}

void c_recovery_send(struct c_pass *pass, const struct stream_event *event)
{
    for (size_t i = 0; i < pass->resend_count; i++) {
        struct resend *resend = &pass->resend[i];
        if (resend->early.source != event->rank || !is_send_of(event->record, &resend->early) ||
            ++resend->seen != resend->ordinal)
            continue;
        judge_same(pass, event, &resend->early);
        if (!event->in_progress)
            judge_suppressed(pass, event, &resend->early);
    }
}

/* A receive of such a message has failed, for instance because it is too short. The histories do
 * not hold what a failed receive got, so the message may have been early. */
static bool has_failed_receive(const struct c_pass *pass, const struct message_note *note)
{
    const struct trace_set *traces = pass->judging->traces;
    for (size_t i = 0; i < traces->count; i++)
        for (uint64_t at = 0; at < traces->trace[i].count; at++) {
            const struct record *record = &traces->trace[i].record[at];
            if (c_is_failed_receive(record, note))
                return true;
        }
    return false;
}

void c_recovery_wrong_suppress(struct c_pass *pass, const struct message_note *note)
{
    char name[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    const struct rank_lines *lines = &pass->lines->of[note->rank];
    const struct piece *piece = piece_restored(pass, note->rank);
    if (has_failed_receive(pass, note))
        return;
    bool certain = piece == NULL || pass->run->complete[piece->trace->incarnation];
    struct finding *finding = judging_find(pass->judging, CLAIM_C_EARLY_SUPPRESS,
                                           certain ? VERDICT_VIOLATION : VERDICT_UNKNOWN);
    finding_say(finding, "rank %d suppressed %s: %s", note->rank,
                message_text(note->rank, note->peer, note->comm, (int32_t)note->tag, 0, name),
                event_text(note->event, event));
    finding_show(finding, note->event);
    if (!lines->restored.there) {
        finding_say(finding, "it was restored to no line");
        return;
    }
    finding_say(finding,
                "it was restored to line %" PRIu64
                " (%s), and no message sent in that call had been delivered before rank %d's "
                "checkpoint of that line",
                lines->base, event_text(lines->restored.event, event), note->peer);
    finding_show(finding, lines->restored.event);
    if (!certain)
        finding_say(finding, "not all messages of the incarnation that took the line could be "
                             "matched");
}

/* --- late messages ------------------------------------------------------------------------- */

static struct finding *begin_late(const struct c_pass *pass, const struct channel *channel,
                                  const struct sent *sent)
{
    char name[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES], second[EVENT_TEXT_BYTES];
    const struct rank_lines *lines = &pass->lines->of[channel->destination];
    struct finding *finding = judging_find(pass->judging, CLAIM_C_LATE_REPLAY, VERDICT_VIOLATION);
    finding_say(finding,
                "rank %d sent %s before its checkpoint of line %" PRIu64
                ": %s; to that line rank %d was restored: %s",
                channel->source,
                message_text(channel->source, channel->destination, channel->comm, channel->tag,
                             sent->number, name),
                lines->base, event_text(sent->event, event), channel->destination,
                event_text(lines->restored.event, second));
    finding_show(finding, sent->event);
    finding_show(finding, lines->restored.event);
    return finding;
}

void c_recovery_late(struct c_pass *pass, const struct channel *channel, const struct sent *sent,
                     const struct received *received)
{
    char text[EVENT_TEXT_BYTES];
    struct event_ref wire;
    uint64_t index = received->delivered.index;
    const struct trace *trace = c_trace(pass->judging, received->delivered);
    if (!pass->lines->of[channel->destination].restored.there)
        return; /* the rank lives on */
    const struct message_note *note =
        message_note_take(pass->notes, trace, index, NOTE_BIT(REPLAYED));
    const struct message_note *more =
        message_note_take_more(pass->notes, trace, index, NOTE_BIT(REPLAYED));
    bool on_wire = find_on_wire(trace, index, false, &wire);
    if (sent->leave == 0 || received->blind)
        return;
    judging_saw(pass->judging, CLAIM_C_LATE_REPLAY, 1);
    if (note != NULL && more == NULL && !on_wire)
        return;
    struct finding *finding = begin_late(pass, channel, sent);
    finding_say(finding, "rank %d delivered it then: %s", channel->destination,
                event_text(received->delivered, text));
    finding_show(finding, received->delivered);
    if (note == NULL)
        finding_say(finding, "the protocol did not take it from its log");
    if (on_wire) {
        finding_say(finding, "in that call a message was taken from the wire: %s",
                    event_text(wire, text));
        finding_show(finding, wire);
    }
    if (more != NULL) {
        finding_say(finding, "the protocol took it from its log a second time: %s",
                    event_text(more->event, text));
        finding_show(finding, more->event);
    }
}

void c_recovery_left_out(struct c_pass *pass, const struct channel *channel,
                         const struct sent *sent, const struct pair *other)
{
    char text[EVENT_TEXT_BYTES];
    if (other == NULL || other->delivered.incarnation != pass->incarnation || sent->leave == 0 ||
        !pass->lines->of[channel->destination].restored.there)
        return;
    judging_saw(pass->judging, CLAIM_C_LATE_REPLAY, 1);
    struct finding *finding = begin_late(pass, channel, sent);
    finding_say(finding,
                "rank %d delivered the later #%" PRIu64 " of the channel, and not this one: %s",
                channel->destination, other->number, event_text(other->delivered, text));
    finding_show(finding, other->delivered);
}

void c_recovery_waits(void *context)
{
    struct c_pass *pass = context;
    char text[EVENT_TEXT_BYTES];
    struct owed owed;
    for (int rank = 0; rank < pass->histories->ranks; rank++) {
        if (!pass->lines->of[rank].restored.there ||
            !owed_find(pass->judging, pass->pass, rank, &owed) ||
            owed.sent->event.incarnation == pass->incarnation)
            continue;
        judging_saw(pass->judging, CLAIM_C_LATE_REPLAY, 1);
        struct finding *finding = begin_late(pass, owed.channel, owed.sent);
        finding_say(finding, "rank %d waits for it, and nobody goes on: %s", rank,
                    event_text(owed.call, text));
        finding_show(finding, owed.call);
        finding_decide_at_end(finding);
    }
}

void c_recovery_wrong_replay(struct c_pass *pass, const struct message_note *note, const char *why)
{
    char name[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(pass->judging, CLAIM_C_LATE_REPLAY, VERDICT_VIOLATION);
    finding_say(finding, "rank %d took %s from its log of line %" PRIu64 ": %s", note->rank,
                message_text(note->peer, note->rank, note->comm, (int32_t)note->tag, 0, name),
                note->line, event_text(note->event, event));
    finding_say(finding, "%s", why);
    finding_show(finding, note->event);
}

/* --- the wire under a call of the application ------------------------------------------------- */

static bool is_inside(const struct record *record, const struct record *call,
                      const struct call_span *span)
{
    return record->thread == call->thread && record->enter >= span->enter &&
           record->enter <= span->leave;
}

/* The wire request of `posted` is completed inside the call, in a record from `from` on, and takes
 * a message of the call's channel. */
static bool completes_inside(const struct trace *trace, uint64_t from, uint64_t to,
                             const struct record *call, const struct call_span *span,
                             const struct record *posted)
{
    for (uint64_t at = from; at < to; at++) {
        const struct record *record = &trace->record[at];
        if (record->kind == RECORD_COMPLETE && record->level == LEVEL_WIRE &&
            record->request == posted->request && !(record->flags & FLAG_NEGATIVE) &&
            record->leave != 0 && is_inside(record, call, span))
            return record->comm == call->comm && record->peer == call->peer &&
                   record->tag == call->tag;
    }
    return false;
}

/* A message of the call's channel: sent, or received by a receive that was posted inside it. */
static bool is_message_of(const struct trace *trace, uint64_t at, uint64_t to, bool send,
                          const struct record *call, const struct call_span *span)
{
    const struct record *record = &trace->record[at];
    if (record->level != LEVEL_WIRE || record->kind != (send ? RECORD_SEND : RECORD_RECV) ||
        record->comm != call->comm || !is_inside(record, call, span))
        return false;
    if (!send && record->request != 0 && !(record->flags & FLAG_MATCHED))
        return completes_inside(trace, at + 1, to, call, span, record);
    return record->peer == call->peer && record->tag == call->tag && record->leave != 0;
}

static bool find_on_wire(const struct trace *trace, uint64_t index, bool send,
                         struct event_ref *found)
{
    struct call_span span = call_span_of(trace, index);
    const struct record *call = &trace->record[index];
    uint64_t from = span.first, to = span.last + 1;
    while (from > 0 && (!record_is_event(&trace->record[from - 1]) ||
                        trace->record[from - 1].enter >= span.enter))
        from--;
    while (to < trace->count &&
           (!record_is_event(&trace->record[to]) || trace->record[to].enter <= span.leave))
        to++;
    for (uint64_t at = from; at < to; at++)
        if (is_message_of(trace, at, to, send, call, &span)) {
            *found = event_of(trace, at);
            return true;
        }
    return false;
}
