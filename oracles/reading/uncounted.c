/* See uncounted.h. For each newcomer the messages of each channel and the collectives of each
 * communicator that it had before it counts are counted; then as many, from the first on, are
 * marked in the traces of the others:
 *
 *     process 4:  recv from 0   Bcast   restored   Allreduce
 *     rank 0:     send to 4     Bcast              Allreduce
 *                 marked        marked
 *
 * With a receive that was only started the record that posted it is marked as well. All that others
 * exchanged with a newcomer that died before it counted is marked, whether it came there or not. */
#include "oracles/reading/uncounted.h"

#include "base/memory.h"
#include "oracles/reading/collective.h"
#include "oracles/reading/history.h"
#include "trace/calls.h"

#include <stdlib.h>

/* A newcomer, and what of its time before it counts has not been found at the others yet. */
struct before {
    const struct life *life;
    bool never;               /* it died before it counted */
    struct table messages;    /* by channel: how many; see key() */
    struct table collectives; /* by communicator: how many */
};

enum way { TO_NEWCOMER, FROM_NEWCOMER, OF_COLLECTIVE };

static uint64_t trace_key(const struct trace *trace)
{
    return (uint64_t)(uint32_t)trace->incarnation << 32 | (uint32_t)trace->rank;
}

bool uncounted_has(const struct uncounted *uncounted, const struct trace *trace, uint64_t index)
{
    return uncounted->marked.used > 0 &&
           table_get(&uncounted->marked, trace_key(trace), index) != NULL;
}

static void mark(struct uncounted *uncounted, const struct trace *trace, uint64_t index)
{
    table_put(&uncounted->marked, trace_key(trace), index, uncounted);
}

/* --- what a record is ---------------------------------------------------------------------- */

static bool is_sent(const struct record *record)
{
    return record->kind == RECORD_SEND && record->peer >= 0 && record->error == 0;
}

static bool is_got(const struct record *record)
{
    bool whole = record->kind == RECORD_RECV &&
                 (record->request == 0 ||
                  ((record->flags & FLAG_MATCHED) && call_role(record->call) != ROLE_IMRECV));
    return (whole || (record->kind == RECORD_COMPLETE && record->comm != 0)) &&
           !(record->flags & (FLAG_NEGATIVE | FLAG_CANCELLED | FLAG_FREED)) && record->peer >= 0 &&
           atomic_load_explicit(&record->leave, memory_order_acquire) != 0;
}

static uint64_t channel_key(const struct record *record)
{
    return (uint64_t)record->comm << 32 | (uint32_t)record->tag;
}

static uint64_t end_key(enum way way, int other)
{
    return (uint64_t)way << 32 | (uint32_t)other;
}

/* --- the newcomer's side ------------------------------------------------------------------- */

/* The process was another rank then: that is of the life in which it was that. */
static bool is_of_other_life(const struct lives *lives, const struct before *before, uint64_t at)
{
    const struct life *life = lives_find(lives, event_of(before->life->trace, at));
    return life != NULL && life != before->life;
}

static void count_own(const struct lives *lives, struct before *before)
{
    const struct trace *trace = before->life->trace;
    for (uint64_t at = 0; at < before->life->counts; at++) {
        const struct record *record = &trace->record[at];
        if (!record_is_of_app(record) || is_of_other_life(lives, before, at))
            continue;
        if (is_sent(record))
            table_count(&before->messages, channel_key(record),
                        end_key(FROM_NEWCOMER, record->peer));
        else if (is_got(record))
            table_count(&before->messages, channel_key(record), end_key(TO_NEWCOMER, record->peer));
        else if (collective_comm(record) != 0)
            table_count(&before->collectives, collective_comm(record), 0);
    }
}

/* Somebody took part in a collective on it before the newcomer was there, so that its numbers are
 * not those of the newcomer: it is one that a protocol hands out. */
static bool is_older(const struct lives *lives, const struct before *before, uint32_t comm)
{
    uint64_t there = before->life->came;
    for (size_t t = 0; t < lives->traces->count; t++) {
        const struct trace *trace = &lives->traces->trace[t];
        bool beside = trace->incarnation == before->life->trace->incarnation;
        for (uint64_t at = 0; beside && at < trace->count; at++) {
            const struct record *record = &trace->record[at];
            if (record_is_of_app(record) && collective_comm(record) == comm &&
                record->enter < there)
                return true;
        }
    }
    return false;
}

static void leave_older(const struct lives *lives, struct before *before)
{
    struct table kept = {0};
    for (size_t i = 0; i < before->collectives.capacity; i++) {
        const struct table_slot *slot = &before->collectives.slot[i];
        if (slot->value != NULL && slot->first != COMM_WORLD_ID &&
            !is_older(lives, before, (uint32_t)slot->first))
            table_put(&kept, slot->first, 0, slot->value);
    }
    table_release(&before->collectives);
    before->collectives = kept;
}

/* --- the other side ------------------------------------------------------------------------ */

struct other {
    struct uncounted *uncounted;
    const struct before *before;
    const struct trace *trace;
    struct table seen; /* as in struct before, so far */
};

/* The record that posted the receive which the one at `index` completes. */
static void mark_posting(struct other *other, uint64_t index)
{
    const struct record *record = other->trace->record;
    for (uint64_t at = index; record[index].request != 0 && at > 0; at--) {
        const struct record *posting = &record[at - 1];
        if (record_is_of_app(posting) && posting->request == record[index].request &&
            (posting->kind == RECORD_RECV || posting->kind == RECORD_PROBE)) {
            mark(other->uncounted, other->trace, at - 1);
            return;
        }
    }
}

static bool is_among(struct other *other, const struct table *counts, uint64_t first,
                     uint64_t second)
{
    uint64_t all = (uint64_t)(uintptr_t)table_get(counts, first, second);
    return all > 0 && table_count(&other->seen, first, second) <= all;
}

static void look_at(struct other *other, uint64_t index)
{
    const struct record *record = &other->trace->record[index];
    const struct before *before = other->before;
    bool sent = is_sent(record), got = is_got(record);
    uint32_t comm = collective_comm(record);
    if ((sent || got) && record->peer == before->life->trace->rank) {
        uint64_t end = end_key(sent ? TO_NEWCOMER : FROM_NEWCOMER, other->trace->rank);
        if (!before->never && !is_among(other, &before->messages, channel_key(record), end))
            return;
        mark(other->uncounted, other->trace, index);
        if (got)
            mark_posting(other, index);
    } else if (!sent && !got && comm != 0 && is_among(other, &before->collectives, comm, 0)) {
        mark(other->uncounted, other->trace, index);
    }
}

static void look_at_others(const struct lives *lives, const struct before *before,
                           struct uncounted *uncounted)
{
    const struct trace *own = before->life->trace;
    for (size_t t = 0; t < lives->traces->count; t++) {
        struct other other = {uncounted, before, &lives->traces->trace[t], {0}};
        if (other.trace->incarnation != own->incarnation || other.trace == own)
            continue;
        for (uint64_t at = 0; at < other.trace->count; at++)
            if (record_is_of_app(&other.trace->record[at]))
                look_at(&other, at);
        table_release(&other.seen);
    }
}

void uncounted_read(const struct lives *lives, struct uncounted *uncounted)
{
    *uncounted = (struct uncounted){0};
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->life[i];
        struct before before = {.life = life, .never = life->counts >= life->to};
        if (!life->takes_over || life->counts == 0 || life->trace->rank < lives->traces->world)
            continue;
        count_own(lives, &before);
        leave_older(lives, &before);
        look_at_others(lives, &before, uncounted);
        table_release(&before.messages);
        table_release(&before.collectives);
    }
}

void uncounted_release(struct uncounted *uncounted)
{
    table_release(&uncounted->marked);
}
