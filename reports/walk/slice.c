/* See slice.h. A run can have millions of events, a picture some dozens. Two walks over the run in
 * causal order:
 *   1. The first finds the *anchors*, the events to be explained (the witness, and what else was
 *      asked for; without any, the faults): their place in the order, and a witness's vector clock.
 *   2. The second gives each event a cost: its distance to the nearest anchor in events, times a
 *      weight by kind. A checkpoint far away can so cost less than a request next to the witness.
 *      Events that did not happen before any witness, by the clock, cost more. The cheapest `most`
 *      are kept in a heap with the dearest on top, which is thrown out when a cheaper one comes.
 *
 *     weight  0.02 checkpoint   1 send   4 request         distance 100:  2   100   400
 *
 * The second walk is needed because what happened before the witness, and how far away it is, is
 * known only when the walk has come to the witness. To keep all events instead would need memory
 * that grows with the run. Cost: two walks, the anchors and the logarithm of `most` for each event.
 * In the end the events are sorted by rank and time, and gaps are marked. */
#include "reports/walk/slice.h"

#include "base/memory.h"
#include "oracles/reading/history.h"
#include "reports/walk/fold.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define ANCHORS_MOST 64

/* Weights of the distance to the next anchor, in events. */
#define COST_LINE 0.02 /* checkpoints, commits, restarts */
#define COST_NOTE 0.5  /* what else was noted */
#define COST_CALL 4.0  /* calls that move no data; requests; files */
#define COST_FAR 3.0   /* besides: it did not happen before the witness */

/* What distances are measured from. */
struct anchor {
    struct event_ref event;
    size_t place;
    uint64_t until; /* ticks: what its rank knew when the call was over counts */
    bool witness;
    bool seen;
    uint64_t ordinal;
    uint64_t found;  /* valid once seen: index of the event itself, or of the next one */
    uint64_t *clock; /* owned; NULL: not a witness */
};

struct slicing {
    const struct trace_set *set;
    const struct slice_wish *wish;
    struct slice *slice;
    size_t anchor_count;
    struct anchor anchor[ANCHORS_MOST];
    uint64_t *own;            /* by place: candidates so far */
    uint64_t *end_ns;         /* by place: the last that is known */
    uint64_t total;           /* of the first walk */
    struct slice_event *heap; /* the dearest first */
    size_t heaped;
    size_t faults; /* told in the second walk */
};

bool slice_is_note(const struct slice_event *event, unsigned note)
{
    return event->record->kind == RECORD_NOTE && (unsigned)event->record->tag == note;
}

bool slice_is_fault(const struct slice_event *event, unsigned fault)
{
    return event->record->kind == RECORD_FAULT && event->record->comm == fault;
}

bool slice_is_done_to_job(const struct record *record)
{
    return record->kind == RECORD_FAULT && record->comm != FAULT_AWAITED &&
           record->comm != FAULT_RELEASED && record->comm != FAULT_CONTINUED;
}

/* --- what is to be explained ------------------------------------------------------------------ */

static void add_anchor(struct slicing *slicing, const struct event_ref *event, bool witness)
{
    const struct trace *trace = trace_set_find(slicing->set, event->rank, event->incarnation);
    uint64_t above;
    if (trace == NULL || event->index >= trace->count || slicing->anchor_count == ANCHORS_MOST)
        return;
    struct anchor *anchor = &slicing->anchor[slicing->anchor_count++];
    const struct record *record = &trace->record[event->index];
    *anchor = (struct anchor){
        .event = *event, .place = (size_t)(trace - slicing->set->trace), .witness = witness};
    if (fold_above(trace, event->index, &above))
        anchor->event.index = above;
    anchor->until = record->leave > record->enter ? record->leave : record->enter;
}

/* What its rank knew by the end of the call: a delivery is entered before its message is there. */
static void note_anchor(const struct slicing *slicing, struct anchor *anchor,
                        const struct walk_event *event)
{
    size_t bytes = slicing->set->count * sizeof *event->clock;
    bool first = !anchor->seen && event->index >= anchor->event.index;
    bool inside = event->index <= anchor->event.index || event->record->enter <= anchor->until;
    if (first) {
        anchor->seen = true;
        anchor->ordinal = event->ordinal;
        anchor->found = event->index;
    }
    if (!anchor->witness || !inside)
        return;
    anchor->clock = memory_resized(anchor->clock, 1, bytes);
    memcpy(anchor->clock, event->clock, bytes);
}

static bool look_at(void *context, const struct walk_event *event)
{
    struct slicing *slicing = context;
    uint64_t end = event->leave_ns > event->enter_ns ? event->leave_ns : event->enter_ns;
    if (end > slicing->end_ns[event->place])
        slicing->end_ns[event->place] = end;
    slicing->slice->has_app |= event->record->level == LEVEL_APP;
    for (size_t i = 0; i < slicing->anchor_count; i++)
        if (slicing->anchor[i].place == event->place)
            note_anchor(slicing, &slicing->anchor[i], event);
    return true;
}

/* --- what is kept ----------------------------------------------------------------------------- */

static double distance(const struct slicing *slicing, uint64_t ordinal)
{
    double best = (double)(slicing->total - ordinal); /* no anchor: the end of the run */
    bool any = false;
    for (size_t i = 0; i < slicing->anchor_count; i++) {
        const struct anchor *anchor = &slicing->anchor[i];
        if (!anchor->seen)
            continue;
        double away = (double)(anchor->ordinal > ordinal ? anchor->ordinal - ordinal
                                                         : ordinal - anchor->ordinal);
        if (!any || away < best)
            best = away;
        any = true;
    }
    return best + 1;
}

static bool is_line_note(unsigned note)
{
    return note == NOTE_CHECKPOINT || note == NOTE_SAVED || note == NOTE_COMMIT ||
           note == NOTE_RESTORED || note == NOTE_STOP_LOG || note == NOTE_INITIATED;
}

static double weight(const struct record *record)
{
    if (record->kind != RECORD_NOTE && record->kind != RECORD_FAULT &&
        (raised_text(record->error) != NULL || record->call == CALL_MPIX_Comm_revoke ||
         record->call == CALL_MPIX_Comm_failure_get_acked ||
         record->call == CALL_MPIX_Comm_get_failed))
        return COST_NOTE; /* of a death */
    switch ((unsigned)record->kind) {
    case RECORD_FAULT:
        return COST_LINE;
    case RECORD_NOTE:
        if (record->tag == NOTE_PHASE || record->tag == NOTE_HANDLE)
            return COST_CALL;
        return is_line_note((unsigned)record->tag) || record->tag == NOTE_BECOMES ? COST_LINE
                                                                                  : COST_NOTE;
    case RECORD_SEND:
    case RECORD_COLLECTIVE:
        return 1;
    case RECORD_RECV:
        return record->request != 0 && !(record->flags & FLAG_MATCHED) ? COST_CALL : 1;
    case RECORD_COMPLETE:
        return record->comm == 0 || (record->flags & FLAG_NEGATIVE) ? COST_CALL : 1;
    default:
        return COST_CALL;
    }
}

static bool is_witness(const struct slicing *slicing, const struct walk_event *event)
{
    for (size_t i = 0; i < slicing->anchor_count; i++)
        if (slicing->anchor[i].witness && slicing->anchor[i].place == event->place &&
            slicing->anchor[i].event.index == event->index)
            return true;
    return false;
}

static bool is_near(const struct slicing *slicing, const struct walk_event *event)
{
    for (size_t i = 0; i < slicing->anchor_count; i++)
        if (!slicing->anchor[i].witness && slicing->anchor[i].seen &&
            slicing->anchor[i].place == event->place && slicing->anchor[i].found == event->index)
            return true;
    return false;
}

static bool is_related(const struct slicing *slicing, const struct walk_event *event)
{
    for (size_t i = 0; i < slicing->anchor_count; i++) {
        const uint64_t *clock = slicing->anchor[i].clock;
        if (clock != NULL && clock[event->place] >= event->clock[event->place])
            return true;
    }
    return false;
}

/* Sinks what stands at `at` below what is dearer. */
static void sink(struct slicing *slicing, size_t at)
{
    struct slice_event *heap = slicing->heap, moved = heap[at];
    for (size_t child = 2 * at + 1; child < slicing->heaped; child = 2 * at + 1) {
        if (child + 1 < slicing->heaped && heap[child + 1].cost > heap[child].cost)
            child++;
        if (heap[child].cost <= moved.cost)
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = moved;
}

static void keep(struct slicing *slicing, const struct slice_event *event)
{
    if (slicing->heaped < slicing->wish->most) {
        slicing->heap[slicing->heaped++] = *event;
        if (slicing->heaped == slicing->wish->most)
            for (size_t at = slicing->heaped / 2; at > 0; at--)
                sink(slicing, at - 1);
    } else if (event->cost < slicing->heap[0].cost) {
        slicing->heap[0] = *event;
        sink(slicing, 0);
    }
}

/* A call without an end goes on for as long as anything is known of its rank. */
static uint64_t point_of(const struct slicing *slicing, const struct walk_event *event)
{
    if (event->record->kind == RECORD_NOTE || event->record->kind == RECORD_FAULT)
        return event->enter_ns;
    return event->in_progress ? slicing->end_ns[event->place] : event->leave_ns;
}

static bool weigh(void *context, const struct walk_event *event)
{
    struct slicing *slicing = context;
    uint64_t above;
    if (fold_above(event->trace, event->index, &above))
        return true;
    struct slice_event one = {.trace = event->trace,
                              .place = event->place,
                              .index = event->index,
                              .record = event->record,
                              .enter_ns = event->enter_ns,
                              .leave_ns = event->leave_ns,
                              .point_ns = point_of(slicing, event),
                              .in_progress = event->in_progress,
                              .witness = is_witness(slicing, event),
                              .near = is_near(slicing, event),
                              .fault = slice_is_done_to_job(event->record) &&
                                       slicing->faults++ < SLICE_FAULTS_MOST,
                              .own = slicing->own[event->place]++};
    one.related = one.witness || is_related(slicing, event);
    one.away = distance(slicing, event->ordinal);
    one.cost = one.witness || one.fault ? 0 : one.away * weight(event->record);
    if (!one.related)
        one.cost *= COST_FAR;
    keep(slicing, &one);
    return true;
}

/* --- in the end ------------------------------------------------------------------------------- */

/* A rank's death is the last of it. */
static bool is_death(const struct slice_event *event)
{
    return (slice_is_fault(event, FAULT_KILL) || slice_is_fault(event, FAULT_KILL_INSIDE)) &&
           event->record->peer == event->trace->rank;
}

static int by_own(const void *left, const void *right)
{
    const struct slice_event *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->own > b->own) - (a->own < b->own);
}

static int by_point(const void *left, const void *right)
{
    const struct slice_event *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    if (is_death(a) != is_death(b))
        return is_death(a) ? 1 : -1;
    if (a->point_ns != b->point_ns)
        return a->point_ns < b->point_ns ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int by_place(const void *left, const void *right)
{
    const struct slice_key *a = left, *b = right;
    if (a->place != b->place)
        return a->place < b->place ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static void make_keys(struct slice *slice)
{
    slice->key = memory_new(2 * slice->count, sizeof *slice->key);
    for (size_t i = 0; i < slice->count; i++) {
        const struct slice_event *event = &slice->event[i];
        slice->key[slice->key_count++] = (struct slice_key){event->place, event->index, i};
        if (event->has_below)
            slice->key[slice->key_count++] = (struct slice_key){event->place, event->below, i};
    }
    if (slice->key_count > 0)
        qsort(slice->key, slice->key_count, sizeof *slice->key, by_place);
}

static void finish(struct slicing *slicing)
{
    struct slice *slice = slicing->slice;
    slice->event = slicing->heap;
    slice->count = slicing->heaped;
    slicing->heap = NULL;
    qsort(slice->event, slice->count, sizeof *slice->event, by_own);
    for (size_t i = 0; i < slice->count; i++) {
        struct slice_event *event = &slice->event[i];
        bool first = i == 0 || event[-1].place != event->place;
        event->gap = event->own != (first ? 0 : event[-1].own + 1);
        event->has_below = fold_below(event->trace, event->index, &event->below);
        slice->shown += 1 + (uint64_t)event->has_below;
    }
    qsort(slice->event, slice->count, sizeof *slice->event, by_point);
    make_keys(slice);
}

/* Without a witness: the faults, if there were any. */
static bool find_faults(void *context, const struct walk_event *event)
{
    struct slicing *slicing = context;
    struct event_ref at = event_of(event->trace, event->index);
    if (slice_is_done_to_job(event->record))
        add_anchor(slicing, &at, false);
    return look_at(context, event);
}

static void begin(struct slicing *slicing)
{
    size_t count = slicing->set->count;
    slicing->own = memory_new(count, sizeof *slicing->own);
    slicing->end_ns = memory_new(count, sizeof *slicing->end_ns);
    slicing->heap = memory_new(slicing->wish->most, sizeof *slicing->heap);
    for (size_t i = 0; i < slicing->wish->witness_count; i++)
        add_anchor(slicing, &slicing->wish->witness[i], true);
    for (size_t i = 0; i < slicing->wish->near_count; i++)
        add_anchor(slicing, &slicing->wish->near[i], false);
}

void slice_read(const struct trace_set *set, const struct links *links,
                const struct slice_wish *wish, struct slice *slice)
{
    struct slicing slicing = {.set = set, .wish = wish, .slice = slice};
    *slice = (struct slice){.set = set};
    begin(&slicing);
    struct walk walk = {.context = &slicing,
                        .event = slicing.anchor_count > 0 ? look_at : find_faults};
    struct walk_seen seen = walk_run(links, &walk);
    slicing.total = slice->total = seen.told;
    slice->forced = seen.forced;
    walk.event = weigh;
    (void)walk_run(links, &walk);
    finish(&slicing);
    for (size_t i = 0; i < slicing.anchor_count; i++)
        free(slicing.anchor[i].clock);
    free(slicing.own);
    free(slicing.end_ns);
}

void slice_release(struct slice *slice)
{
    free(slice->event);
    free(slice->key);
    *slice = (struct slice){0};
}

size_t slice_find(const struct slice *slice, const struct event_ref *event)
{
    const struct trace *trace = trace_set_find(slice->set, event->rank, event->incarnation);
    if (trace == NULL || slice->key_count == 0)
        return SLICE_NONE;
    struct slice_key wanted = {(size_t)(trace - slice->set->trace), event->index, 0};
    const struct slice_key *key =
        bsearch(&wanted, slice->key, slice->key_count, sizeof wanted, by_place);
    return key != NULL ? key->at : SLICE_NONE;
}
