/* See walk.h. A cursor for each trace. Those whose next event waits for nothing that is known are
 * in a heap, the earliest on top: it goes on. Where a cause has not been passed yet the cursor
 * leaves the heap and stands in a list at the trace that it waits for, until that one has come so
 * far. */
#include "oracles/matching/walk.h"

#include "base/memory.h"
#include "base/pages.h"
#include "oracles/reading/collective.h"
#include "oracles/reading/history.h"
#include "oracles/reading/table.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define FORGET_RECORDS 65536u
#define NOWHERE SIZE_MAX

/* A clock that others will take in; keyed by the number of its record. */
struct held {
    uint64_t takers;
    uint64_t clock[];
};

struct cursor {
    const struct trace *trace;
    uint64_t next; /* record to be passed next */
    uint64_t end;
    uint64_t forgotten;
    uint64_t time;      /* ticks at which `next` was entered */
    size_t before;      /* place of the incarnation before, or NOWHERE */
    size_t waits_place; /* while not ready: goes on when that trace has passed that record */
    uint64_t waits_index;
    size_t waiters;     /* the first of those that wait for this trace, or NOWHERE */
    size_t next_waiter; /* that waits for the same trace, or NOWHERE */
    bool began;         /* took over from the incarnation before */
    bool joined;        /* the collective at `next`: others may take what was known before */
    uint64_t *clock;
};

struct walking {
    const struct links *links;
    const struct walk *walk;
    struct cursor *cursor; /* by place */
    size_t count;
    uint64_t *clocks; /* of all cursors */
    size_t ready_count;
    struct cursor **ready; /* a heap: the earliest on top */
    struct table held;
    uint64_t start_ticks;
    double ns_per_tick;
    struct walk_seen seen;
    bool forcing; /* the next step does not wait */
};

static bool is_event(const struct record *record)
{
    return record_is_event(record) && record->kind < RECORD_KIND_COUNT &&
           record->level <= LEVEL_SELF;
}

/* To the next event, if there is one. */
static void settle(struct walking *walking, struct cursor *cursor)
{
    size_t place = (size_t)(cursor - walking->cursor);
    while (cursor->next < cursor->end && !is_event(&cursor->trace->record[cursor->next]))
        cursor->next++;
    if (cursor->next < cursor->end)
        cursor->time = cursor->trace->record[cursor->next].enter;
    cursor->joined = false;
    if (cursor->next - cursor->forgotten < FORGET_RECORDS)
        return;
    if (cursor->trace->mapped != 0)
        pages_let_go(&cursor->trace->record[cursor->forgotten],
                     &cursor->trace->record[cursor->next]);
    links_forget(walking->links, place, cursor->next);
    cursor->forgotten = cursor->next;
}

/* --- clocks ----------------------------------------------------------------------------------- */

static void take_in(const struct walking *walking, struct cursor *cursor, const uint64_t *clock)
{
    for (size_t i = 0; i < walking->count; i++)
        if (clock[i] > cursor->clock[i])
            cursor->clock[i] = clock[i];
}

static void hold(struct walking *walking, const struct cursor *cursor, uint64_t at, uint64_t takers)
{
    size_t bytes = walking->count * sizeof(uint64_t);
    if (takers == 0)
        return;
    struct held *held = memory_resized(NULL, 1, sizeof *held + bytes);
    table_put(&walking->held, at, 0, held);
    held->takers = takers;
    memcpy(held->clock, cursor->clock, bytes);
}

/* What is not held any more, or not yet, is not taken: then the walk was forced. */
static void take_held(struct walking *walking, struct cursor *cursor, uint64_t at)
{
    struct held *held = table_get(&walking->held, at, 0);
    if (held == NULL)
        return;
    take_in(walking, cursor, held->clock);
    if (--held->takers > 0)
        return;
    table_remove(&walking->held, at, 0);
    free(held);
}

/* --- who goes on ------------------------------------------------------------------------------ */

/* By time; of the same time, as the traces stand in the set. */
static bool is_earlier(const struct cursor *a, const struct cursor *b)
{
    return a->time != b->time ? a->time < b->time : a < b;
}

static void add_ready(struct walking *walking, struct cursor *cursor)
{
    struct cursor **ready = walking->ready;
    size_t at = walking->ready_count++;
    for (; at > 0 && is_earlier(cursor, ready[(at - 1) / 2]); at = (at - 1) / 2)
        ready[at] = ready[(at - 1) / 2];
    ready[at] = cursor;
}

static struct cursor *take_ready(struct walking *walking)
{
    struct cursor **ready = walking->ready, *first = ready[0], *last;
    size_t at = 0, below = 1, count = --walking->ready_count;
    last = ready[count];
    for (; below < count; below = 2 * at + 1) {
        if (below + 1 < count && is_earlier(ready[below + 1], ready[below]))
            below++;
        if (!is_earlier(ready[below], last))
            break;
        ready[at] = ready[below];
        at = below;
    }
    ready[at] = last;
    return first;
}

static bool has_passed(const struct walking *walking, size_t place, uint64_t index)
{
    const struct cursor *cursor = &walking->cursor[place];
    return cursor->next > index || (cursor->next == index && cursor->joined);
}

static void add_waiter(struct walking *walking, struct cursor *cursor)
{
    struct cursor *of = &walking->cursor[cursor->waits_place];
    cursor->next_waiter = of->waiters;
    of->waiters = (size_t)(cursor - walking->cursor);
}

/* The trace has come further: those that waited for just that are ready. */
static void wake(struct walking *walking, struct cursor *of)
{
    size_t *link = &of->waiters;
    while (*link != NOWHERE) {
        struct cursor *cursor = &walking->cursor[*link];
        if (has_passed(walking, cursor->waits_place, cursor->waits_index)) {
            *link = cursor->next_waiter;
            add_ready(walking, cursor);
        } else {
            link = &cursor->next_waiter;
        }
    }
}

/* Everybody waits for another: threads of a rank, or the matching was wrong somewhere. The earliest
 * goes on without its cause. NULL: all are at their ends. */
static struct cursor *force(struct walking *walking)
{
    struct cursor *best = NULL;
    for (size_t i = 0; i < walking->count; i++) {
        struct cursor *cursor = &walking->cursor[i];
        if (cursor->next < cursor->end && (best == NULL || is_earlier(cursor, best)))
            best = cursor;
    }
    if (best == NULL)
        return NULL;
    size_t *link = &walking->cursor[best->waits_place].waiters;
    while (*link != (size_t)(best - walking->cursor))
        link = &walking->cursor[*link].next_waiter;
    *link = best->next_waiter;
    walking->forcing = true;
    walking->seen.forced++;
    return best;
}

/* --- what has to be passed before ------------------------------------------------------------- */

/* True if record number `at` has been passed; else the cursor waits for it. */
static bool has_come(struct walking *walking, struct cursor *cursor, uint64_t at)
{
    uint64_t index;
    size_t place = links_place(walking->links, at, &index);
    if (walking->forcing || has_passed(walking, place, index))
        return true;
    cursor->waits_place = place;
    cursor->waits_index = index;
    return false;
}

/* Data flows from world rank `from` to `to` in the collective of this record. */
static bool flows(const struct record *record, int from, int to)
{
    int32_t root = record->kind == RECORD_COLLECTIVE ? record->peer : PEER_NONE;
    if ((record->flags & FLAG_INTER) != 0)
        return true;
    switch (call_operation(record->call)) {
    case OPERATION_BCAST:
    case OPERATION_SCATTER:
    case OPERATION_SCATTERV:
        return from == root;
    case OPERATION_GATHER:
    case OPERATION_GATHERV:
    case OPERATION_REDUCE:
        return to == root;
    case OPERATION_SCAN:
    case OPERATION_EXSCAN:
        /* Of other communicators the order is not looked up: knowing too much raises no alarm. */
        return collective_comm(record) != COMM_WORLD_ID || from < to;
    default:
        return true;
    }
}

static bool member_flows(const struct walking *walking, size_t from, size_t to,
                         const struct record *record)
{
    const struct trace *trace = walking->links->set->trace;
    return from != to && flows(record, trace[from].rank, trace[to].rank);
}

/* The cursor's rank has come to the collective: what it knows so far is for those it gives to. */
static void join(struct walking *walking, struct cursor *cursor, uint64_t at)
{
    size_t own = (size_t)(cursor - walking->cursor), place;
    const struct record *record = &cursor->trace->record[cursor->next];
    uint64_t takers = 0;
    cursor->joined = true;
    for (uint64_t member = links_next_member(walking->links, at, &place); member != at;
         member = links_next_member(walking->links, member, &place))
        takers += member_flows(walking, own, place, record);
    hold(walking, cursor, at, takers);
    wake(walking, cursor);
}

static bool members_have_come(struct walking *walking, struct cursor *cursor, uint64_t began,
                              const struct record *record)
{
    size_t own = (size_t)(cursor - walking->cursor), place;
    for (uint64_t member = links_next_member(walking->links, began, &place); member != began;
         member = links_next_member(walking->links, member, &place))
        if (member_flows(walking, place, own, record) && !has_come(walking, cursor, member))
            return false;
    return true;
}

static void take_members(struct walking *walking, struct cursor *cursor, uint64_t began,
                         const struct record *record)
{
    size_t own = (size_t)(cursor - walking->cursor), place;
    for (uint64_t member = links_next_member(walking->links, began, &place); member != began;
         member = links_next_member(walking->links, member, &place))
        if (member_flows(walking, place, own, record))
            take_held(walking, cursor, member);
}

/* Takes in what happened before the event at the cursor. False if that is still to come. */
static bool take_causes(struct walking *walking, struct cursor *cursor, struct link link)
{
    const struct record *records = cursor->trace->record;
    const struct record *record = &records[cursor->next];
    size_t own = (size_t)(cursor - walking->cursor);
    uint64_t at = walking->links->base[own] + cursor->next;
    if (link.kind == LINK_RECEIVED) {
        if (!has_come(walking, cursor, link.at))
            return false;
        take_held(walking, cursor, link.at);
    } else if (link.kind == LINK_JOINED) {
        if (!cursor->joined)
            join(walking, cursor, at);
        bool returned = atomic_load_explicit(&record->leave, memory_order_acquire) != 0;
        if (!returned || (record->kind == RECORD_COLLECTIVE && record->request != 0))
            return true;
        if (!members_have_come(walking, cursor, at, record))
            return false;
        take_members(walking, cursor, at, record);
    } else if (link.kind == LINK_LEFT) {
        const struct record *began = &records[link.at - walking->links->base[own]];
        if (!members_have_come(walking, cursor, link.at, began))
            return false;
        take_members(walking, cursor, link.at, began);
    }
    return true;
}

/* The first event of an incarnation: its rank's life before is over. */
static bool take_life_before(struct walking *walking, struct cursor *cursor)
{
    if (cursor->began || cursor->before == NOWHERE)
        return true;
    const struct cursor *before = &walking->cursor[cursor->before];
    if (before->next < before->end && !walking->forcing) {
        cursor->waits_place = cursor->before;
        cursor->waits_index = before->end - 1;
        return false;
    }
    take_in(walking, cursor, before->clock);
    cursor->began = true;
    return true;
}

/* --- a step ----------------------------------------------------------------------------------- */

static uint64_t ns_of(const struct walking *walking, uint64_t ticks)
{
    return ticks > walking->start_ticks
               ? (uint64_t)((double)(ticks - walking->start_ticks) * walking->ns_per_tick)
               : 0;
}

static struct walk_event event_at(const struct walking *walking, const struct cursor *cursor,
                                  struct link link)
{
    const struct record *record = &cursor->trace->record[cursor->next];
    size_t own = (size_t)(cursor - walking->cursor);
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    struct walk_event event = {.trace = cursor->trace,
                               .place = own,
                               .index = cursor->next,
                               .record = record,
                               .enter_ns = ns_of(walking, record->enter),
                               .in_progress = leave == 0 && record->kind != RECORD_NOTE &&
                                              record->kind != RECORD_FAULT,
                               .forced = walking->forcing,
                               .ordinal = walking->seen.told,
                               .clock = cursor->clock};
    event.leave_ns = leave > record->enter ? ns_of(walking, leave) : event.enter_ns;
    if (link.kind == LINK_SENT || link.kind == LINK_RECEIVED) {
        uint64_t index;
        size_t place = links_place(walking->links, link.at, &index);
        event.link = link.kind;
        event.message =
            1 + (link.kind == LINK_SENT ? walking->links->base[own] + cursor->next : link.at);
        event.other = event_of(&walking->links->set->trace[place], index);
    }
    return event;
}

/* false: the walk ends. */
static bool pass(struct walking *walking, struct cursor *cursor, struct link link)
{
    size_t own = (size_t)(cursor - walking->cursor);
    struct walk_event event = event_at(walking, cursor, link);
    bool go_on = true;
    cursor->clock[own]++;
    if (walking->walk->wanted == NULL || walking->walk->wanted(walking->walk->context, &event)) {
        go_on = walking->walk->event(walking->walk->context, &event);
        walking->seen.told++;
    } else {
        cursor->clock[own]--;
    }
    if (link.kind == LINK_SENT)
        hold(walking, cursor, walking->links->base[own] + cursor->next, 1);
    cursor->next++;
    settle(walking, cursor);
    return go_on;
}

/* False at the end. */
static bool step(struct walking *walking)
{
    struct cursor *cursor = walking->ready_count > 0 ? take_ready(walking) : force(walking);
    if (cursor == NULL)
        return false;
    struct link link = links_of(walking->links, (size_t)(cursor - walking->cursor), cursor->next);
    if (!take_life_before(walking, cursor) || !take_causes(walking, cursor, link)) {
        add_waiter(walking, cursor);
        return true;
    }
    bool go_on = pass(walking, cursor, link);
    walking->forcing = false;
    if (cursor->next < cursor->end)
        add_ready(walking, cursor);
    wake(walking, cursor);
    return go_on;
}

/* --- the whole -------------------------------------------------------------------------------- */

static size_t place_before(const struct trace_set *set, const struct trace *trace)
{
    for (int i = trace->incarnation - 1; i >= 0; i--) {
        const struct trace *before = trace_set_find(set, trace->rank, i);
        if (before != NULL)
            return (size_t)(before - set->trace);
    }
    return NOWHERE;
}

static void begin(struct walking *walking)
{
    const struct trace_set *set = walking->links->set;
    walking->cursor = memory_new(set->count, sizeof *walking->cursor);
    walking->ready = memory_new(set->count, sizeof(struct cursor *));
    walking->clocks = memory_new(set->count * set->count, sizeof *walking->clocks);
    walking->start_ticks = UINT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        struct cursor *cursor = &walking->cursor[i];
        *cursor = (struct cursor){.trace = trace,
                                  .end = trace->count,
                                  .time = trace->header->start_ticks,
                                  .before = place_before(set, trace),
                                  .waiters = NOWHERE,
                                  .clock = walking->clocks + i * set->count};
        if (trace->header->start_ticks < walking->start_ticks)
            walking->start_ticks = trace->header->start_ticks;
        settle(walking, cursor);
        if (cursor->next < cursor->end)
            add_ready(walking, cursor);
    }
    walking->ns_per_tick = 1e9 / set->trace[0].header->ticks_per_second;
}

static void finish(struct walking *walking)
{
    for (size_t i = 0; i < walking->held.capacity; i++)
        free(walking->held.slot[i].value);
    table_release(&walking->held);
    free(walking->ready);
    free(walking->cursor);
    free(walking->clocks);
}

struct walk_seen walk_run(const struct links *links, const struct walk *walk)
{
    struct walking walking = {.links = links, .walk = walk, .count = links->set->count};
    begin(&walking);
    while (step(&walking))
        ;
    for (size_t i = 0; walk->end != NULL && i < walking.count; i++)
        walk->end(walk->context, i, walking.cursor[i].clock);
    finish(&walking);
    return walking.seen;
}

bool walk_event_is_of(const struct walk_event *event, const struct event_ref *refs, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (refs[i].rank == event->trace->rank &&
            refs[i].incarnation == event->trace->incarnation && refs[i].index == event->index)
            return true;
    return false;
}
