/* The tables of the matching engine, and what could still be matched from what they hold: see
 * match_tables.h. */
#include "oracles/matching/match_tables.h"

/* --- keys ---------------------------------------------------------------------------------- */

static uint64_t match_key(uint32_t high, uint32_t low)
{
    return (uint64_t)high << 32 | low;
}

uint64_t match_request_key(int rank, int incarnation)
{
    return match_key((uint32_t)incarnation, (uint32_t)rank);
}

/* By which the endpoints of a communicator and of those that it goes on for are found. */
static uint32_t endpoint_comm(const struct match *match, uint32_t comm)
{
    return match->lives == NULL ? comm : succession_first(&match->lives->succession, comm);
}

static uint32_t channel_comm(const struct match *match, uint32_t comm, int source, int destination)
{
    return match->lives == NULL
               ? comm
               : succession_between(&match->lives->succession, comm, source, destination);
}

struct endpoint *match_find_endpoint(const struct match *match, int rank, uint32_t comm)
{
    return table_get(&match->endpoints, (uint32_t)rank, endpoint_comm(match, comm));
}

static struct channel *find_channel(const struct match *match, uint32_t comm, int source,
                                    int destination, int tag)
{
    return table_get(&match->channels, match_key(comm, (uint32_t)tag),
                     match_key((uint32_t)source, (uint32_t)destination));
}

static struct channel *match_find_channel(const struct match *match, uint32_t comm, int source,
                                          int destination, int tag)
{
    return find_channel(match, channel_comm(match, comm, source, destination), source, destination,
                        tag);
}

/* Made when first asked for. */
void *match_get_or_make(struct table *table, struct pool *pool, uint64_t first, uint64_t second)
{
    void *thing = table_get(table, first, second);
    if (thing != NULL)
        return thing;
    thing = pool_take(pool);
    table_put(table, first, second, thing);
    return thing;
}

struct endpoint *match_endpoint(struct match *match, int rank, uint32_t comm)
{
    return match_get_or_make(&match->endpoints, &match->endpoint_pool, (uint32_t)rank,
                             endpoint_comm(match, comm));
}

/* --- channels, idle and busy --------------------------------------------------------------- */

static void leave_idle(struct match *match, struct channel *channel)
{
    if (channel->idle_before == NULL)
        match->first_idle = channel->idle_after;
    else
        channel->idle_before->idle_after = channel->idle_after;
    if (channel->idle_after == NULL)
        match->last_idle = channel->idle_before;
    else
        channel->idle_after->idle_before = channel->idle_before;
    channel->idle_before = channel->idle_after = NULL;
    channel->idle = false;
    match->idle_count--;
}

static void enter_idle(struct match *match, struct channel *channel)
{
    channel->idle_before = match->last_idle;
    if (match->last_idle == NULL)
        match->first_idle = channel;
    else
        match->last_idle->idle_after = channel;
    match->last_idle = channel;
    channel->idle = true;
    match->idle_count++;
}

static void forget_longest_idle(struct match *match)
{
    struct channel *channel = match->first_idle;
    leave_idle(match, channel);
    table_remove(&match->channels, match_key(channel->comm, (uint32_t)channel->tag),
                 match_key((uint32_t)channel->source, (uint32_t)channel->destination));
    pool_give(&match->channel_pool, channel);
}

static void set_busy(struct channel *channel, bool busy)
{
    struct lane *lane = channel->lane;
    channel->busy = busy;
    if (busy) {
        channel->busy_before = NULL;
        channel->busy_after = lane->busy;
        if (lane->busy != NULL)
            lane->busy->busy_before = channel;
        lane->busy = channel;
        return;
    }
    if (channel->busy_before == NULL)
        lane->busy = channel->busy_after;
    else
        channel->busy_before->busy_after = channel->busy_after;
    if (channel->busy_after != NULL)
        channel->busy_after->busy_before = channel->busy_before;
}

/* After anything was done to a channel. It may be gone afterwards. */
void match_refresh(struct match *match, struct channel *channel)
{
    bool busy = channel->first_sent != NULL;
    bool idle = !busy && channel->first_received == NULL && channel->passed_over == NULL &&
                channel->unplaced == NULL && !channel->blocked;
    if (busy != channel->busy)
        set_busy(channel, busy);
    if (idle && !channel->idle)
        enter_idle(match, channel);
    else if (!idle && channel->idle)
        leave_idle(match, channel);
    if (match->idle_count > MATCH_IDLE_CHANNELS)
        forget_longest_idle(match);
}

static struct channel *make_channel(struct match *match, uint32_t comm, int source, int destination,
                                    int tag)
{
    struct lane *lane = match_get_or_make(&match->lanes, &match->lane_pool, comm,
                                          match_key((uint32_t)source, (uint32_t)destination));
    struct endpoint *endpoint = match_endpoint(match, destination, comm);
    struct channel *channel = pool_take(&match->channel_pool);
    table_put(&match->channels, match_key(comm, (uint32_t)tag),
              match_key((uint32_t)source, (uint32_t)destination), channel);
    channel->comm = comm;
    channel->source = source;
    channel->destination = destination;
    channel->tag = tag;
    channel->lane = lane;
    channel->endpoint = endpoint;
    return channel;
}

struct channel *match_channel(struct match *match, uint32_t comm, int source, int destination,
                              int tag)
{
    comm = channel_comm(match, comm, source, destination);
    struct channel *channel = find_channel(match, comm, source, destination, tag);
    return channel != NULL ? channel : make_channel(match, comm, source, destination, tag);
}

bool match_pattern_takes(int want_peer, int want_tag, int source, int tag)
{
    return (want_peer == PEER_ANY || want_peer == source) &&
           (want_tag == TAG_ANY || want_tag == tag);
}

bool match_is_open(const struct match *match, const struct channel *channel)
{
    return channel->maybe_taken || match_wild_before(channel, UINT64_MAX) ||
           (match->cut_off && match->rank[channel->destination].dormant_until > 0);
}

bool match_may_be_gone(const struct match *match, const struct channel *channel)
{
    return match->lives != NULL &&
           (lives_left_undone(match->lives, channel->destination, channel->comm) ||
            lives_left(match->lives, channel->source, channel->comm));
}

bool match_is_to_come(const struct match *match, const struct channel *channel,
                      const struct received *received)
{
    uint64_t born = match->rank[channel->source].born;
    return match->cut_off && born > received->leave && channel->newest_leave <= born &&
           (channel->last_sent == NULL || channel->last_sent->enter < born ||
            match_is_open(match, channel));
}

/* --- what could still be matched ----------------------------------------------------------- */

/* Sends on `channel` that no undecided receive posted before `before` would take. */
static bool has_spare_send(const struct channel *channel, struct event_ref before)
{
    size_t sends = 0, takers = 0;
    for (const struct sent *at = channel->first_sent; at != NULL; at = at->next)
        sends++;
    for (const struct received *at = channel->first_received; at != NULL; at = at->next)
        takers += at->posted.index < before.index && !at->cancelled;
    return sends > takers;
}

bool match_has_message(const struct match *match, int rank, uint32_t comm, int want_peer,
                       int want_tag, struct event_ref before)
{
    for (size_t i = 0; i < match->channels.capacity; i++) {
        const struct channel *channel = match->channels.slot[i].value;
        if (channel != NULL && channel->destination == rank && channel->comm == comm &&
            match_pattern_takes(want_peer, want_tag, channel->source, channel->tag) &&
            has_spare_send(channel, before))
            return true;
    }
    return false;
}

/* Receives of the rank, posted before number `order`, that may have taken a message of the channel
 * or take it yet. */
static size_t count_takers(const struct match *match, const struct channel *channel, uint64_t order)
{
    size_t takers = 0;
    for (const struct received *at = match->rank[channel->destination].undecided; at != NULL;
         at = at->after)
        takers += (at->order < order || at->dormant || at->cancelled) && at->order != order &&
                  endpoint_comm(match, at->comm) == endpoint_comm(match, channel->comm) &&
                  match_pattern_takes(at->want_peer, at->want_tag, channel->source, channel->tag);
    for (const struct received *at = channel->first_received; at != NULL; at = at->next)
        takers +=
            at->decided; /* it has one, and waits to be paired until earlier ones are decided */
    return takers;
}

/* The first that none of them can have taken; NULL: none, or one before it may never have gone. */
static const struct sent *first_spare(const struct channel *channel, size_t takers)
{
    const struct sent *at = channel->first_sent;
    for (; at != NULL && takers > 0 && !at->optional && !at->cancelled; takers--)
        at = at->next;
    return at != NULL && !at->optional && !at->cancelled ? at : NULL;
}

const struct sent *match_owed(const struct match *match, int rank, uint32_t comm, int want_peer,
                              int want_tag, uint64_t order, const struct channel **channel)
{
    const struct endpoint *endpoint = match_find_endpoint(match, rank, comm);
    for (size_t i = 0; i < match->channels.capacity && endpoint != NULL && !endpoint->lost_sight;
         i++) {
        const struct channel *at = match->channels.slot[i].value;
        if (at == NULL || at->first_sent == NULL || at->destination != rank ||
            at->endpoint != endpoint ||
            !match_pattern_takes(want_peer, want_tag, at->source, at->tag) || at->maybe_taken ||
            at->passed_over != NULL || at->unplaced != NULL || match_may_be_gone(match, at))
            continue;
        const struct sent *sent = first_spare(at, count_takers(match, at, order));
        if (sent == NULL)
            continue;
        *channel = at;
        return sent;
    }
    return NULL;
}

bool match_has_receive(const struct match *match, struct event_ref sent, uint32_t comm,
                       int destination, int tag)
{
    const struct channel *channel = match_find_channel(match, comm, sent.rank, destination, tag);
    if (channel == NULL || channel->endpoint->lost_sight || match_wild_before(channel, UINT64_MAX))
        return true;
    const struct received *received = channel->first_received;
    for (const struct sent *at = channel->first_sent; at != NULL; at = at->next) {
        if (at->event.index == sent.index)
            return received != NULL;
        if (received != NULL)
            received = received->next;
    }
    return true;
}
