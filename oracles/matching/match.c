/* See match.h. From records alone it is found out which send each delivery belongs to. A record
 * says "rank 1 received 8 bytes from rank 0 with tag 7"; it does not say which send they came from.
 * MPI's non-overtaking rule does: on one channel (communicator, source, destination, tag) the
 * messages go, in the order in which they were sent, to the receives that match them, in the order
 * in which those were posted. channel.c pairs the two queues of a channel. This file reads records:
 * sends and completions, and what becomes of all of them when a rank is restarted.
 * match_receive.c keeps the receives until they have got their messages.
 *
 * Hard cases: a checkpoint inside a send (match_cut.c), receives that a protocol completes after a
 * restart (match_restart, complete_unposted), requests that are freed or cancelled
 * (receive_free, receive_free_cancelled).
 *
 * Cost: a constant number of steps for a record, as long as few wildcards of a rank and few
 * messages of a channel wait; both lists are searched from the front. */
#include "oracles/matching/match_receive.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

/* --- requests ------------------------------------------------------------------------------ */

static struct request *find_request(const struct match *match, int rank, int incarnation,
                                    uint32_t number)
{
    return table_get(&match->requests, match_request_key(rank, incarnation), number);
}

const struct request *match_request(const struct match *match, int rank, int incarnation,
                                    uint32_t request)
{
    return find_request(match, rank, incarnation, request);
}

static void add_request(struct match *match, const struct stream_event *event,
                        const struct request *request)
{
    struct request *made = match_get_or_make(
        &match->requests, &match->request_pool,
        match_request_key(event->trace->rank, event->trace->incarnation), event->record->request);
    *made = *request;
}

static void end_request(struct match *match, const struct stream_event *event)
{
    uint64_t key = match_request_key(event->trace->rank, event->trace->incarnation);
    struct request *request = table_get(&match->requests, key, event->record->request);
    table_remove(&match->requests, key, event->record->request);
    pool_give(&match->request_pool, request);
}

void match_free_sent(struct match *match, struct sent *sent)
{
    if (sent->request != 0) {
        struct request *request =
            find_request(match, sent->event.rank, sent->event.incarnation, sent->request);
        if (request != NULL && request->sent == sent)
            request->sent = NULL;
    }
    pool_give(&match->sent_pool, sent);
}

/* --- sends --------------------------------------------------------------------------------- */

static bool is_sendrecv(unsigned call)
{
    enum call_role role = call_role(call);
    return role == ROLE_SENDRECV || role == ROLE_SENDRECV_REPLACE || role == ROLE_ISENDRECV ||
           role == ROLE_ISENDRECV_REPLACE;
}

void match_note_thread(struct match_rank *rank, uint16_t thread)
{
    rank->several_threads |= rank->is_at_work && rank->thread != thread;
    rank->is_at_work = true;
    rank->thread = thread;
}

static void record_send(struct match *match, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (match_is_outside(match, record->peer))
        return;
    struct channel *channel =
        match_channel(match, record->comm, event->rank, record->peer, record->tag);
    struct sent *sent = pool_take(&match->sent_pool);
    uint64_t enter = record->enter;
    if (channel->endpoint->lost_sight || match_sent_before(match, event, channel, &enter)) {
        pool_give(&match->sent_pool, sent);
        return;
    }
    sent->event = event_of(event->trace, event->index);
    sent->hash = record->hash;
    sent->bytes = record->bytes;
    sent->enter = event->replica ? 0 : enter;
    sent->leave = event->in_progress ? 0 : atomic_load(&record->leave);
    sent->blocking = record->request == 0;
    sent->returned = sent->blocking ? sent->leave : 0;
    sent->born = event->born;
    sent->takes_over = event->takes_over;
    sent->order = ++match->rank[event->rank].sent;
    sent->thread = record->thread;
    sent->optional = event->in_progress || record->error != 0;
    sent->no_hash = (record->flags & FLAG_NO_HASH) != 0;
    sent->synchronous = call_is_synchronous(record->call);
    channel->may_lack |= sent->optional;
    match_note_thread(&match->rank[event->rank], record->thread);
    /* The one request of a non-blocking sendrecv is kept for its receive. */
    if (record->request != 0 && !is_sendrecv(record->call)) {
        sent->request = record->request;
        add_request(match, event,
                    &(struct request){.kind = REQUEST_SEND, .sent = sent, .channel = channel});
    }
    channel_add_sent(match, channel, sent);
    if (event->at_cut)
        match_remember_cut(match, event);
    match_refresh(match, channel);
}

/* --- receives ------------------------------------------------------------------------------ */

/* A completion of a request that nobody posted in this incarnation. The receive was posted before
 * the checkpoint, and the protocol made the request again:
 *
 *     incarnation 0:  r = Irecv(source 0)   checkpoint   killed
 *     incarnation 1:  restored   Wait(r): 8 bytes from rank 0
 *
 * Which dormant receive this is cannot be told: the request numbers of two incarnations have
 * nothing to do with each other. The delivery therefore gets no place in the order (`unplaced`),
 * and one dormant receive that could have taken the message is dropped for it, so that what was
 * posted after that one need not wait any longer. */
static void complete_unposted(struct match *match, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (record->comm == 0 || match_is_outside(match, record->peer) ||
        (record->flags & (FLAG_CANCELLED | FLAG_FREED)) || record->error != 0)
        return;
    struct received *received = receive_post(match, event, record->peer, record->tag);
    struct received *dormant = receive_find_dormant(match, event->rank, record);
    if (received == NULL)
        return;
    received->unplaced = true;
    receive_deliver(match, received, event);
    if (dormant != NULL)
        receive_drop(match, dormant);
}

static void end_message(struct match *match, const struct stream_event *event)
{
    struct request *request =
        find_request(match, event->trace->rank, event->trace->incarnation, event->record->request);
    if (call_role(event->record->call) == ROLE_IMRECV || event->in_progress)
        return;
    /* Found by a probe before the restart. */
    if (request == NULL && match->rank[event->rank].dormant_until > 0)
        complete_unposted(match, event);
    if (request == NULL || request->kind != REQUEST_RECEIVE)
        return;
    struct received *received = request->received;
    end_request(match, event);
    receive_decide(match, received, event);
}

static void record_receive(struct match *match, const struct stream_event *event)
{
    const struct record *record = event->record;
    if (record->flags & FLAG_MATCHED) {
        end_message(match, event);
        return;
    }
    if (record->want_peer != PEER_ANY && match_is_outside(match, record->want_peer)) {
        if (record->request != 0)
            add_request(match, event, &(struct request){.kind = REQUEST_NOTHING});
        return;
    }
    bool decided = record->request == 0 && !event->in_progress;
    if (decided && record->error != 0 && record->peer < 0)
        return;
    struct received *received = receive_post(match, event, record->want_peer, record->want_tag);
    if (decided) {
        receive_deliver(match, received, event);
        return;
    }
    if (record->request != 0)
        add_request(match, event, &(struct request){.kind = REQUEST_RECEIVE, .received = received});
    receive_wait(match, received);
}

/* A matched probe takes its message; the bytes are known when it is received. */
static void record_probe(struct match *match, const struct stream_event *event)
{
    const struct record *record = event->record;
    enum call_role role = call_role(record->call);
    if ((role != ROLE_MPROBE && role != ROLE_IMPROBE) || (record->flags & FLAG_NEGATIVE) ||
        record->want_peer == PEER_NULL)
        return;
    bool found =
        !event->in_progress && record->request != 0 && !match_is_outside(match, record->peer);
    if (!found && !event->in_progress)
        return;
    struct received *received =
        found ? receive_post(match, event, record->peer, record->tag)
              : receive_post(match, event, record->want_peer, record->want_tag);
    if (found)
        add_request(match, event, &(struct request){.kind = REQUEST_RECEIVE, .received = received});
    receive_wait(match, received);
}

/* --- completion ---------------------------------------------------------------------------- */

static void record_cancel(struct match *match, const struct stream_event *event)
{
    struct request *request =
        find_request(match, event->trace->rank, event->trace->incarnation, event->record->request);
    if (request == NULL || call_role(event->record->call) != ROLE_CANCEL)
        return;
    request->cancelled = true;
    if (request->kind == REQUEST_RECEIVE)
        request->received->cancelled = true;
    else if (request->sent != NULL)
        request->sent->cancelled = true;
}

static void complete_send(struct match *match, const struct request *request,
                          const struct record *record)
{
    struct sent *sent = request->sent;
    struct channel *channel = request->channel;
    if (sent == NULL)
        return;
    sent->request = 0;
    sent->cancelled = false;
    if (!(record->flags & FLAG_CANCELLED)) {
        if (!(record->flags & FLAG_FREED) && record->error == 0)
            sent->returned = atomic_load(&record->leave);
        sent->optional |= request->cancelled && (record->flags & FLAG_FREED);
        channel->may_lack |= sent->optional;
        return;
    }
    if (!channel_take_sent(match, channel, sent))
        return;
    match_free_sent(match, sent);
    match_advance(match, channel);
}

static void record_complete(struct match *match, const struct stream_event *event)
{
    const struct record *record = event->record;
    if ((record->flags & FLAG_NEGATIVE) || event->in_progress || record->request == 0 ||
        record->error == RAISED_PROC_FAILED_PENDING) /* it stays posted */
        return;
    struct request *found =
        find_request(match, event->trace->rank, event->trace->incarnation, record->request);
    if (found == NULL) {
        complete_unposted(match, event);
        return;
    }
    struct request request = *found;
    end_request(match, event);
    if (request.kind == REQUEST_NOTHING)
        return;
    if (request.kind == REQUEST_SEND)
        complete_send(match, &request, record);
    else if ((record->flags & FLAG_FREED) && request.cancelled)
        receive_free_cancelled(match, request.received);
    else if (record->flags & FLAG_FREED)
        receive_free(match, request.received);
    else if ((record->flags & FLAG_CANCELLED) || (record->error != 0 && record->peer < 0))
        receive_drop(match, request.received);
    else
        receive_decide(match, request.received, event);
}

/* --- the whole ----------------------------------------------------------------------------- */

/* The send names this process, and not the one before it that was the rank. */
static bool is_for(const struct match *match, const struct sent *sent, int process)
{
    const struct trace *trace =
        trace_set_find(match->lives->traces, sent->event.rank, sent->event.incarnation);
    return process >= match->lives->traces->world &&
           trace->record[sent->event.index].peer == process;
}

/* What was on its way to the rank when it died is gone; what was on its way from it may be. What
 * is for `process`, which takes its place, has its time yet. What the rank received until then is
 * explained first: nothing more is known of it, and these sends are what explains it. */
static void forget_sends(struct match *match, struct channel *channel, int rank, int process)
{
    struct sent *next;
    if (channel->destination == rank)
        channel_advance(match, channel, true);
    for (struct sent *at = channel->first_sent; at != NULL; at = next) {
        next = at->next;
        if (channel->destination == rank && is_for(match, at, process))
            continue;
        at->optional = true;
        if (channel->destination != rank)
            continue;
        channel_take_sent(match, channel, at);
        match_free_sent(match, at);
    }
    for (struct passed_over *at = channel->passed_over; at != NULL; at = at->next)
        at->sent->reported = true;
    match_refresh(match, channel);
}

static void begin_anew(struct match *match, int rank, int process)
{
    struct received *next;
    for (struct received *at = match->rank[rank].undecided; at != NULL; at = next) {
        next = at->after;
        receive_drop(match, at);
    }
    /* None of these is idle, so that none is given back before its turn. */
    size_t count = 0;
    struct channel **waiting = memory_new(match->channels.used, sizeof *waiting);
    for (size_t i = 0; i < match->channels.capacity; i++) {
        struct channel *channel = match->channels.slot[i].value;
        if (channel != NULL && (channel->source == rank || channel->destination == rank) &&
            (channel->first_sent != NULL || channel->passed_over != NULL))
            waiting[count++] = channel;
    }
    for (size_t i = 0; i < count; i++)
        forget_sends(match, waiting[i], rank, process);
    free(waiting);
}

/* The undecided receives of the life that is over: one whose call had not returned is dropped (the
 * call is done again, if the checkpoint lies inside it); the others become dormant. A dormant one
 * keeps the channels that it could match waiting, as any undecided one does. That must not last for
 * ever where the protocol completes none of them: dormant_until is the number of receives after
 * which all of them are dropped (see post). */
void match_restart(struct match *match, const struct stream_event *event)
{
    int rank = event->rank;
    struct received *next;
    match->rank[rank].born = event->born;
    if (event->anew) {
        begin_anew(match, rank, event->trace->rank);
        return;
    }
    for (struct received *at = match->rank[rank].undecided; at != NULL; at = next) {
        next = at->after;
        if (!at->dormant && at->posted_leave == 0) {
            receive_drop(match, at);
            continue;
        }
        at->dormant = true;
        match->rank[rank].dormant_until = match->rank[rank].received + MATCH_DORMANT_RECEIVES;
    }
}

void match_record(struct match *match, const struct stream_event *event)
{
    unsigned cut = match->rank[event->rank].cut_count;
    match->rank[event->rank].born = event->born;
    if (event->record->enter > match->now)
        match->now = event->record->enter;
    switch ((unsigned)event->record->kind) {
    case RECORD_SEND:
        record_send(match, event);
        break;
    case RECORD_RECV:
        record_receive(match, event);
        break;
    case RECORD_COMPLETE:
        record_complete(match, event);
        break;
    case RECORD_PROBE:
        record_probe(match, event);
        break;
    case RECORD_CALL:
        record_cancel(match, event);
        return;
    default:
        return;
    }
    /* A call that was under way at the checkpoint comes first in the new life and is done again
     * (the stream marks it so). With the first call that is not, remembering it has no more use. */
    if (cut > 0 && !event->at_cut && !event->again)
        match->rank[event->rank].cut_count = 0;
}

static int by_place(const void *left, const void *right)
{
    const struct channel *a = *(struct channel *const *)left;
    const struct channel *b = *(struct channel *const *)right;
    const int64_t keys[][2] = {{a->source, b->source},
                               {a->destination, b->destination},
                               {a->comm, b->comm},
                               {a->tag, b->tag}};
    for (size_t i = 0; i < sizeof keys / sizeof keys[0]; i++)
        if (keys[i][0] != keys[i][1])
            return keys[i][0] < keys[i][1] ? -1 : 1;
    return 0;
}

/* All channels are matched to the end before any of them reports what is left over: matching one
 * may still show that a send of another was overtaken, and that send is then not reported once more
 * as undelivered. Sorted, so that the order of reports does not depend on the hash table. */
void match_finish(struct match *match)
{
    size_t count = 0;
    for (int rank = 0; rank < match->ranks; rank++)
        receive_drop_dormant(match, &match->rank[rank]);
    struct channel **channels = memory_new(match->channels.used, sizeof *channels);
    for (size_t i = 0; i < match->channels.capacity; i++) {
        struct channel *channel = match->channels.slot[i].value;
        if (channel != NULL && !channel->idle)
            channels[count++] = channel;
    }
    qsort(channels, count, sizeof(struct channel *), by_place);
    for (size_t i = 0; i < count; i++)
        channel_advance(match, channels[i], true);
    for (size_t i = 0; i < count; i++)
        channel_finish(match, channels[i]);
    free(channels);
}

void match_init(struct match *match, const struct trace_set *traces, bool cut_off,
                const struct lives *lives, const struct match_listener *listener)
{
    double ticks_per_second = traces->trace[0].header->ticks_per_second;
    memset(match, 0, sizeof *match);
    match->ranks = traces->ranks;
    match->cut_off = cut_off;
    match->lives = lives;
    match->slack = (uint64_t)(ticks_per_second * MATCH_CLOCK_SLACK_S);
    match->clocks_apart = traces->trace[0].header->one_clock ? 0 : match->slack;
    match->listener = *listener;
    match->sent_pool.bytes = sizeof(struct sent);
    match->received_pool.bytes = sizeof(struct received);
    match->channel_pool.bytes = sizeof(struct channel);
    match->lane_pool.bytes = sizeof(struct lane);
    match->endpoint_pool.bytes = sizeof(struct endpoint);
    match->request_pool.bytes = sizeof(struct request);
    match->passed_over_pool.bytes = sizeof(struct passed_over);
    match->rank = memory_new((size_t)traces->ranks, sizeof *match->rank);
}

void match_release(struct match *match)
{
    struct table *tables[] = {&match->channels, &match->lanes, &match->endpoints, &match->requests};
    struct pool *pools[] = {&match->sent_pool,       &match->received_pool, &match->channel_pool,
                            &match->lane_pool,       &match->endpoint_pool, &match->request_pool,
                            &match->passed_over_pool};
    for (size_t i = 0; i < sizeof tables / sizeof tables[0]; i++)
        table_release(tables[i]);
    for (size_t i = 0; i < sizeof pools / sizeof pools[0]; i++)
        pool_release(pools[i]);
    free(match->rank);
    memset(match, 0, sizeof *match);
}
