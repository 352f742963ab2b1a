/* H.orphan, H.duplicate, H.payload, H.order: what the matching of messages over effective histories
 * shows; what was not delivered is for h_loss.c. Must not know: how messages are matched. */
#include "oracles/history_claims/message_pass.h"

#include <inttypes.h>
#include <stdio.h>

/* Payloads that were not the send's: how many of them are looked for among what was undone. */
#define UNDONE_LOOKUPS FINDINGS_KEPT

/* --- what went right ------------------------------------------------------------------------ */

/* The process of the event has not gone back since the job was started, nor taken the place of
 * another one. What is done again is not judged: such a send is complete at once if it was before,
 * and its message may be received again. */
static bool is_as_started(const struct passage *passage, struct event_ref event)
{
    if (event.rank >= passage->histories->ranks)
        return false;
    const struct history *history = &passage->histories->of[event.rank];
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        if (piece->trace->incarnation == event.incarnation)
            return piece->trace->rank == event.rank && event.index >= piece->from &&
                   event.index < piece->to;
    }
    return false;
}

/* The pair can be judged. Under replication it cannot: two processes receive the message, and it is
 * up to the protocol for which of them the send waits. */
static bool is_synchronous(const struct passage *passage, const struct sent *sent,
                           const struct received *received)
{
    return sent->synchronous && !received_is_unseen(received) && !passage->replicas &&
           sent->event.incarnation == received->posted.incarnation &&
           is_as_started(passage, sent->event) && is_as_started(passage, received->posted);
}

void messages_pair(void *context, const struct channel *channel, const struct sent *sent,
                   const struct received *received)
{
    struct passage *passage = context;
    (void)channel;
    if (!passage_counts(passage, received->delivered))
        return;
    passage->delivered++;
    passage->sent++;
    passage->synchronous += is_synchronous(passage, sent, received);
    passage->hashed += !sent->no_hash && !received->no_hash && !received->blind;
}

/* --- what was rolled back ------------------------------------------------------------------ */

static bool fits(const struct lives *lives, const struct trace *trace, uint64_t index,
                 const struct looks *looks)
{
    const struct record *record = &trace->record[index];
    unsigned kind = record->kind;
    bool right_kind = looks->delivery
                          ? (kind == RECORD_COMPLETE || kind == RECORD_RECV) && record->leave != 0
                          : kind == RECORD_SEND;
    bool same = looks->no_hash || (record->flags & FLAG_NO_HASH) || record->hash == looks->hash;
    return right_kind && record->level == LEVEL_APP &&
           (record->comm == looks->comm ||
            succession_first(&lives->succession, record->comm) == looks->comm) &&
           lives_peer(lives, trace->incarnation, record->enter, record->peer) == looks->peer &&
           record->tag == looks->tag && (looks->blind || (record->bytes == looks->bytes && same));
}

bool messages_find(const struct passage *passage, int rank, const struct looks *looks, bool undone,
                   struct event_ref *event)
{
    const struct lives *lives = passage->histories->lives;
    const struct history *history = &passage->histories->of[rank];
    bool found = false;
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->life[i];
        const struct trace *trace = life->trace;
        if (life->rank != rank || trace->incarnation > passage->pass->incarnation)
            continue;
        for (uint64_t at = life->from; at < life->to; at++)
            if (fits(lives, trace, at, looks) &&
                history_has(history, event_of(trace, at)) != undone) {
                *event = event_of(trace, at);
                found = true;
            }
    }
    return found;
}

void messages_say_undone(const struct passage *passage, struct finding *finding, const char *what,
                         struct event_ref event)
{
    char undone[EVENT_TEXT_BYTES], note_text[EVENT_TEXT_BYTES];
    const struct life *life = lives_find(passage->histories->lives, event);
    int rank = histories_rank(passage->histories, event);
    const struct history *history = &passage->histories->of[rank < 0 ? event.rank : rank];
    finding_show(finding, event);
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        if (piece->restored == 0 || (life != NULL && piece->born <= life->born))
            continue;
        struct event_ref note = event_of(piece->trace, piece->restored - 1);
        finding_say(finding,
                    "rank %d %s as %s, which was undone when it was restored to line %" PRIu64
                    ": %s",
                    rank, what, event_text(event, undone), piece->trace->record[note.index].bytes,
                    event_text(note, note_text));
        finding_show(finding, note);
        return;
    }
    finding_say(finding, "rank %d %s as %s, which is in no effective history", rank, what,
                event_text(event, undone));
}

/* --- findings ------------------------------------------------------------------------------ */

static struct looks sent_as(const struct channel *channel, const struct received *received)
{
    return (struct looks){.comm = channel->comm,
                          .peer = channel->destination,
                          .tag = channel->tag,
                          .bytes = received->bytes,
                          .hash = received->hash,
                          .no_hash = received->no_hash,
                          .blind = received->blind};
}

static void say_again(struct finding *finding, int source, const struct sent *again,
                      const struct received *received)
{
    char event[EVENT_TEXT_BYTES];
    bool same = again->bytes == received->bytes &&
                (again->no_hash || received->no_hash || again->hash == received->hash);
    finding_say(finding, "rank %d sent %s: %s", source,
                received->blind ? "a message with this tag again later"
                : same          ? "these bytes again later"
                                : "other bytes in its place later",
                event_text(again->event, event));
    finding_show(finding, again->event);
}

/* The sender was rolled back before its send and ended before it came there again: in a history
 * that is cut off it may still do it. Not if it has sent on from there on this channel. */
static bool may_be_sent_again(struct passage *passage, const struct channel *channel,
                              const struct received *received)
{
    struct looks looks = sent_as(channel, received);
    struct event_ref undone;
    return match_is_to_come(&passage->pass->match, channel, received) &&
           (passage->lookups++ >= UNDONE_LOOKUPS ||
            messages_find(passage, channel->source, &looks, true, &undone));
}

static void report_orphan(struct passage *passage, const struct channel *channel,
                          const struct sent *again, const struct received *received)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORPHAN, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    finding_say(finding, "rank %d delivered %s, %" PRIu64 " bytes, in its effective history: %s",
                channel->destination, channel_text(channel, 0, message), received->bytes,
                event_text(received->delivered, event));
    finding_show(finding, received->delivered);
    struct looks looks = sent_as(channel, received);
    struct event_ref undone;
    if (messages_find(passage, channel->source, &looks, true, &undone)) {
        messages_say_undone(passage, finding, "sent it", undone);
        finding_decide_at_end(finding); /* until then it may still be sent again */
    } else {
        finding_say(finding, "rank %d has no send on this channel for it", channel->source);
    }
    if (again != NULL) {
        say_again(finding, channel->source, again, received);
        finding_decide(finding, again->event);
    }
    finding_say(finding, "so the state of rank %d depends on a message that was never sent",
                channel->destination);
}

/* The later message came and this one did not: it was overtaken, whatever may still come. */
static void report_overtaken(struct passage *passage, const struct channel *channel,
                             const struct sent *sent, const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s: %s", channel->source,
                channel_text(channel, sent->number, message), event_text(sent->event, event));
    finding_say(finding,
                "rank %d delivered the later #%" PRIu64 " of the same channel without it: %s",
                channel->destination, other->number, event_text(other->delivered, event));
    finding_show(finding, sent->event);
    finding_show(finding, other->sent);
    finding_show(finding, other->delivered);
}

/* What nothing overtook was under way when the incarnation ended. */
static void report_undelivered(struct passage *passage, const struct channel *channel,
                               const struct sent *sent, const struct pair *other)
{
    bool finished = passage->pass->newest && passage->judging->facts->end == RUN_FINISHED;
    if (!finished && other == NULL)
        return;
    if (!passage_tells(passage, ANOMALY_UNDELIVERED, sent->event))
        return;
    if (finished)
        loss_add(passage, channel, sent, other);
    else
        report_overtaken(passage, channel, sent, other);
}

static void report_duplicate(struct passage *passage, const struct channel *channel,
                             const struct received *received, const struct pair *first)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_DUPLICATE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes: %s", channel->source,
                channel_text(channel, first->number, message), first->bytes,
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

/* Bytes that the sender sent and that were undone are no changed payload: the receiver got what its
 * sender took back. */
static bool was_undone(struct passage *passage, const struct channel *channel,
                       const struct received *received)
{
    struct looks looks = sent_as(channel, received);
    struct event_ref undone;
    return passage->lookups++ < UNDONE_LOOKUPS && !received->no_hash &&
           messages_find(passage, channel->source, &looks, true, &undone);
}

static void report_payload(struct passage *passage, const struct channel *channel,
                           const struct sent *sent, const struct received *received)
{
    if (was_undone(passage, channel, received)) {
        report_orphan(passage, channel, sent, received);
        return;
    }
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_PAYLOAD, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes with hash %#" PRIx64 ": %s",
                channel->source, channel_text(channel, sent->number, message), sent->bytes,
                sent->hash, event_text(sent->event, event));
    finding_say(finding, "rank %d delivered it with %" PRIu64 " bytes and hash %#" PRIx64 ": %s",
                channel->destination, received->bytes, received->hash,
                event_text(received->delivered, event));
    finding_show(finding, sent->event);
    finding_show(finding, received->delivered);
}

static void report_order(struct passage *passage, const struct channel *channel,
                         const struct sent *sent, const struct received *received,
                         const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES], second[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_ORDER, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s: %s", channel->source,
                channel_text(channel, sent->number, message), event_text(sent->event, event));
    finding_show(finding, sent->event);
    if (other != NULL) {
        finding_say(finding, "it sent another after it (%s), which rank %d delivered first: %s",
                    event_text(other->sent, event), channel->destination,
                    event_text(other->delivered, second));
        finding_show(finding, other->sent);
        finding_show(finding, other->delivered);
        finding_decide(finding, other->delivered);
    }
    if (received != NULL) {
        finding_say(finding, "rank %d delivered the earlier one only then: %s",
                    channel->destination, event_text(received->delivered, event));
        finding_show(finding, received->delivered);
    } else {
        finding_say(finding, "the receive that took it would have matched the earlier one too");
    }
}

static void report_early_return(struct passage *passage, const struct channel *channel,
                                const struct sent *sent, const struct received *received)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    if (!is_synchronous(passage, sent, received))
        return;
    struct finding *finding =
        judging_find(passage->judging, CLAIM_H_SYNCHRONOUS, VERDICT_VIOLATION);
    finding_say(finding, "rank %d sent %s synchronously: %s", channel->source,
                channel_text(channel, sent->number, message), event_text(sent->event, event));
    finding_say(finding, "that send was complete before rank %d began to receive the message: %s",
                channel->destination, event_text(received->posted, event));
    finding_show(finding, sent->event);
    finding_show(finding, received->posted);
    finding_show(finding, received->delivered);
}

static void report_lost_sight(struct passage *passage, const struct received *received)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_UNKNOWN);
    finding_say(finding, "rank %d freed the request of a receive before it was complete: %s",
                received->posted.rank, event_text(received->posted, event));
    finding_say(finding,
                "which message it took is not known, and so not which receive took any other");
    finding_show(finding, received->posted);
    judging_unknown(passage->judging, CLAIM_H_ORPHAN);
    judging_unknown(passage->judging, CLAIM_H_DUPLICATE);
    judging_unknown(passage->judging, CLAIM_H_PAYLOAD);
    judging_unknown(passage->judging, CLAIM_H_ORDER);
    judging_unknown(passage->judging, CLAIM_H_SYNCHRONOUS);
}

/* What an anomaly is known by, so that it is told once although it is in the effective history
 * of more than one incarnation. */
static struct event_ref key_of(enum anomaly anomaly, const struct sent *sent,
                               const struct received *received)
{
    if (received != NULL)
        return anomaly == ANOMALY_LOST_SIGHT ? received->posted : received->delivered;
    return sent != NULL ? sent->event : (struct event_ref){0};
}

void messages_anomaly(void *context, enum anomaly anomaly, const struct channel *channel,
                      const struct sent *sent, const struct received *received,
                      const struct pair *other)
{
    struct passage *passage = context;
    if (anomaly == ANOMALY_UNSEEN)
        return;
    if (anomaly == ANOMALY_UNDONE)
        anomaly = ANOMALY_ORPHAN;
    struct event_ref key = key_of(anomaly, sent, received);
    if (received != NULL && anomaly != ANOMALY_LOST_SIGHT && anomaly != ANOMALY_EARLY_RETURN)
        passage->delivered += passage_counts(passage, key);
    if (anomaly == ANOMALY_ORPHAN && sent == NULL && may_be_sent_again(passage, channel, received))
        return;
    if (anomaly != ANOMALY_UNDELIVERED && !passage_tells(passage, (unsigned)anomaly, key))
        return;
    switch (anomaly) {
    case ANOMALY_ORPHAN:
        report_orphan(passage, channel, sent, received);
        break;
    case ANOMALY_DUPLICATE:
        report_duplicate(passage, channel, received, other);
        break;
    case ANOMALY_PAYLOAD:
        passage->sent++;
        passage->hashed++;
        report_payload(passage, channel, sent, received);
        break;
    case ANOMALY_ORDER:
        report_order(passage, channel, sent, received, other);
        break;
    case ANOMALY_UNDELIVERED:
        report_undelivered(passage, channel, sent, other);
        break;
    case ANOMALY_LOST_SIGHT:
        report_lost_sight(passage, received);
        break;
    case ANOMALY_EARLY_RETURN:
        report_early_return(passage, channel, sent, received);
        break;
    default:
        break;
    }
}

void messages_finish(struct passage *passage)
{
    struct judging *judging = passage->judging;
    loss_finish(passage);
    judging_saw(judging, CLAIM_H_ORPHAN, passage->delivered);
    judging_saw(judging, CLAIM_H_DUPLICATE, passage->delivered);
    judging_saw(judging, CLAIM_H_ORDER, passage->delivered);
    judging_saw(judging, CLAIM_H_SYNCHRONOUS, passage->synchronous);
    judging_saw(judging, CLAIM_H_PAYLOAD, passage->hashed);
    if (passage->pass->newest && judging->facts->end == RUN_FINISHED)
        judging_saw(judging, CLAIM_H_LOSS, passage->sent);
}
