/* See channel_parts.h. What is done where the head pair of a channel is not right: the cheapest
 * explanation (align.h) is carried out and reported. */
#include "oracles/matching/channel_parts.h"

#include <string.h>

/* So many steps of an explanation are taken at most; then the window is moved and explained again,
 * because the steps near its end were chosen without knowing what follows. */
#define EXPLAINED_AT_ONCE 8

static bool pair_has_bytes(const struct pair *pair, const struct received *received)
{
    return pair->number > 0 && !pair->no_hash && !received->no_hash &&
           pair->hash == received->hash && pair->bytes == received->bytes;
}

static struct passed_over *find_passed_over(struct match *match, const struct channel *channel,
                                            const struct received *received)
{
    for (struct passed_over *at = channel->passed_over; at != NULL; at = at->next)
        if (channel_agree(match, at->sent, received) ||
            channel_fit(match, at->sent, received) == FIT_AGAIN)
            return at;
    return NULL;
}

static const struct pair *find_recent(const struct channel *channel,
                                      const struct received *received)
{
    const struct pair *newest = NULL;
    for (unsigned i = 0; i < CHANNEL_RECENT; i++) {
        const struct pair *pair = &channel->recent[i];
        if (pair_has_bytes(pair, received) && (newest == NULL || pair->number > newest->number))
            newest = pair;
    }
    return newest;
}

void channel_drop_passed_over(struct match *match, struct channel *channel,
                              struct passed_over *gone)
{
    struct passed_over **place = &channel->passed_over;
    while (*place != gone)
        place = &(*place)->next;
    *place = gone->next;
    channel->passed_over_count--;
    match_free_sent(match, gone->sent);
    pool_give(&match->passed_over_pool, gone);
}

void channel_report_undelivered(struct match *match, struct channel *channel,
                                struct passed_over *passed_over)
{
    const struct pair *by = passed_over->by.number > 0 ? &passed_over->by : NULL;
    bool gone = by == NULL && match_may_be_gone(match, channel);
    if (!passed_over->sent->reported)
        channel_report(match, gone ? ANOMALY_UNSEEN : ANOMALY_UNDELIVERED, channel,
                       passed_over->sent, NULL, by);
    channel_drop_passed_over(match, channel, passed_over);
}

/* The first send was not delivered where it was due. It may still come late. */
static void skip_sent(struct match *match, struct channel *channel, bool optional)
{
    struct sent *sent = channel->first_sent;
    if (channel_place(match, channel, sent))
        return;
    if (optional) {
        channel_close_sent(match, channel, sent, ANOMALY_UNSEEN);
        return;
    }
    channel_take_sent(match, channel, sent);
    struct passed_over *passed_over = pool_take(&match->passed_over_pool);
    sent->next = NULL;
    passed_over->sent = sent;
    struct passed_over **end = &channel->passed_over;
    while (*end != NULL)
        end = &(*end)->next;
    *end = passed_over;
    if (++channel->passed_over_count > CHANNEL_PASSED_OVER)
        channel_report_undelivered(match, channel, channel->passed_over);
}

/* A waiting send of the same bytes that was made only after the delivery: the send that caused the
 * delivery is not in the effective history. `restarted`: only a send of a life that began after the
 * delivery counts. */
static const struct sent *sent_again(const struct match *match, const struct channel *channel,
                                     const struct received *received, bool restarted)
{
    for (const struct sent *sent = channel->first_sent; sent != NULL; sent = sent->next)
        if (channel_same_bytes(sent, received) && !channel_in_time(match, sent, received) &&
            (!restarted || channel_done_again(match, sent, received)))
            return sent;
    return NULL;
}

/* A send that was passed over is delivered after all: out of order, unless what went ahead of it
 * came from another thread at the same time. */
static void take_late(struct match *match, struct channel *channel, struct passed_over *late,
                      const struct received *received)
{
    if (late->by.number > 0)
        channel_report(match, ANOMALY_ORDER, channel, late->sent, received, &late->by);
    else
        channel_report_pair(match, channel, late->sent, received);
    channel->delivered_count++;
    channel_drop_passed_over(match, channel, late);
}

/* The first delivery has no send among those that wait. In this order: it is a message that was
 * passed over and comes late; or a send of it was undone by a restart, or it is like nothing that
 * was delivered lately (an orphan); or it repeats a recent one (a duplicate). */
void channel_report_extra(struct match *match, struct channel *channel)
{
    struct received *received = channel->first_received;
    struct passed_over *late = find_passed_over(match, channel, received);
    const struct pair *recent = find_recent(channel, received);
    const struct sent *again = sent_again(match, channel, received, recent != NULL);
    channel_take_received(match, channel, received);
    if (late != NULL) {
        take_late(match, channel, late, received);
    } else if (again != NULL || recent == NULL || match_is_to_come(match, channel, received)) {
        channel_report(match, ANOMALY_ORPHAN, channel, again, received, NULL);
    } else {
        channel_report(match, ANOMALY_DUPLICATE, channel, NULL, received, recent);
    }
    pool_give(&match->received_pool, received);
}

/* The two belong together, but the bytes differ. If the sender was restored after the delivery, the
 * bytes did not change under way: the program went another way after the restart, and the message
 * that was delivered is not part of the history any more (ANOMALY_UNDONE). */
static void report_changed(struct match *match, struct channel *channel)
{
    struct sent *sent = channel->first_sent;
    struct received *received = channel->first_received;
    channel_take_sent(match, channel, sent);
    channel_take_received(match, channel, received);
    channel->delivered_count++;
    if (channel_done_again(match, sent, received)) {
        channel_report(match, ANOMALY_UNDONE, channel, sent, received, NULL);
    } else {
        channel_report(match, ANOMALY_PAYLOAD, channel, sent, received, NULL);
        channel_remember(channel, sent, received);
    }
    match_free_sent(match, sent);
    pool_give(&match->received_pool, received);
}

static void state_problem(struct match *match, struct channel *channel, bool complete,
                          struct align_problem *problem)
{
    memset(problem, 0, sizeof *problem);
    bool more = false;
    const struct sent *sent[ALIGN_SENDS];
    for (struct sent *at = channel->first_sent; at && problem->sends < ALIGN_SENDS; at = at->next) {
        problem->optional[problem->sends] = at->optional ||
                                            (complete && match_is_open(match, channel)) ||
                                            *channel_find_unplaced(match, channel, at) != NULL;
        sent[problem->sends++] = at;
    }
    for (struct received *at = channel->first_received;
         at != NULL && at->decided && problem->deliveries < ALIGN_DELIVERIES; at = at->next) {
        unsigned j = problem->deliveries++;
        problem->to_come[j] = complete && match_is_to_come(match, channel, at);
        problem->seen[j] =
            find_recent(channel, at) != NULL || find_passed_over(match, channel, at) != NULL;
        for (unsigned i = 0; i < problem->sends; i++)
            problem->fit[i][j] = channel_fit(match, sent[i], at);
        more = at->next != NULL && at->next->decided;
    }
    /* Deliveries beyond the window may belong to the sends that are left over: then these do not
     * count as lost yet. */
    problem->cut_off = match->cut_off;
    problem->complete =
        complete && !match->cut_off && (problem->deliveries < ALIGN_DELIVERIES || !more);
}

/* Carries out the cheapest explanation, step by step, up to the first pair that agrees. */
void channel_explain(struct match *match, struct channel *channel, bool complete)
{
    struct align_problem problem;
    struct align_step steps[ALIGN_STEPS];
    state_problem(match, channel, complete, &problem);
    unsigned count = align(&problem, steps);
    for (unsigned i = 0; i < count && i < EXPLAINED_AT_ONCE && steps[i].kind != ALIGN_PAIR; i++) {
        if (steps[i].kind == ALIGN_SKIP)
            skip_sent(match, channel, problem.optional[steps[i].send]);
        else if (steps[i].kind == ALIGN_EXTRA)
            channel_report_extra(match, channel);
        else if (steps[i].kind == ALIGN_AGAIN)
            channel_close_pair(match, channel, channel->first_sent, channel->first_received);
        else
            report_changed(match, channel);
    }
}
