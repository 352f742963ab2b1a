/* H.loss: what was sent and never delivered in a finished run. A loss, or the program leaves it
 * unreceived by itself: the run without faults tells, channel by channel, how many messages that
 * are. Must not know: how messages are matched.
 *
 * A message that a later one of its channel has passed is lost for certain. Of the others (those at
 * the end of their channel) the last may be what the program never receives:
 *
 *     without faults 1 message of the channel is left      in this run a b c are left
 *
 * c is what the program leaves; a and b are in question (judge_channel). They are lost if the
 * program leaves nothing at all without faults, or if they were delivered once, by a receive that
 * was undone by a restart, and are not delivered in the history (was_delivered). Otherwise it is
 * not known: with such a program the number that is left may depend on the order of messages. */
#include "oracles/history_claims/message_pass.h"
#include "oracles/history_claims/owed.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Without a run without faults: how many messages are looked for among deliveries that were undone.
 * Each look reads all of a rank's traces. */
#define DELIVERY_LOOKUPS 16

/* Why it is not known whether messages were lost. */
enum doubt {
    DOUBT_NO_FAULT,     /* nothing can have been lost by recovery */
    DOUBT_NO_REFERENCE, /* no run without faults to compare with */
    DOUBT_OTHERS,       /* without faults too some are left, but not these */
};

static struct looks delivered_as(const struct channel *channel, const struct sent *sent)
{
    return (struct looks){.delivery = true,
                          .comm = channel->comm,
                          .peer = channel->source,
                          .tag = channel->tag,
                          .bytes = sent->bytes,
                          .hash = sent->hash,
                          .no_hash = sent->no_hash};
}

static void report_loss(struct passage *passage, const struct channel *channel,
                        const struct sent *sent, const struct pair *other)
{
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_VIOLATION);
    if (finding == NULL)
        return;
    finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes: %s", channel->source,
                channel_text(channel, sent->number, message), sent->bytes,
                event_text(sent->event, event));
    finding_show(finding, sent->event);
    struct looks looks = delivered_as(channel, sent);
    struct event_ref undone;
    if (messages_find(passage, channel->destination, &looks, true, &undone))
        messages_say_undone(passage, finding, "delivered it", undone);
    if (other != NULL) {
        finding_say(finding, "rank %d delivered the later #%" PRIu64 ": %s", channel->destination,
                    other->number, event_text(other->delivered, event));
        finding_show(finding, other->delivered);
        finding_decide(finding, other->delivered);
    } else {
        finding_decide_at_end(finding);
    }
    finding_say(finding, "the run finished and rank %d's effective history has no delivery of it",
                channel->destination);
}

static void keep(struct passage *passage, const struct channel *channel, const struct sent *sent)
{
    passage->undelivered = memory_room(passage->undelivered, passage->undelivered_count,
                                       &passage->undelivered_room, sizeof *passage->undelivered);
    passage->undelivered[passage->undelivered_count++] = (struct undelivered){
        .channel = {.comm = channel->comm,
                    .source = channel->source,
                    .destination = channel->destination,
                    .tag = channel->tag},
        .sent = *sent,
    };
}

void loss_add(struct passage *passage, const struct channel *channel, const struct sent *sent,
              const struct pair *other)
{
    passage->sent++;
    if (other != NULL)
        report_loss(passage, channel, sent, other);
    else
        keep(passage, channel, sent);
}

static bool same_channel(const struct channel *a, const struct channel *b)
{
    return a->comm == b->comm && a->source == b->source && a->destination == b->destination &&
           a->tag == b->tag;
}

/* How many messages of the channel the program leaves unreceived without faults. */
static uint64_t left_without_faults(const struct run_facts *facts, const struct channel *channel)
{
    uint64_t messages = 0;
    for (size_t i = 0; i < facts->unreceived_count; i++) {
        const struct unreceived *at = &facts->unreceived[i];
        if (at->comm == channel->comm && at->source == channel->source &&
            at->destination == channel->destination && at->tag == channel->tag)
            messages += at->messages;
    }
    return messages;
}

/* It was delivered once, which was undone, and nothing like it is delivered in the history. */
static bool was_delivered(struct passage *passage, const struct undelivered *message)
{
    struct looks looks = delivered_as(&message->channel, &message->sent);
    struct event_ref event;
    int rank = message->channel.destination;
    return passage->lookups++ < DELIVERY_LOOKUPS && !looks.no_hash &&
           messages_find(passage, rank, &looks, true, &event) &&
           !messages_find(passage, rank, &looks, false, &event);
}

static bool is_lost(struct passage *passage, const struct undelivered *message)
{
    const struct run_facts *facts = passage->judging->facts;
    if (facts->unreceived_known && facts->unreceived_count == 0)
        return true;
    return was_delivered(passage, message);
}

static void say_doubt(struct finding *finding, enum doubt doubt)
{
    static const char *const why[] = {
        [DOUBT_NO_FAULT] =
            "no fault was installed in this run: it is the program that leaves messages "
            "unreceived (or the protocol that drops them without any fault)",
        [DOUBT_NO_REFERENCE] = "there is no finished run without faults that would tell whether "
                               "the program receives them",
        [DOUBT_OTHERS] = "without faults too the program leaves messages unreceived, but not as "
                         "many on these channels",
    };
    finding_say(finding, "%s", why[doubt]);
    finding_say(finding, "%s",
                doubt == DOUBT_NO_REFERENCE
                    ? "so a loss cannot be told from what the program never receives"
                    : "with such a program a loss cannot be told from what it never receives");
}

static void report_doubt(struct passage *passage, enum doubt doubt, const struct undelivered *first,
                         uint64_t count)
{
    char event[EVENT_TEXT_BYTES], message[MESSAGE_TEXT_BYTES];
    struct finding *finding = judging_find(passage->judging, CLAIM_H_LOSS, VERDICT_UNKNOWN);
    finding_say(finding, "%" PRIu64 " %s sent and never received; the first is %s: %s", count,
                count == 1 ? "message was" : "messages were",
                channel_text(&first->channel, first->sent.number, message),
                event_text(first->sent.event, event));
    say_doubt(finding, doubt);
    finding_show(finding, first->sent.event);
}

/* Messages from..to-1 are those of one channel that were not delivered. As the last of them are
 * what the program leaves unreceived, the first ones should have come. */
static void judge_channel(struct passage *passage, size_t from, size_t to,
                          const struct undelivered **doubtful, uint64_t *doubts)
{
    const struct undelivered *list = passage->undelivered;
    uint64_t left = passage->judging->faulted
                        ? left_without_faults(passage->judging->facts, &list[from].channel)
                        : 0;
    for (size_t i = from; i < to && to - i > left; i++) {
        if (passage->judging->faulted && is_lost(passage, &list[i])) {
            report_loss(passage, &list[i].channel, &list[i].sent, NULL);
            continue;
        }
        if ((*doubts)++ == 0)
            *doubtful = &list[i];
    }
}

void loss_finish(struct passage *passage)
{
    const struct judging *judging = passage->judging;
    const struct undelivered *list = passage->undelivered, *doubtful = NULL;
    uint64_t doubts = 0;
    size_t to;
    passage->lookups = 0;
    for (size_t from = 0; from < passage->undelivered_count; from = to) {
        for (to = from + 1; to < passage->undelivered_count; to++)
            if (!same_channel(&list[from].channel, &list[to].channel))
                break;
        judge_channel(passage, from, to, &doubtful, &doubts);
    }
    if (doubts > 0)
        report_doubt(passage,
                     !judging->faulted                  ? DOUBT_NO_FAULT
                     : judging->facts->unreceived_known ? DOUBT_OTHERS
                                                        : DOUBT_NO_REFERENCE,
                     doubtful, doubts);
}

void loss_waits(void *context)
{
    struct passage *passage = context;
    struct judging *judging = passage->judging;
    char message[MESSAGE_TEXT_BYTES], event[EVENT_TEXT_BYTES];
    struct owed owed;
    for (int rank = 0; rank < passage->histories->ranks; rank++) {
        if (!owed_find(judging, passage->pass, rank, &owed))
            continue;
        judging_saw(judging, CLAIM_H_LOSS, 1);
        struct finding *finding = judging_find(judging, CLAIM_H_LOSS, VERDICT_VIOLATION);
        finding_say(finding, "rank %d sent %s, %" PRIu64 " bytes: %s", owed.channel->source,
                    channel_text(owed.channel, owed.sent->number, message), owed.sent->bytes,
                    event_text(owed.sent->event, event));
        finding_say(finding, "rank %d waits for it, and nobody goes on: %s", rank,
                    event_text(owed.call, event));
        finding_show(finding, owed.sent->event);
        finding_show(finding, owed.call);
        finding_decide_at_end(finding);
    }
}
