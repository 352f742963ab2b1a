/* Which events of a run are shown to people: all of a small run; of a large one those that tell
 * most about the witness, which is what happened before it, and what the ranks noted of their
 * checkpoints; and the faults, wherever they are. What the application did and what that came to on
 * the wire is one event (fold.h). Memory grows with what is shown. Must not know: how it is shown.
 */
#ifndef REPORTS_DIAGRAM_SLICE_H
#define REPORTS_DIAGRAM_SLICE_H

#include "oracles/matching/walk.h"

#define SLICE_NONE SIZE_MAX
#define SLICE_FAULTS_MOST 64 /* that are always kept: the first of a run */

struct slice_event {
    const struct trace *trace;
    size_t place; /* of the trace in the set */
    uint64_t index;
    const struct record *record;
    bool has_below;
    uint64_t below;              /* the record of the wire that it came to, if it has one */
    uint64_t enter_ns, leave_ns; /* since the start of the run */
    uint64_t point_ns; /* when it is done: a send or delivery when control returns, and what was in
                          progress at the end of its rank then */
    bool in_progress;
    bool witness;
    bool near;    /* one of what was asked for besides, or the next event of its rank */
    bool related; /* happened before an event of the witness, or is one */
    bool fault;   /* of the plan, done to the job: shown whatever else is left out */
    bool gap;     /* between it and the event shown before it on its rank some are left out */
    uint64_t own; /* among all events of its trace, folded ones not counted, from 0 */
    double away;  /* events between it and what it is to explain */
    double cost;  /* the same, by what it tells: the dearest are left out */
};

/* What is to be explained, and how much may be shown. All borrowed. */
struct slice_wish {
    const struct event_ref *witness;
    size_t witness_count;
    const struct event_ref
        *near; /* to be shown with what is around them, but they are no witness */
    size_t near_count;
    size_t most; /* events */
};

/* Where the event of a record is. */
struct slice_key {
    size_t place;
    uint64_t index;
    size_t at;
};

struct slice {
    const struct trace_set *set; /* borrowed */
    size_t count;
    struct slice_event *event; /* owned; by trace, then as they were done */
    size_t key_count;
    struct slice_key *key; /* owned; by place and index */
    uint64_t shown, total; /* records that are events: in the slice, and in the run */
    uint64_t forced;       /* of struct walk_seen */
    bool has_app;          /* the application's calls were seen */
};

/* Goes through the run twice. Owned by the caller: slice_release. */
void slice_read(const struct trace_set *set, const struct links *links,
                const struct slice_wish *wish, struct slice *slice);
void slice_release(struct slice *slice);

/* The event that shows this record, or the one it is folded into; SLICE_NONE: not shown. */
size_t slice_find(const struct slice *slice, const struct event_ref *event);

/* A note or fault of this kind. */
bool slice_is_note(const struct slice_event *event, unsigned note);
bool slice_is_fault(const struct slice_event *event, unsigned fault);

/* A record of a fault that does something to the job, or to what it sees: not of a step that only
 * waits, or lets go what was held. */
bool slice_is_done_to_job(const struct record *record);

#endif
