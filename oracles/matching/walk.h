/* All events of a run in one order that respects what happened before what: order within a rank, a
 * message's send before its delivery, a collective's data flow, an incarnation of a rank after the
 * one before; beyond that by time. Each event comes with its vector clock.
 *
 * What is told of a call is where it was entered: one record, one event. A collective gives what
 * its members knew before they called it. Streams: memory grows with the number of traces, messages
 * in flight, and collectives under way. Must not know: forms of export, verdicts. */
#ifndef ORACLES_MATCHING_WALK_H
#define ORACLES_MATCHING_WALK_H

#include "oracles/matching/links.h"
#include "trace/event.h"

struct walk_event {
    const struct trace *trace;
    size_t place; /* of the trace in the set */
    uint64_t index;
    const struct record *record;
    uint64_t enter_ns; /* since the start of the run */
    uint64_t leave_ns; /* not before enter_ns; the same while in progress */
    bool in_progress;
    bool forced;      /* a cause of it could not be passed first: its clock lacks that */
    uint64_t ordinal; /* of the events told, from 0 */

    /* Of a message of the wire that was delivered; LINK_SENT or LINK_RECEIVED, or LINK_NONE. */
    enum link_kind link;
    uint64_t message;       /* the same at both its ends and nowhere else, from 1 */
    struct event_ref other; /* the other end */
    const uint64_t *clock;  /* by place: events of that trace up to the newest that happened
                               before, this one included; 0: none */
};

/* What is asked of a walk. Functions get `context`. */
struct walk {
    void *context;
    /* Whether the event is told, and counts in the clocks; NULL: all are. Asked in order. */
    bool (*wanted)(void *context, const struct walk_event *event);
    /* false: that was enough, and the walk ends. */
    bool (*event)(void *context, const struct walk_event *event);
    /* At the end of the walk, for the trace at each place: the clock it came to. May be NULL. */
    void (*end)(void *context, size_t place, const uint64_t *clock);
};

/* What a walk found out besides. */
struct walk_seen {
    uint64_t told;
    uint64_t forced; /* events whose cause could not be told first: their clocks lack it */
};

/* Passes all events of the run in an order in which causes come before what they bring about; of
 * those that have no order, the earlier by the clock first. */
struct walk_seen walk_run(const struct links *links, const struct walk *walk);

/* The event is one of these. */
bool walk_event_is_of(const struct walk_event *event, const struct event_ref *refs, size_t count);

#endif
