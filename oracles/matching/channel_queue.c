/* What waits in a channel: sends as sent, receives as posted, deliveries that may have any place.
 * See channel.h; how they are matched is channel.c. Single linked lists: nearly always things are
 * added at the end and taken from the front, and few wait. */
#include "oracles/matching/match.h"

#include <stddef.h>

void channel_add_sent(struct match *match, struct channel *channel, struct sent *sent)
{
    sent->number = ++channel->sent_count;
    if (channel->last_sent == NULL)
        channel->first_sent = sent;
    else
        channel->last_sent->next = sent;
    channel->last_sent = sent;
    channel_advance(match, channel, false);
}

bool anomaly_is_message(enum anomaly anomaly, const struct received *received)
{
    return received != NULL &&
           (anomaly == ANOMALY_PAYLOAD || anomaly == ANOMALY_UNDONE || anomaly == ANOMALY_ORDER);
}

bool received_is_unseen(const struct received *received)
{
    return received->leave >= UINT64_MAX / 2;
}

bool anomaly_leaves_doubt(enum anomaly anomaly, const struct received *received)
{
    return !anomaly_is_message(anomaly, received) && anomaly != ANOMALY_UNDELIVERED &&
           anomaly != ANOMALY_UNSEEN && anomaly != ANOMALY_EARLY_RETURN;
}

static void note_delivery(const struct match *match, struct channel *channel,
                          const struct received *received)
{
    uint64_t born = match->rank[channel->source].born;
    if (received->leave > born && channel->newest_leave <= born)
        channel->newest_leave = received->leave;
}

void channel_add_received(struct match *match, struct channel *channel, struct received *received)
{
    struct received **place = &channel->first_received;
    /* Nearly always the newest: look at the end first. */
    if (channel->last_received != NULL && channel->last_received->order < received->order)
        place = &channel->last_received->next;
    while (*place != NULL && (*place)->order < received->order)
        place = &(*place)->next;
    received->next = *place;
    *place = received;
    if (received->next == NULL)
        channel->last_received = received;
    received->channel = channel;
    if (received->decided)
        note_delivery(match, channel, received);
}

bool channel_take_sent(struct match *match, struct channel *channel, struct sent *sent)
{
    (void)match;
    struct sent *before = NULL;
    for (struct sent *at = channel->first_sent; at != NULL; before = at, at = at->next) {
        if (at != sent)
            continue;
        if (before == NULL)
            channel->first_sent = sent->next;
        else
            before->next = sent->next;
        if (channel->last_sent == sent)
            channel->last_sent = before;
        return true;
    }
    return false;
}

void channel_take_received(struct match *match, struct channel *channel, struct received *received)
{
    (void)match;
    struct received *before = NULL;
    struct received *at = channel->first_received;
    for (; at != NULL && at != received; at = at->next)
        before = at;
    if (at == NULL)
        return;
    if (before == NULL)
        channel->first_received = received->next;
    else
        before->next = received->next;
    if (channel->last_received == received)
        channel->last_received = before;
    received->channel = NULL;
}

void channel_add_unplaced(struct match *match, struct channel *channel, struct received *received)
{
    struct received **end = &channel->unplaced;
    while (*end != NULL)
        end = &(*end)->next;
    *end = received;
    received->next = NULL;
    note_delivery(match, channel, received);
}
