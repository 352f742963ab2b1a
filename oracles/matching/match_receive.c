/* See match_receive.h. A receive gets its number (`order`) among those of its rank when it is
 * posted. It is *decided* once a record says whose message it got. At any time it waits in one of
 * three places:
 *   - in the queue of a channel, by `order`: its source and tag are known, because it is decided or
 *     because it asked for them;
 *   - in endpoint->wild, by `order`: it is undecided and asked for any source or any tag;
 *   - in channel->unplaced: it is decided, but was posted in an earlier life of its rank, so that
 *     its place in the order is not known.
 * Besides that match_rank.undecided lists all undecided receives of a rank.
 *
 * What makes it hard is that a later receive may complete first:
 *
 *     rank 1:  a = Irecv(any source, tag 7)   b = Irecv(source 0, tag 7)   Wait(b)   Wait(a)
 *
 * When b completes, the first message of the channel from rank 0 may be a's or b's. If a turns out
 * to have come from rank 0, a has the first message and b the second; if a came from rank 2, b has
 * the first. So nothing is taken from a channel as long as an undecided wildcard receive that could
 * match it was posted earlier (match_wild_before): the channel is *blocked*, and goes on when the
 * wildcard is decided or dropped (wake_blocked). To guess by the bytes instead would pair messages
 * of equal bytes wrongly, and would hide the very faults that the oracles look for. */
#include "oracles/matching/match_receive.h"

bool match_is_outside(const struct match *match, int32_t rank)
{
    return rank < 0 || rank >= match->ranks || (match->lives != NULL && match->lives->helper[rank]);
}

void match_advance(struct match *match, struct channel *channel)
{
    channel_advance(match, channel, false);
    match_refresh(match, channel);
}

/* --- wildcards ----------------------------------------------------------------------------- */

bool match_wild_before(const struct channel *channel, uint64_t order)
{
    for (const struct received *wild = channel->endpoint->wild; wild != NULL && wild->order < order;
         wild = wild->next_wild)
        if (match_pattern_takes(wild->want_peer, wild->want_tag, channel->source, channel->tag))
            return true;
    return false;
}

static void add_wild(struct match *match, struct received *received)
{
    struct endpoint *endpoint = match_endpoint(match, received->rank, received->comm);
    struct received **place = &endpoint->wild;
    while (*place != NULL && (*place)->order < received->order)
        place = &(*place)->next_wild;
    received->next_wild = *place;
    *place = received;
}

static void remove_wild(struct match *match, struct received *received)
{
    struct endpoint *endpoint = match_find_endpoint(match, received->rank, received->comm);
    if (endpoint == NULL)
        return;
    struct received **place = &endpoint->wild;
    while (*place != NULL && *place != received)
        place = &(*place)->next_wild;
    if (*place != NULL)
        *place = received->next_wild;
}

/* A wildcard of the rank was decided or dropped: the channels that waited for one go on. A channel
 * for which another wildcard still stands in the way enters the list again, which is why the list
 * is emptied first. */
static void wake_blocked(struct match *match, int rank, uint32_t comm)
{
    struct endpoint *endpoint = match_find_endpoint(match, rank, comm);
    struct channel *blocked = endpoint == NULL ? NULL : endpoint->blocked;
    if (endpoint != NULL)
        endpoint->blocked = NULL;
    while (blocked != NULL) {
        struct channel *channel = blocked;
        blocked = channel->next_blocked;
        channel->blocked = false;
        match_advance(match, channel);
    }
}

/* --- in which place it waits ---------------------------------------------------------------- */

static void add_undecided(struct match *match, struct received *received)
{
    struct match_rank *rank = &match->rank[received->rank];
    received->before = NULL;
    received->after = rank->undecided;
    if (rank->undecided != NULL)
        rank->undecided->before = received;
    rank->undecided = received;
}

static void remove_undecided(struct match *match, struct received *received)
{
    if (received->before == NULL)
        match->rank[received->rank].undecided = received->after;
    else
        received->before->after = received->after;
    if (received->after != NULL)
        received->after->before = received->before;
    received->before = received->after = NULL;
}

/* Takes an undecided one out of wherever it waits. Others may go on then: the caller sees to it. */
static struct channel *withdraw(struct match *match, struct received *received)
{
    struct channel *channel = received->channel;
    remove_undecided(match, received);
    if (channel == NULL)
        remove_wild(match, received);
    else
        channel_take_received(match, channel, received);
    return channel;
}

void receive_drop(struct match *match, struct received *received)
{
    int rank = received->rank;
    uint32_t comm = received->comm;
    struct channel *channel = withdraw(match, received);
    pool_give(&match->received_pool, received);
    if (channel != NULL)
        match_advance(match, channel);
    else
        wake_blocked(match, rank, comm);
}

void receive_drop_dormant(struct match *match, struct match_rank *rank)
{
    struct received *next;
    for (struct received *at = rank->undecided; at != NULL; at = next) {
        next = at->after;
        if (at->dormant)
            receive_drop(match, at);
    }
}

/* --- from its posting to its message --------------------------------------------------------- */

struct received *receive_post(struct match *match, const struct stream_event *event, int want_peer,
                              int want_tag)
{
    const struct record *record = event->record;
    struct match_rank *rank = &match->rank[event->rank];
    if (rank->dormant_until > 0 && rank->received > rank->dormant_until) {
        receive_drop_dormant(match, rank);
        rank->dormant_until = 0;
    }
    struct received *received = pool_take(&match->received_pool);
    received->posted = event_of(event->trace, event->index);
    received->enter = record->enter;
    received->posted_leave = event->in_progress ? 0 : atomic_load(&record->leave);
    received->order = ++match->rank[event->rank].received;
    received->comm = record->comm;
    received->want_peer = want_peer;
    received->want_tag = want_tag;
    received->rank = event->rank;
    received->thread = record->thread;
    match_note_thread(rank, record->thread);
    return received;
}

/* Nothing is known yet of what it gets: it waits in its channel, or among the wildcards. */
void receive_wait(struct match *match, struct received *received)
{
    add_undecided(match, received);
    if (received->want_peer == PEER_ANY || received->want_tag == TAG_ANY) {
        add_wild(match, received);
        return;
    }
    struct channel *channel = match_channel(match, received->comm, received->want_peer,
                                            received->rank, received->want_tag);
    channel_add_received(match, channel, received);
    match_refresh(match, channel);
}

/* `record` says what arrived. The receive waits nowhere now. */
void receive_deliver(struct match *match, struct received *received,
                     const struct stream_event *event)
{
    const struct record *record = event->record;
    struct endpoint *endpoint = match_endpoint(match, received->rank, received->comm);
    struct channel *channel = NULL;
    if (!endpoint->lost_sight && !match_is_outside(match, record->peer))
        channel = match_channel(match, received->comm, record->peer, received->rank, record->tag);
    if (channel == NULL) {
        pool_give(&match->received_pool, received);
        return;
    }
    received->decided = true;
    received->delivered = event_of(event->trace, event->index);
    received->leave = atomic_load(&record->leave);
    received->hash = record->hash;
    received->bytes = record->bytes;
    received->no_hash = (record->flags & FLAG_NO_HASH) != 0;
    /* Cut short, the message is gone all the same; and some statuses do not tell its size. */
    received->blind = record->error != 0 || (received->no_hash && record->bytes == UINT64_MAX);
    if (received->unplaced)
        channel_add_unplaced(match, channel, received);
    else
        channel_add_received(match, channel, received);
    match_advance(match, channel);
}

void receive_decide(struct match *match, struct received *received,
                    const struct stream_event *event)
{
    int rank = received->rank;
    uint32_t comm = received->comm;
    struct channel *waited = withdraw(match, received);
    receive_deliver(match, received, event);
    if (waited == NULL)
        wake_blocked(match, rank, comm);
    else
        match_advance(match, waited);
}

static int wildcards(const struct received *received)
{
    return (received->want_peer == PEER_ANY) + (received->want_tag == TAG_ANY);
}

/* A dormant receive that could have taken what arrived, or NULL. Of several, the one with the
 * fewest wildcards: the others can take more, and are left for messages that only they can take. */
struct received *receive_find_dormant(const struct match *match, int rank,
                                      const struct record *record)
{
    struct received *best = NULL;
    if (match->rank[rank].dormant_until == 0)
        return NULL;
    for (struct received *at = match->rank[rank].undecided; at != NULL; at = at->after)
        if (at->dormant && at->comm == record->comm &&
            match_pattern_takes(at->want_peer, at->want_tag, record->peer, record->tag) &&
            (best == NULL || wildcards(at) < wildcards(best)))
            best = at;
    return best;
}

/* --- requests that are freed ------------------------------------------------------------------ */

/* A wildcard receive is freed: it takes some message that nobody sees. */
static void lose_sight(struct match *match, struct received *received)
{
    struct endpoint *endpoint = match_find_endpoint(match, received->rank, received->comm);
    if (endpoint == NULL || endpoint->lost_sight)
        return;
    endpoint->lost_sight = true;
    if (match->listener.anomaly != NULL)
        match->listener.anomaly(match->listener.context, ANOMALY_LOST_SIGHT, NULL, NULL, received,
                                NULL);
}

/* The program frees the request of a receive: the receive still takes a message, but no record will
 * ever say which. If its channel is known, the receive is decided on the spot and stays in its
 * place as a `blind` one, which goes with any send: the count of messages stays right. `leave` is
 * the greatest value to which the slack can be added, so that every send is early enough for it;
 * links.c and causal.c know such a delivery by that value. If it asked for any source or tag,
 * nothing more can be said about any channel of the endpoint. */
void receive_free(struct match *match, struct received *received)
{
    if (received->channel == NULL) {
        lose_sight(match, received);
        return;
    }
    struct channel *channel = received->channel;
    remove_undecided(match, received);
    received->decided = received->blind = true;
    received->delivered = received->posted;
    received->leave = UINT64_MAX - match->slack;
    match_advance(match, channel);
}

/* A receive is cancelled and then freed, and no record says whether a message came before the
 * cancellation. If no message waited that it could have taken, it took none and is dropped. If one
 * did, the order of its endpoint is lost. */
void receive_free_cancelled(struct match *match, struct received *received)
{
    if (match_has_message(match, received->rank, received->comm, received->want_peer,
                          received->want_tag, received->posted))
        lose_sight(match, received);
    receive_drop(match, received);
}
