/* H.orphan, H.loss, H.duplicate, H.payload, H.order: what the matching of messages over effective
 * histories shows. Must not know: how messages are matched. */
#include "oracles/histories.h"

#include <inttypes.h>
#include <stdio.h>

void messages_pair(struct passage *passage, const struct sent *sent,
                   const struct received *received)
{
    passage->delivered++;
    passage->sent++;
    passage->hashed += !sent->no_hash && !received->no_hash && !received->blind;
}

/* --- what was rolled back ------------------------------------------------------------------ */

/* What a send or delivery looks like in a record. */
struct looks {
    bool delivery;
    uint32_t comm;
    int32_t peer;
    int32_t tag;
    uint64_t bytes;
    uint64_t hash;
    bool no_hash;
};

static bool fits(const struct record *record, const struct looks *looks)
{
    unsigned kind = record->kind;
    bool right_kind = looks->delivery
                          ? (kind == RECORD_COMPLETE || kind == RECORD_RECV) && record->leave != 0
                          : kind == RECORD_SEND;
    return right_kind && record->level == LEVEL_APP && record->comm == looks->comm &&
           record->peer == looks->peer && record->tag == looks->tag &&
           record->bytes == looks->bytes &&
           (looks->no_hash || (record->flags & FLAG_NO_HASH) || record->hash == looks->hash);
}

static bool in_history(const struct history *history, const struct trace *trace, uint64_t index)
{
    for (size_t i = 0; i < history->piece_count; i++)
        if (history->piece[i].trace == trace && index >= history->piece[i].from &&
            index < history->piece[i].to)
            return true;
    return false;
}

/* The newest record of `rank` that looks so and is in no effective history: it was undone. Reads
 * all of the rank's traces, so only for findings that are kept. */
static bool find_undone(const struct passage *passage, int rank, const struct looks *looks,
                        struct event_ref *event)
{
    const struct trace_set *traces = passage->judging->traces;
    const struct history *history = &passage->histories->of[rank];
    bool found = false;
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        for (uint64_t at = 0; trace->rank == rank && at < trace->count; at++)
            if (fits(&trace->record[at], looks) && !in_history(history, trace, at)) {
                *event = event_of(trace, at);
                found = true;
            }
    }
    return found;
}

/* Says that `event` of its rank was undone by which restoration. */
static void say_undone(const struct passage *passage, struct finding *finding, const char *what,
                       struct event_ref event)
{
    char undone[EVENT_TEXT_BYTES], note_text[EVENT_TEXT_BYTES];
    const struct history *history = &passage->histories->of[event.rank];
    finding_show(finding, event);
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        struct event_ref note;
        if (piece->trace->incarnation <= event.incarnation || !piece_restored_by(piece, &note))
            continue;
        finding_say(finding,
                    "rank %d %s as %s, which was undone when it was restored to line %" PRIu64
                    ": %s",
                    event.rank, what, event_text(event, undone),
                    piece->trace->record[note.index].bytes, event_text(note, note_text));
        finding_show(finding, note);
        return;
    }
    finding_say(finding, "rank %d %s as %s, which is in no effective history", event.rank, what,
                event_text(event, undone));
}

/* --- findings ------------------------------------------------------------------------------ */

static void tell_orphan(struct passage *passage, const struct channel *channel,
                        const struct sent *again, const struct received *received)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORPHAN, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    finding_say(finding, "rank %d delivered %s, %" PRIu64 " bytes, in its effective history: %s",
                channel->destination, message_text(channel, 0, message), received->bytes,
                event_text(received->delivered, event));
    finding_show(finding, received->delivered);
    struct looks looks = {.comm = channel->comm,
                          .peer = channel->destination,
                          .tag = channel->tag,
                          .bytes = received->bytes,
                          .hash = received->hash,
                          .no_hash = received->no_hash};
    struct event_ref undone;
    if (find_undone(passage, channel->source, &looks, &undone))
        say_undone(passage, finding, "sent it", undone);
    else
        finding_say(finding, "rank %d has no send on this channel for it", channel->source);
    if (again != NULL) {
        finding_say(finding, "rank %d sent these bytes again later: %s", channel->source,
                    event_text(again->event, event));
        finding_show(finding, again->event);
    }
    finding_say(finding, "so the state of rank %d depends on a message that was never sent",
                channel->destination);
}

static void tell_loss(struct passage *passage, const struct channel *channel,
                      const struct sent *sent, const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes: %s", channel->source,
                message_text(channel, sent->number, message), sent->bytes,
                event_text(sent->event, event));
    finding_show(finding, sent->event);
    struct looks looks = {.delivery = true,
                          .comm = channel->comm,
                          .peer = channel->source,
                          .tag = channel->tag,
                          .bytes = sent->bytes,
                          .hash = sent->hash,
                          .no_hash = sent->no_hash};
    struct event_ref undone;
    if (find_undone(passage, channel->destination, &looks, &undone))
        say_undone(passage, finding, "delivered it", undone);
    if (other != NULL) {
        finding_say(finding, "rank %d delivered the later #%" PRIu64 ": %s", channel->destination,
                    other->number, event_text(other->delivered, event));
        finding_show(finding, other->delivered);
    }
    finding_say(finding, "the run finished and rank %d's effective history has no delivery of it",
                channel->destination);
}

/* In a run without faults nothing can have been lost by recovery: the program does not receive all
 * that it sends, or the protocol drops messages by itself. Said once, at the end. */
static void note_unreceived(struct passage *passage, const struct channel *channel,
                            const struct sent *sent)
{
    if (passage->unreceived++ > 0)
        return;
    passage->first_unreceived = *sent;
    message_text(channel, sent->number, passage->first_unreceived_text);
}

static void tell_unreceived(struct passage *passage)
{
    char event[EVENT_TEXT_BYTES];
    const struct sent *sent = &passage->first_unreceived;
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_UNKNOWN);
    finding_say(finding, "%" PRIu64 " messages were sent and never received; the first is %s: %s",
                passage->unreceived, passage->first_unreceived_text,
                event_text(sent->event, event));
    finding_say(finding,
                "no fault was installed in this run: it is the program that leaves messages "
                "unreceived (or the protocol that drops them without any fault)");
    finding_say(finding, "with such a program a loss cannot be told from what it never receives");
    finding_show(finding, sent->event);
}

static void tell_undelivered(struct passage *passage, const struct channel *channel,
                             const struct sent *sent, const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    if (passage->judging->facts->end == RUN_FINISHED) {
        passage->sent++;
        if (passage->judging->faulted || other != NULL)
            tell_loss(passage, channel, sent, other);
        else
            note_unreceived(passage, channel, sent);
        return;
    }
    if (other == NULL)
        return; /* under way when the run ended */
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s: %s", channel->source,
                message_text(channel, sent->number, message), event_text(sent->event, event));
    finding_say(finding,
                "rank %d delivered the later #%" PRIu64 " of the same channel without it: %s",
                channel->destination, other->number, event_text(other->delivered, event));
    finding_show(finding, sent->event);
    finding_show(finding, other->sent);
    finding_show(finding, other->delivered);
}

static void tell_duplicate(struct passage *passage, const struct channel *channel,
                           const struct received *received, const struct pair *first)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_DUPLICATE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes: %s", channel->source,
                message_text(channel, first->number, message), first->bytes,
                event_text(first->sent, event));
    finding_say(finding, "rank %d delivered it: %s", channel->destination,
                event_text(first->delivered, event));
    finding_say(finding,
                "rank %d delivered the same bytes again, and no other send accounts for it: %s",
                channel->destination, event_text(received->delivered, event));
    finding_show(finding, first->sent);
    finding_show(finding, first->delivered);
    finding_show(finding, received->delivered);
}

static void tell_payload(struct passage *passage, const struct channel *channel,
                         const struct sent *sent, const struct received *received)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_PAYLOAD, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes with hash %#" PRIx64 ": %s",
                channel->source, message_text(channel, sent->number, message), sent->bytes,
                sent->hash, event_text(sent->event, event));
    finding_say(finding, "rank %d delivered it with %" PRIu64 " bytes and hash %#" PRIx64 ": %s",
                channel->destination, received->bytes, received->hash,
                event_text(received->delivered, event));
    finding_show(finding, sent->event);
    finding_show(finding, received->delivered);
}

static void tell_order(struct passage *passage, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES], second[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s: %s", channel->source,
                message_text(channel, sent->number, message), event_text(sent->event, event));
    finding_show(finding, sent->event);
    if (other != NULL) {
        finding_say(finding, "it sent another after it (%s), which rank %d delivered first: %s",
                    event_text(other->sent, event), channel->destination,
                    event_text(other->delivered, second));
        finding_show(finding, other->sent);
        finding_show(finding, other->delivered);
    }
    if (received != NULL) {
        finding_say(finding, "rank %d delivered the earlier one only then: %s",
                    channel->destination, event_text(received->delivered, event));
        finding_show(finding, received->delivered);
    } else {
        finding_say(finding, "the receive that took it would have matched the earlier one too");
    }
}

static void tell_lost_sight(struct passage *passage, const struct received *received)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_UNKNOWN);
    finding_say(finding,
                "rank %d freed the request of a wildcard receive before it was complete: %s",
                received->posted.rank, event_text(received->posted, event));
    finding_say(finding,
                "which message it took is not known, and so not which receive took any other");
    finding_show(finding, received->posted);
    judging_unknown(passage->judging, CLAIM_H_ORPHAN);
    judging_unknown(passage->judging, CLAIM_H_DUPLICATE);
    judging_unknown(passage->judging, CLAIM_H_PAYLOAD);
    judging_unknown(passage->judging, CLAIM_H_ORDER);
}

void messages_strange(struct passage *passage, enum strange strange, const struct channel *channel,
                      const struct sent *sent, const struct received *received,
                      const struct pair *other)
{
    passage->delivered += received != NULL && strange != STRANGE_LOST_SIGHT;
    switch (strange) {
    case STRANGE_ORPHAN:
        tell_orphan(passage, channel, sent, received);
        break;
    case STRANGE_DUPLICATE:
        tell_duplicate(passage, channel, received, other);
        break;
    case STRANGE_PAYLOAD:
        passage->sent++;
        passage->hashed++;
        tell_payload(passage, channel, sent, received);
        break;
    case STRANGE_ORDER:
        tell_order(passage, channel, sent, received, other);
        break;
    case STRANGE_UNDELIVERED:
        tell_undelivered(passage, channel, sent, other);
        break;
    case STRANGE_LOST_SIGHT:
        tell_lost_sight(passage, received);
        break;
    case STRANGE_EARLY_RETURN:
        break; /* of the wire: I.legal */
    }
}

void messages_finish(struct passage *passage)
{
    struct judging *judging = passage->judging;
    if (!passage->newest)
        return;
    if (passage->unreceived > 0)
        tell_unreceived(passage);
    judging_saw(judging, CLAIM_H_ORPHAN, passage->delivered);
    judging_saw(judging, CLAIM_H_DUPLICATE, passage->delivered);
    judging_saw(judging, CLAIM_H_ORDER, passage->delivered);
    judging_saw(judging, CLAIM_H_PAYLOAD, passage->hashed);
    if (judging->facts->end == RUN_FINISHED)
        judging_saw(judging, CLAIM_H_LOSS, passage->sent);
}
