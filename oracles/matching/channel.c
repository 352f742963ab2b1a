/* See channel.h. A channel has two queues: its sends in the order in which they were made, and its
 * receives in the order in which they were posted. This file takes pairs from their heads. A pair
 * *agrees* if the bytes are the same and the send was entered before the receive returned; then it
 * is reported, dropped, and remembered among the last CHANNEL_RECENT. That is the usual case, and
 * costs a constant number of steps for a message.
 *
 * Where the heads do not agree, advance_decided tries what could be right before what is wrong:
 *   1. Threads. Two sends (or two receives) of different threads whose calls overlapped have no
 *      order: another pair may be the first one (settle_within_threads).
 *   2. A send that is done again, because its rank was restored before it (is_again):
 *
 *          rank 0:  send A   killed, restored to before the send   send A again
 *          rank 1:        recv A
 *
 *      Rank 0's effective history holds only the second send, which begins after the delivery. Such
 *      a pair is one message (an early one), although its times forbid it: FIT_AGAIN.
 *   3. A delivery without a place, whose receive was posted in an earlier life (`unplaced`).
 *   4. Only then something is wrong (channel_explain.c), and align.c looks for the cheapest
 *      explanation, in a window of ALIGN_SENDS sends and ALIGN_DELIVERIES deliveries:
 *
 *          sent       a  b  c  d
 *          delivered  a  c  d
 *
 *      To compare the k-th with the k-th to the end would report b and c as changed and d as lost;
 *      the explanation is that b alone was not delivered. b is *passed over*: it waits in a list,
 *      since it may still come (ANOMALY_ORDER); at the end it is ANOMALY_UNDELIVERED.
 *
 * An explanation is not looked for at once. A record is read when its call is entered, so the send
 * of a delivery may not have been read yet, and a lost message can be told from a changed one only
 * by what follows. enough_to_explain waits for both.
 *
 * Only a decided receive at the head can be paired; see match.c for what must be decided before. */
#include "oracles/matching/channel_parts.h"

#define MOST_MADE_AGAIN 1024

/* --- what went right ----------------------------------------------------------------------- */

static bool overlap(uint64_t enter, uint64_t leave, uint64_t other_enter, uint64_t other_leave)
{
    return (other_leave == 0 || enter < other_leave) && (leave == 0 || other_enter < leave);
}

static bool unordered_sends(const struct sent *a, const struct sent *b)
{
    return a->thread != b->thread && overlap(a->enter, a->leave, b->enter, b->leave);
}

static bool unordered_receives(const struct received *a, const struct received *b)
{
    return a->thread != b->thread && overlap(a->enter, a->posted_leave, b->enter, b->posted_leave);
}

void channel_remember(struct channel *channel, const struct sent *sent,
                      const struct received *received)
{
    struct pair *pair = &channel->recent[channel->recent_next++ % CHANNEL_RECENT];
    *pair = (struct pair){.hash = sent->hash,
                          .bytes = sent->bytes,
                          .number = sent->number,
                          .sent = sent->event,
                          .delivered = received->delivered,
                          .no_hash = sent->no_hash};
    for (struct passed_over *at = channel->passed_over; at != NULL; at = at->next)
        if (at->by.number == 0 && !unordered_sends(at->sent, sent))
            at->by = *pair;
}

/* How many receives that wait on `channel` were posted before `order`, or may have been. Each takes
 * one of the channel's sends, from the first on. */
static unsigned posted_before(const struct channel *channel, uint64_t order)
{
    unsigned count = 0;
    for (const struct received *at = channel->first_received; at != NULL && at->order < order;
         at = at->next)
        count++;
    for (const struct received *at = channel->unplaced; at != NULL; at = at->next)
        count++;
    return count;
}

/* A receive for any tag took `sent`. MPI orders the messages that such a receive can match across
 * tags, so that the queues of the other channels of the lane matter, too:
 *
 *     rank 0:  send tag 3   send tag 5        rank 1:  recv any tag -> tag 5
 *
 * The send with tag 3 was overtaken. It was not if a receive posted earlier may have taken it: one
 * that waits on its channel (posted_before), or a wildcard (match_wild_before). */
static void check_any_tag(struct match *match, const struct channel *channel,
                          const struct sent *sent, const struct received *received)
{
    struct pair other = {
        .number = sent->number, .sent = sent->event, .delivered = received->delivered};
    for (struct channel *at = channel->lane->busy; at != NULL; at = at->busy_after) {
        unsigned taken = posted_before(at, received->order);
        struct sent *first = at->first_sent;
        for (; first != NULL && taken > 0; taken--)
            first = first->next;
        if (at == channel || first == NULL || first->order > sent->order || first->optional ||
            first->reported || unordered_sends(first, sent) ||
            match_wild_before(at, received->order))
            continue;
        first->reported = true;
        channel_report(match, ANOMALY_ORDER, at, first, NULL, &other);
    }
}

void channel_close_sent(struct match *match, struct channel *channel, struct sent *sent,
                        enum anomaly anomaly)
{
    channel_take_sent(match, channel, sent);
    if (!sent->reported)
        channel_report(match, anomaly, channel, sent, NULL, NULL);
    match_free_sent(match, sent);
}

/* Reports the two as a pair; both are given back. */
void channel_close_pair(struct match *match, struct channel *channel, struct sent *sent,
                        struct received *received)
{
    channel_take_sent(match, channel, sent);
    channel_take_received(match, channel, received);
    channel->delivered_count++;
    channel_report_pair(match, channel, sent, received);
    channel_remember(channel, sent, received);
    match_free_sent(match, sent);
    pool_give(&match->received_pool, received);
}

/* The channel's k-th receive, in the order that is known, need not have taken its k-th send; where
 * their bytes are the same nothing else tells which it took. */
static bool is_unsure(const struct match *match, const struct channel *channel,
                      const struct received *received)
{
    const struct match_rank *from = &match->rank[channel->source];
    const struct match_rank *to = &match->rank[channel->destination];
    return channel->may_lack || channel->maybe_taken || channel->endpoint->lost_sight ||
           to->dormant_until > 0 || from->several_threads || to->several_threads ||
           match_wild_before(channel, received->order);
}

static void settle_pair(struct match *match, struct channel *channel, struct sent *sent,
                        struct received *received)
{
    if (sent->synchronous && sent->returned != 0 &&
        sent->returned + match->clocks_apart < received->enter &&
        !is_unsure(match, channel, received))
        channel_report(match, ANOMALY_EARLY_RETURN, channel, sent, received, NULL);
    /* While dormant receives exist, the order of posting is not known for all receives, so nothing
     * can be said to be overtaken. */
    if (received->want_tag == TAG_ANY && channel->lane->busy != NULL &&
        match->rank[channel->destination].dormant_until == 0)
        check_any_tag(match, channel, sent, received);
    channel_close_pair(match, channel, sent, received);
}

/* The link to the first delivery in `unplaced` that fits `sent` as `how` says; if there is none, to
 * the end of the list. */
static struct received **find_fit(const struct match *match, struct channel *channel,
                                  const struct sent *sent, enum align_fit how)
{
    struct received **place = &channel->unplaced;
    while (*place != NULL && channel_fit(match, sent, *place) != how)
        place = &(*place)->next;
    return place;
}

struct received **channel_find_unplaced(const struct match *match, struct channel *channel,
                                        const struct sent *sent)
{
    struct received **found = find_fit(match, channel, sent, FIT_SAME);
    return *found != NULL ? found : find_fit(match, channel, sent, FIT_AGAIN);
}

bool channel_place(struct match *match, struct channel *channel, struct sent *sent)
{
    struct received **found = channel_find_unplaced(match, channel, sent);
    struct received *received = *found;
    if (received == NULL)
        return false;
    *found = received->next;
    channel_close_pair(match, channel, sent, received);
    return true;
}

/* Is the head send one that is done again, and the head delivery the one that it repeats? If
 * several messages have equal bytes, the pair alone does not show it: the delivery could be one too
 * many, and the send belong to a later delivery. It is sure if all following pairs up to the
 * sender's restart are of that kind, too, and the first pair after them agrees and has other bytes
 * than the last: then the two queues cannot be shifted against each other. At most ALIGN_SENDS
 * pairs are looked at. */
static bool is_again(const struct match *match, const struct channel *channel)
{
    const struct sent *sent = channel->first_sent;
    const struct received *received = channel->first_received;
    uint64_t hash = 0;
    for (unsigned again = 0; again < ALIGN_SENDS; again++) {
        if (sent == NULL || received == NULL || !received->decided)
            return false;
        enum align_fit how = channel_fit(match, sent, received);
        if (how != FIT_AGAIN)
            return how == FIT_SAME && again > 0 && hash != sent->hash;
        hash = sent->hash;
        sent = sent->next;
        received = received->next;
    }
    return true;
}

/* No send that waits ahead of `sent` in the queue is ordered before it. */
static bool may_come_first(const struct channel *channel, const struct sent *sent)
{
    for (const struct sent *at = channel->first_sent; at != sent; at = at->next)
        if (!unordered_sends(at, sent))
            return false;
    return true;
}

static bool may_match_first(const struct channel *channel, const struct received *received)
{
    for (const struct received *at = channel->first_received; at != received; at = at->next)
        if (!unordered_receives(at, received))
            return false;
    return true;
}

/* The first of the receives that `sent` agrees with, or NULL. */
static struct received *find_receive(struct match *match, const struct channel *channel,
                                     const struct sent *sent)
{
    unsigned looked_at = 0;
    for (struct received *at = channel->first_received;
         at != NULL && at->decided && looked_at < ALIGN_DELIVERIES; at = at->next, looked_at++)
        if (channel_agree(match, sent, at) && may_match_first(channel, at))
            return at;
    return NULL;
}

/* The head pair does not agree. Sends (or receives) whose calls overlapped in different threads
 * have no order among them: the first pair that agrees, and of which either side may be the first
 * of its queue, is taken. At most ALIGN_SENDS by ALIGN_DELIVERIES pairs are looked at. */
static bool settle_within_threads(struct match *match, struct channel *channel)
{
    unsigned looked_at = 0;
    for (struct sent *sent = channel->first_sent; sent != NULL && looked_at < ALIGN_SENDS;
         sent = sent->next, looked_at++) {
        if (!may_come_first(channel, sent))
            continue;
        struct received *received = find_receive(match, channel, sent);
        if (received == NULL)
            continue;
        settle_pair(match, channel, sent, received);
        return true;
    }
    return false;
}

/* --- going on ------------------------------------------------------------------------------ */

/* The stream visits a call by its time of entry, and the record already says what the call got. The
 * sends made before the call returned have all been read only once the stream has come to that
 * time. */
static bool is_past(const struct match *match, uint64_t leave)
{
    return leave + match->slack < match->now;
}

/* Every send that could account for this delivery has been read. */
static bool is_explicable(const struct match *match, const struct received *received)
{
    return received->decided && (received->blind || is_past(match, received->leave));
}

/* Messages arrive in order: once one is delivered after the sender's restart, the sender has made
 * again all sends whose messages had been delivered before. Until then it may be that only some of
 * them have been read. */
static bool makes_sends_again(const struct match *match, const struct channel *channel)
{
    return channel->newest_leave <= channel->first_sent->born ||
           !is_past(match, channel->newest_leave);
}

/* Where others lived on, one of them may deliver after the restart what was sent before it. So the
 * send of any delivery may still come. At most MOST_MADE_AGAIN deliveries wait for theirs. */
static bool has_fewer_sends(const struct channel *channel)
{
    const struct sent *sent = channel->first_sent;
    const struct received *received = channel->first_received;
    bool fewer = false;
    for (unsigned waiting = 0; received != NULL && received->decided; received = received->next) {
        if (++waiting > MOST_MADE_AGAIN)
            return false;
        fewer = sent == NULL;
        sent = sent != NULL ? sent->next : NULL;
    }
    return fewer;
}

static bool enough_to_explain(const struct match *match, const struct channel *channel)
{
    unsigned sends = 0, decided = 0;
    const struct sent *first = channel->first_sent;
    if (channel_done_again(match, first, channel->first_received) &&
        (first->takes_over ? has_fewer_sends(channel) : makes_sends_again(match, channel)))
        return false;
    /* Only deliveries count whose send has been read if there is one. Where a window's worth of
     * sends waits, one window of deliveries is enough; with fewer sends two are waited for. */
    for (const struct sent *at = channel->first_sent; at != NULL && sends < ALIGN_DELIVERIES;
         at = at->next)
        sends++;
    for (const struct received *at = channel->first_received;
         at != NULL && is_explicable(match, at); at = at->next)
        if (++decided == (sends == ALIGN_DELIVERIES ? ALIGN_DELIVERIES : 2 * ALIGN_DELIVERIES))
            return true;
    return false;
}

/* At the end, the head receive never completed. It was posted before those that follow it, so the
 * first message is its own if there is one: the message may have arrived without any record of it
 * (ANOMALY_UNSEEN). If MPI_Cancel was called for the receive, it may have taken none, and any
 * message of the channel may be the one that it took (maybe_taken). */
static void take_unseen(struct match *match, struct channel *channel)
{
    struct received *received = channel->first_received;
    struct sent *sent = channel->first_sent;
    bool cancelled = received->cancelled;
    channel_take_received(match, channel, received);
    pool_give(&match->received_pool, received);
    channel->maybe_taken |= cancelled;
    if (sent != NULL && !cancelled)
        channel_close_sent(match, channel, sent, ANOMALY_UNSEEN);
}

static void wait_for_wild(struct channel *channel)
{
    if (channel->blocked)
        return;
    channel->blocked = true;
    channel->next_blocked = channel->endpoint->blocked;
    channel->endpoint->blocked = channel;
}

/* One step with the first receive, which is decided. False: it must wait. */
static bool advance_decided(struct match *match, struct channel *channel, bool complete)
{
    struct received *received = channel->first_received;
    struct sent *sent = channel->first_sent;
    if (sent == NULL && !complete)
        return false;
    if (!complete && channel->endpoint->wild != NULL &&
        match_wild_before(channel, received->order)) {
        wait_for_wild(channel);
        return false;
    }
    if (sent != NULL && channel_agree(match, sent, received)) {
        /* Both the head receive and a delivery without a place may fit. The one that returned
         * earlier is used up first: it may be too early for the sends that follow. */
        if (channel->unplaced == NULL || channel->unplaced->leave > received->leave ||
            !channel_place(match, channel, sent))
            settle_pair(match, channel, sent, received);
        return true;
    }
    if (sent != NULL && settle_within_threads(match, channel))
        return true;
    if (sent != NULL && is_again(match, channel)) {
        channel_close_pair(match, channel, sent, received);
        return true;
    }
    if (sent != NULL && channel->unplaced != NULL && !channel_done_again(match, sent, received) &&
        channel_place(match, channel, sent))
        return true;
    if (!complete && !enough_to_explain(match, channel))
        return false;
    channel_explain(match, channel, complete);
    return true;
}

/* At the end, a delivery without a place may go with any send that is left, not just the first. */
static bool place_any(struct match *match, struct channel *channel)
{
    for (struct sent *sent = channel->first_sent; sent != NULL; sent = sent->next)
        if (channel_place(match, channel, sent))
            return true;
    return false;
}

/* Deliveries without a place that are left over, at the end. */
static void report_unplaced(struct match *match, struct channel *channel)
{
    struct received *received = channel->unplaced;
    channel->unplaced = received->next;
    channel_add_received(match, channel, received);
    channel_report_extra(match, channel);
}

void channel_advance(struct match *match, struct channel *channel, bool complete)
{
    for (;;) {
        struct received *received = channel->first_received;
        struct sent *sent = channel->first_sent;
        if (received != NULL && received->decided) {
            if (!advance_decided(match, channel, complete))
                break;
        } else if (received != NULL) {
            if (!complete)
                break;
            if (sent == NULL || !channel_place(match, channel, sent))
                take_unseen(match, channel);
        } else if (channel->unplaced == NULL) {
            break;
        } else if (sent != NULL && channel_place(match, channel, sent)) {
            continue;
        } else if (!complete) {
            break;
        } else if (!place_any(match, channel)) {
            report_unplaced(match, channel);
        }
    }
}

void channel_finish(struct match *match, struct channel *channel)
{
    bool open = match_is_open(match, channel);
    while (channel->passed_over != NULL && open && match->cut_off) {
        if (!channel->passed_over->sent->reported)
            channel_report(match, ANOMALY_UNSEEN, channel, channel->passed_over->sent, NULL, NULL);
        channel_drop_passed_over(match, channel, channel->passed_over);
    }
    while (channel->passed_over != NULL)
        channel_report_undelivered(match, channel, channel->passed_over);
    while (channel->first_sent != NULL) {
        struct sent *sent = channel->first_sent;
        bool unseen = sent->optional || open || match_may_be_gone(match, channel);
        channel_close_sent(match, channel, sent, unseen ? ANOMALY_UNSEEN : ANOMALY_UNDELIVERED);
    }
}
