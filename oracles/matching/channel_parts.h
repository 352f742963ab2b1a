/* What channel.c, which takes pairs from the heads of a channel's queues, and channel_explain.c,
 * which finds out what is wrong where the heads do not agree, share. */
#ifndef ORACLES_MATCHING_CHANNEL_PARTS_H
#define ORACLES_MATCHING_CHANNEL_PARTS_H

#include "oracles/matching/align.h"
#include "oracles/matching/match.h"

static inline bool channel_same_bytes(const struct sent *sent, const struct received *received)
{
    if (sent->bytes != received->bytes)
        return false;
    return sent->no_hash || received->no_hash || sent->hash == received->hash;
}

static inline bool channel_in_time(const struct match *match, const struct sent *sent,
                                   const struct received *received)
{
    return sent->enter <= received->leave + match->slack;
}

static inline bool channel_agree(const struct match *match, const struct sent *sent,
                                 const struct received *received)
{
    return received->blind ||
           (channel_same_bytes(sent, received) && channel_in_time(match, sent, received));
}

/* The life in which the send was made began after the delivery; or after a death that others lived
 * through, who may deliver what the dead had sent at any time. The send can account for the
 * delivery only if it is done again: if it repeats one that was made in an earlier life. */
static inline bool channel_done_again(const struct match *match, const struct sent *sent,
                                      const struct received *received)
{
    return (sent->born > received->leave || sent->takes_over) &&
           !channel_in_time(match, sent, received);
}

static inline enum align_fit channel_fit(const struct match *match, const struct sent *sent,
                                         const struct received *received)
{
    bool same = received->blind || channel_same_bytes(sent, received);
    if (channel_in_time(match, sent, received))
        return same ? FIT_SAME : FIT_CHANGED;
    if (channel_done_again(match, sent, received))
        return same ? FIT_AGAIN : FIT_AGAIN_CHANGED;
    return FIT_IMPOSSIBLE;
}

static inline void channel_report(struct match *match, enum anomaly anomaly,
                                  const struct channel *channel, const struct sent *sent,
                                  const struct received *received, const struct pair *other)
{
    if (match->listener.anomaly != NULL)
        match->listener.anomaly(match->listener.context, anomaly, channel, sent, received, other);
}

static inline void channel_report_pair(struct match *match, const struct channel *channel,
                                       const struct sent *sent, const struct received *received)
{
    if (match->listener.pair != NULL)
        match->listener.pair(match->listener.context, channel, sent, received);
}

/* --- channel.c ------------------------------------------------------------------------------ */

/* The two are the newest pair of the channel. */
void channel_remember(struct channel *channel, const struct sent *sent,
                      const struct received *received);

/* Reports the two as a pair; both are given back. */
void channel_close_pair(struct match *match, struct channel *channel, struct sent *sent,
                        struct received *received);

/* The send has no delivery: reported as that anomaly, unless it was reported, and given back. */
void channel_close_sent(struct match *match, struct channel *channel, struct sent *sent,
                        enum anomaly anomaly);

/* The link to the delivery in `unplaced` that goes with the send; the end of the list if none does.
 */
struct received **channel_find_unplaced(const struct match *match, struct channel *channel,
                                        const struct sent *sent);

/* Pairs the send with that delivery. False: there is none. */
bool channel_place(struct match *match, struct channel *channel, struct sent *sent);

/* --- channel_explain.c ---------------------------------------------------------------------- */

/* Carries out the cheapest explanation of the heads, step by step, up to the first pair that
 * agrees. complete: nothing more will come. */
void channel_explain(struct match *match, struct channel *channel, bool complete);

/* The first delivery has no send among those that wait: reported, and given back. */
void channel_report_extra(struct match *match, struct channel *channel);

/* A send that was passed over is reported and given back, or given back alone. */
void channel_report_undelivered(struct match *match, struct channel *channel,
                                struct passed_over *passed_over);
void channel_drop_passed_over(struct match *match, struct channel *channel,
                              struct passed_over *gone);

#endif
