/* hang_analyse: which ranks can never go on, and who waits for whom. Reads the wire level of the
 * newest incarnation, which may still be running; a record that is only half written means that its
 * rank is moving.
 *
 * First the records are passed over once: messages are matched, collectives numbered, and the last
 * call of each thread is kept (struct inside). Then each live rank is looked at. It is *stuck* if
 * each of its threads is inside a blocking call that nothing under way can end: a receive for which
 * no message waits, a long or synchronous send for which no receive is posted, a collective to
 * which a member has not come on which this one depends. The job is deadlocked if every live rank
 * is stuck.
 *
 *     rank 0:  in Recv from 1      rank 1:  in Recv from 0      rank 2:  in Barrier
 *
 * is a deadlock, with the cycle 0, 1 (hang_cycle.c). If rank 2 were computing instead it would not
 * be stuck: it may send to rank 0 yet. A cycle alone would not do as a condition: a receive from
 * any source waits for all others, and one of them is enough.
 *
 * A rank that is dead waits for nobody, and nobody will hear from it: who waits for it is stuck. It
 * is said that it is dead. MPIX_Comm_agree and MPIX_Comm_shrink go on without the dead, and wait
 * for the members that live.
 *
 * Every doubt counts as "can go on": a deadlock that is missed ends at the time limit, one that is
 * reported where there is none would be a false alarm. The one thing the traces cannot show is
 * whether a call that could return is just about to, so the caller looks more than once.
 *
 * Cost: one pass over the records; then, for each rank, its pending requests times the channels. */
#include "oracles/history_claims/hang_collective.h"
#include "oracles/history_claims/hang_cycle.h"
#include "oracles/history_claims/held.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_alive(const struct analysis *analysis, int rank)
{
    return rank < analysis->alive_count && analysis->alive[rank];
}

/* --- what each rank is inside of ----------------------------------------------------------- */

static bool may_block(const struct record *record)
{
    switch (call_role(record->call)) {
    case ROLE_SEND:
        return record->call != CALL_MPI_Bsend && record->call != CALL_MPI_Bsend_c;
    case ROLE_RECV:
    case ROLE_SENDRECV:
    case ROLE_SENDRECV_REPLACE:
    case ROLE_PROBE:
    case ROLE_MPROBE:
    case ROLE_WAIT:
    case ROLE_WAITALL:
    case ROLE_WAITANY:
    case ROLE_WAITSOME:
    case ROLE_COLLECTIVE:
    case ROLE_FINALIZE:
        return true;
    default:
        return hang_is_meeting(record) || (collective_comm(record) != 0 && record->request == 0);
    }
}

static void note_call(struct analysis *analysis, const struct stream_event *event)
{
    struct rank_threads *threads = &analysis->threads[event->rank];
    const struct record *record = event->record;
    if (record->thread >= HANG_THREADS) {
        threads->too_many = true;
        return;
    }
    struct inside *inside = &threads->inside[record->thread];
    threads->used[record->thread] = true;
    struct event_ref own = event_of(event->trace, event->index);
    bool second_half = inside->blocking && event->in_progress && record->kind == RECORD_RECV &&
                       inside->record.kind == RECORD_SEND && inside->record.call == record->call;
    if (second_half) {
        inside->sends = true;
        inside->send = inside->record;
        inside->send_event = inside->event;
    } else {
        inside->sends = false;
    }
    inside->blocking = event->in_progress && may_block(record);
    if (hang_is_meeting(record))
        inside->number = hang_come_to_meeting(analysis, event->rank, record);
    inside->event = own;
    inside->record = *record;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct analysis *analysis = context;
    if (event->record->level == LEVEL_WIRE)
        note_call(analysis, event);
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    struct analysis *analysis = context;
    (void)gathering;
    if (event->record->thread < HANG_THREADS)
        analysis->threads[event->rank].inside[event->record->thread].number = number;
}

static bool is_held(void *context, const struct stream_event *event)
{
    const struct analysis *analysis = context;
    return held_keeps(&analysis->held, event->rank, event->index, event->record);
}

/* --- what a call waits for ----------------------------------------------------------------- */

static void add_all_others(const struct analysis *analysis, struct wait_for *wait)
{
    for (int rank = 0; rank < analysis->ranks; rank++)
        if (is_alive(analysis, rank))
            hang_add_target(wait, rank);
}

static const char *tag_text(int tag, char buffer[32])
{
    if (tag == TAG_ANY)
        snprintf(buffer, 32, "any tag");
    else
        snprintf(buffer, 32, "tag %d", tag);
    return buffer;
}

/* A receive or probe, posted as `posted`, that nothing under way can satisfy. */
static bool receive_is_stuck(const struct analysis *analysis, int rank, uint32_t comm, int peer,
                             int tag, struct event_ref posted, const char *call,
                             struct wait_for *wait)
{
    char tag_buffer[32], from[32] = "any rank";
    if ((peer < 0 && peer != PEER_ANY) || peer >= analysis->ranks ||
        match_has_message(&analysis->pass.match, rank, comm, peer, tag, posted))
        return false;
    if (peer >= 0) {
        snprintf(from, sizeof from, "rank %d", peer);
        hang_add_target(wait, peer);
    } else {
        wait->any = true;
        add_all_others(analysis, wait);
    }
    snprintf(wait->text, sizeof wait->text, "rank %d waits in %s for a message from %s, %s", rank,
             call, from, tag_text(tag, tag_buffer));
    return true;
}

static bool needs_receive(bool synchronous, uint64_t bytes)
{
    return synchronous || bytes > EAGER_BYTES;
}

static bool send_is_stuck(const struct analysis *analysis, struct event_ref sent, uint32_t comm,
                          int peer, int tag, const char *call, struct wait_for *wait)
{
    if (peer < 0 || peer >= analysis->ranks ||
        match_has_receive(&analysis->pass.match, sent, comm, peer, tag))
        return false;
    hang_add_target(wait, peer);
    snprintf(wait->text, sizeof wait->text,
             "rank %d waits in %s for rank %d to receive its message, tag %d", sent.rank, call,
             peer, tag);
    return true;
}

/* --- requests ------------------------------------------------------------------------------ */

static bool request_is_stuck(const struct analysis *analysis, int rank, uint32_t number,
                             const char *call, struct wait_for *wait)
{
    const struct request *request =
        match_request(&analysis->pass.match, rank, analysis->incarnation, number);
    if (request != NULL && request->kind == REQUEST_RECEIVE) {
        const struct received *received = request->received;
        return receive_is_stuck(analysis, rank, received->comm, received->want_peer,
                                received->want_tag, received->posted, call, wait);
    }
    if (request != NULL && request->kind == REQUEST_NOTHING)
        return false;
    if (request != NULL) {
        const struct sent *sent = request->sent;
        const struct channel *channel = request->channel;
        return sent != NULL && needs_receive(sent->synchronous, sent->bytes) &&
               send_is_stuck(analysis, sent->event, channel->comm, channel->destination,
                             channel->tag, call, wait);
    }
    const struct collective_request *collective =
        collectives_request(&analysis->pass.collectives, rank, analysis->incarnation, number);
    if (collective == NULL)
        return false;
    const struct trace *trace = trace_set_find(analysis->traces, rank, analysis->incarnation);
    const struct record *began = &trace->record[collective->began];
    return hang_in_collective(analysis, rank, collective->gathering->comm, collective->number,
                              began->call, began->peer, began->bytes, call, wait);
}

/* Of all requests of the rank that are not complete: how many there are, and how many are stuck.
 * The traces name only the first request of a call that waits for many. */
struct pending {
    unsigned count;
    unsigned stuck;
};

static void look_at_pending(const struct analysis *analysis, const struct table *table, int rank,
                            const char *call, struct wait_for *wait, struct pending *pending)
{
    uint64_t key = (uint64_t)(uint32_t)analysis->incarnation << 32 | (uint32_t)rank;
    for (size_t i = 0; i < table->capacity; i++) {
        const struct table_slot *slot = &table->slot[i];
        if (slot->value == NULL || slot->first != key)
            continue;
        pending->count++;
        pending->stuck += request_is_stuck(analysis, rank, (uint32_t)slot->second, call, wait);
    }
}

static bool wait_is_stuck(const struct analysis *analysis, const struct inside *inside,
                          struct wait_for *wait)
{
    const char *call = call_name(inside->record.call);
    enum call_role role = call_role(inside->record.call);
    bool all = role == ROLE_WAIT || role == ROLE_WAITALL;
    if (all && request_is_stuck(analysis, wait->rank, inside->record.request, call, wait))
        return true;
    if (role == ROLE_WAIT)
        return false;
    struct pending pending = {0};
    look_at_pending(analysis, &analysis->pass.match.requests, wait->rank, call, wait, &pending);
    look_at_pending(analysis, &analysis->pass.collectives.requests, wait->rank, call, wait,
                    &pending);
    wait->any = wait->any || !all;
    return all ? pending.stuck > 0 : pending.count > 0 && pending.stuck == pending.count;
}

/* --- ranks --------------------------------------------------------------------------------- */

static bool is_in_finalize(const struct analysis *analysis, int rank)
{
    const struct rank_threads *threads = &analysis->threads[rank];
    for (unsigned i = 0; i < HANG_THREADS; i++)
        if (threads->used[i] && threads->inside[i].blocking &&
            call_role(threads->inside[i].record.call) == ROLE_FINALIZE)
            return true;
    return false;
}

static bool finalize_is_stuck(const struct analysis *analysis, struct wait_for *wait)
{
    for (int rank = 0; rank < analysis->ranks; rank++)
        if (is_alive(analysis, rank) && !is_in_finalize(analysis, rank))
            hang_add_target(wait, rank);
    snprintf(wait->text, sizeof wait->text, "rank %d waits in MPI_Finalize for the others",
             wait->rank);
    return wait->target_count > 0;
}

static bool send_record_is_stuck(const struct analysis *analysis, const struct record *record,
                                 struct event_ref event, struct wait_for *wait)
{
    return needs_receive(call_is_synchronous(record->call), record->bytes) &&
           send_is_stuck(analysis, event, record->comm, record->peer, record->tag,
                         call_name(record->call), wait);
}

static bool call_is_stuck(const struct analysis *analysis, const struct inside *inside,
                          struct wait_for *wait)
{
    const struct record *record = &inside->record;
    const char *call = call_name(record->call);
    if (!inside->blocking)
        return false;
    switch (call_role(record->call)) {
    case ROLE_FINALIZE:
        return finalize_is_stuck(analysis, wait);
    case ROLE_WAIT:
    case ROLE_WAITALL:
    case ROLE_WAITANY:
    case ROLE_WAITSOME:
        return wait_is_stuck(analysis, inside, wait);
    default:
        break;
    }
    if (inside->sends && send_record_is_stuck(analysis, &inside->send, inside->send_event, wait))
        return true;
    if (record->kind == RECORD_SEND)
        return send_record_is_stuck(analysis, record, inside->event, wait);
    if (record->kind == RECORD_RECV || record->kind == RECORD_PROBE)
        return receive_is_stuck(analysis, wait->rank, record->comm, record->want_peer,
                                record->want_tag, inside->event, call, wait);
    if (hang_is_meeting(record))
        return hang_in_meeting(analysis, wait->rank, inside, wait);
    uint32_t comm = collective_comm(record);
    return comm != 0 && hang_in_collective(analysis, wait->rank, comm, inside->number, record->call,
                                           record->peer, record->bytes, call, wait);
}

/* It had begun, and did not come to its end. */
static bool is_dead(const struct analysis *analysis, int rank)
{
    const struct trace *trace = trace_set_find(analysis->traces, rank, analysis->incarnation);
    return !is_alive(analysis, rank) && trace != NULL &&
           !atomic_load_explicit(&trace->header->closed, memory_order_acquire);
}

/* Which of those that it waits for nobody needs to wait for: ", which is dead". */
static void say_dead(const struct analysis *analysis, struct wait_for *wait)
{
    unsigned dead = 0;
    size_t used = strlen(wait->text);
    for (unsigned i = 0; i < wait->target_count; i++)
        dead += is_dead(analysis, wait->target[i]);
    if (dead == 0 || used + 64 > sizeof wait->text)
        return;
    if (dead == wait->target_count) {
        snprintf(wait->text + used, sizeof wait->text - used, ", which %s dead",
                 dead == 1 ? "is" : "are");
        return;
    }
    used += (size_t)snprintf(wait->text + used, sizeof wait->text - used, ", of which dead:");
    for (unsigned i = 0; i < wait->target_count && used + 16 < sizeof wait->text; i++)
        if (is_dead(analysis, wait->target[i]))
            used += (size_t)snprintf(wait->text + used, sizeof wait->text - used, " %d",
                                     wait->target[i]);
}

/* Stuck if every thread that was ever seen is: one outside of MPI may do anything. */
static bool rank_is_stuck(const struct analysis *analysis, int rank, struct wait_for *wait)
{
    const struct rank_threads *threads = &analysis->threads[rank];
    bool stuck = false;
    for (unsigned i = 0; i < HANG_THREADS && !threads->too_many; i++) {
        if (!threads->used[i])
            continue;
        *wait = (struct wait_for){.rank = rank, .call = threads->inside[i].event};
        if (!call_is_stuck(analysis, &threads->inside[i], wait))
            return false;
        stuck = true;
    }
    if (stuck)
        say_dead(analysis, wait);
    return stuck;
}

/* --- the whole ----------------------------------------------------------------------------- */

static bool waits_for(const struct wait_for *wait, int rank)
{
    for (unsigned i = 0; i < wait->target_count; i++)
        if (wait->target[i] == rank)
            return true;
    return false;
}

/* Whether a rank is in a collective and cannot return without `other`. */
static bool needs_in_collective(const struct wait_for *wait, int other)
{
    return wait->comm != 0 && !wait->any && waits_for(wait, other);
}

static void explain_collectives(struct hang *hang)
{
    for (size_t a = 0; a < hang->count; a++)
        for (size_t b = a + 1; b < hang->count; b++) {
            const struct wait_for *one = &hang->waits[a], *other = &hang->waits[b];
            if (one->comm != other->comm && needs_in_collective(one, other->rank) &&
                needs_in_collective(other, one->rank))
                hang->why =
                    "two ranks wait for each other in collectives on different communicators: "
                    "neither comes to the other's before its own returns";
        }
}

static void look_at_ranks(const struct analysis *analysis, struct hang *hang)
{
    unsigned live = 0;
    hang->waits = memory_new((size_t)analysis->ranks, sizeof *hang->waits);
    for (int rank = 0; rank < analysis->alive_count; rank++) {
        if (!analysis->alive[rank])
            continue;
        live++;
        if (rank < analysis->ranks && rank_is_stuck(analysis, rank, &hang->waits[hang->count]))
            hang->count++;
    }
    hang->deadlocked = live > 0 && hang->count == live;
    explain_collectives(hang);
    hang_find_cycle(hang);
}

void hang_analyse(const struct trace_set *traces, const bool *alive, int ranks, struct hang *hang)
{
    struct analysis analysis = {.traces = traces,
                                .alive = alive,
                                .alive_count = ranks,
                                .ranks = traces->ranks,
                                .incarnation = traces->incarnations - 1};
    struct reading reading;
    *hang = (struct hang){0};
    if (traces->count == 0)
        return;
    analysis.threads = memory_new((size_t)analysis.ranks, sizeof *analysis.threads);
    held_read(traces, analysis.incarnation, &analysis.held);
    reading_begin(&reading, traces, false);
    pass_begin(&analysis.pass, &reading, LEVEL_WIRE, analysis.incarnation);
    pass_listen(&analysis.pass, &(struct listener){.context = &analysis,
                                                   .event = on_event,
                                                   .keeps = is_held,
                                                   .joined = on_joined});
    pass_read(&analysis.pass, NULL);
    look_at_ranks(&analysis, hang);
    pass_release(&analysis.pass);
    reading_end(&reading);
    held_release(&analysis.held);
    table_release(&analysis.meetings);
    free(analysis.threads);
}

void hang_release(struct hang *hang)
{
    free(hang->waits);
    memset(hang, 0, sizeof *hang);
}
