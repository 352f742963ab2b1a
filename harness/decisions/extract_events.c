/* See extract_parts.h. */
#include "decisions/extract_parts.h"

#include <string.h>

#define FILE_BYTES 256 /* of a path; longer ones are cut */

/* --- events ----------------------------------------------------------------------------------- */
static bool is_complete(const struct record *record)
{
    return atomic_load_explicit(&record->leave, memory_order_relaxed) != 0;
}

/* What the non-blocking receive of `request` came to: its completion, from record `from` on; NULL:
 * the program never saw one. */
static const struct record *find_completion(const struct trace *trace, uint64_t from,
                                            const struct record *posted)
{
    for (uint64_t i = from; i < trace->count; i++) {
        const struct record *r = &trace->record[i];
        if (atomic_load_explicit(&r->kind, memory_order_relaxed) == RECORD_COMPLETE &&
            r->level == posted->level && r->request == posted->request && is_complete(r) &&
            (r->flags & (FLAG_NEGATIVE | FLAG_FREED)) == 0)
            return r;
    }
    return NULL;
}

static bool is_open_receive(const struct record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_relaxed) == RECORD_RECV &&
           record->level == LEVEL_WIRE && record->request != 0 &&
           (record->flags & (FLAG_MATCHED | FLAG_PERSISTENT)) == 0 &&
           (record->want_peer == PEER_ANY || record->want_tag == TAG_ANY);
}

/* The wildcards of a non-blocking receive are decided when it is posted: looked up ahead. */
static void resolve(const struct trace *trace, uint64_t index, struct decision_shape *shape)
{
    const struct record *posted = &trace->record[index];
    if (!is_open_receive(posted) || (shape->state & SHAPE_INCOMPLETE) != 0)
        return;
    const struct record *done = find_completion(trace, index + 1, posted);
    if (done == NULL || done->peer < 0 || (done->flags & FLAG_CANCELLED) != 0)
        return;
    shape->state |= SHAPE_RESOLVED;
    shape->peer = done->peer;
    shape->tag = done->tag;
}

static uint32_t value_of(const struct record *record, const struct decision_shape *shape)
{
    if (decision_is_negative(shape))
        return record->bytes < UINT32_MAX ? (uint32_t)record->bytes : UINT32_MAX;
    if ((shape->state & SHAPE_INCOMPLETE) != 0)
        return shape->kind == RECORD_STORAGE && record->hash != STORAGE_NOT_BEGUN;
    uint64_t hash = shape->kind != RECORD_STORAGE ? record->hash : 0; /* there it is a time */
    if (shape->kind == RECORD_COLLECTIVE)
        hash ^= record->result_hash;
    return (uint32_t)(hash ^ hash >> 32);
}

/* Counts what has been completed by `ticks`. */
static void complete_until(struct reading *reading, uint64_t ticks)
{
    unsigned kept = 0;
    for (unsigned i = 0; i < reading->in_progress_count; i++) {
        const struct record *r = &reading->trace->record[reading->in_progress[i]];
        uint64_t leave = atomic_load_explicit(&r->leave, memory_order_relaxed);
        if (leave != 0 && leave <= ticks)
            reading->completed++;
        else
            reading->in_progress[kept++] = reading->in_progress[i];
    }
    reading->in_progress_count = kept;
}

/* A trace in which two threads were inside calls of one level at a time: what came first is then
 * nobody's decision. */
static bool overlaps(const struct reading *reading, const struct record *record)
{
    for (unsigned i = 0; i < reading->in_progress_count; i++) {
        const struct record *other = &reading->trace->record[reading->in_progress[i]];
        if (other->thread != record->thread && other->level == record->level)
            return true;
    }
    return false;
}

static enum error_code begin_event(struct reading *reading, uint64_t index)
{
    const struct record *record = &reading->trace->record[index];
    struct error *error = reading->all->error;
    complete_until(reading, record->enter);
    if (overlaps(reading, record))
        return error_set(error, ERROR_FORMAT,
                         "several threads of rank %d were inside MPI at once (r%d#%d:e%llu): the "
                         "order of their calls is not kept",
                         reading->trace->rank, reading->trace->rank, reading->trace->incarnation,
                         (unsigned long long)index);
    if (reading->in_progress_count == IN_PROGRESS_MAX)
        return error_set(error, ERROR_LIMIT, "more than %d calls of rank %d in progress at once",
                         IN_PROGRESS_MAX, reading->trace->rank);
    reading->in_progress[reading->in_progress_count++] = index;
    reading->begun++;
    return OK;
}

/* --- calls on the store ----------------------------------------------------------------------- */
/* A call that was in progress when its rank was killed has most often taken effect, for the kernel
 * finishes what it is doing: calls that began later come after it. */
static bool add_store_call(struct reading *reading, const struct record *record, uint32_t event)
{
    uint64_t leave = atomic_load(&record->leave);
    uint64_t begin = record->hash != 0 ? record->hash : record->enter; /* 0: of an older trace */
    if (record->hash == STORAGE_NOT_BEGUN)
        return true;
    struct store_call *call = parts_add(&reading->all->stored, 1, reading->all->error);
    if (call == NULL)
        return false;
    *call = (struct store_call){.rank = reading->trace->rank,
                                .incarnation = reading->trace->incarnation,
                                .section = reading->all->section.count - 1,
                                .event = event,
                                .begin = begin,
                                .end = leave != 0 ? leave : begin + 1};
    return true;
}

static bool add_storage(struct reading *reading, uint64_t index, struct decision_event *event)
{
    char path[FILE_BYTES];
    const struct record *record = &reading->trace->record[index];
    uint32_t number = reading->all->event.count - 1 - reading->first_event;
    trace_text(reading->trace, index, path, sizeof path);
    if (!parts_place(&reading->all->text, &reading->all->known_text, path,
                     (uint32_t)strlen(path) + 1, &event->request, reading->all->error))
        return false;
    event->request++;
    if ((record->flags & FLAG_NEGATIVE) != 0)
        return true;
    reading->store_call = number;
    return add_store_call(reading, record, number);
}

/* --- all events ------------------------------------------------------------------------------- */
enum error_code extract_event(struct reading *reading, uint64_t index)
{
    struct extraction *all = reading->all;
    const struct record *record = &reading->trace->record[index];
    struct decision_shape shape;
    uint32_t number;
    decision_shape_of(record, is_complete(record), &shape);
    resolve(reading->trace, index, &shape);
    if (index > UINT32_MAX || (decision_is_negative(&shape) && record->bytes >= UINT32_MAX))
        return error_set(all->error, ERROR_LIMIT, "a number beyond 32 bits in the trace of rank %d",
                         reading->trace->rank);
    struct decision_event *event = parts_add(&all->event, 1, all->error);
    if (event == NULL ||
        !parts_place(&all->shape, &all->known_shape, &shape, 1, &number, all->error))
        return all->error->code;
    event->shape = number;
    event->request = decision_request_of(record);
    event->value = value_of(record, &shape);
    event->index = (uint32_t)index;
    if (shape.kind == RECORD_STORAGE && !add_storage(reading, index, event))
        return all->error->code;
    return decision_is_negative(&shape) ? OK : begin_event(reading, index);
}

/* --- actions ---------------------------------------------------------------------------------- */
/* The event made from record number - 1 of the trace. */
static uint32_t event_of(const struct reading *reading, uint64_t number)
{
    const struct decision_event *events = reading->all->event.data;
    uint32_t low = reading->first_event, high = reading->all->event.count;
    while (number > 0 && low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (events[middle].index == number - 1)
            return middle - reading->first_event;
        if (events[middle].index < number - 1)
            low = middle + 1;
        else
            high = middle;
    }
    return DECISION_NO_EVENT;
}

/* A held message that no step of its own holds is after one that is, and will be again. */
static bool is_wanted(struct reading *reading, const struct record *fault)
{
    uint32_t step = (uint32_t)fault->tag + 1;
    bool first = reading->last_killed != step;
    switch (fault->comm) {
    case FAULT_KILL:
    case FAULT_KILL_INSIDE:
    case FAULT_STOPPED:
        reading->last_killed = step;
        return first;
    case FAULT_HELD:
        return fault->request != 0;
    case FAULT_AWAITED:
    case FAULT_RELEASED:
    case FAULT_CHOSEN:
    case FAULT_ANSWERED:
    case FAULT_STORAGE:
    case FAULT_CONTINUED:
        return true;
    default:
        return false;
    }
}

enum error_code extract_action(struct reading *reading, const struct record *fault)
{
    if (!is_wanted(reading, fault))
        return OK;
    struct decision_action *action = parts_add(&reading->all->action, 1, reading->all->error);
    if (action == NULL)
        return reading->all->error->code;
    complete_until(reading, fault->enter);
    action->kind = (uint8_t)fault->comm;
    action->error = fault->error;
    action->step = (uint16_t)fault->tag;
    action->peer = fault->peer;
    action->begun = reading->begun;
    action->completed = reading->completed;
    action->number = fault->request;
    action->event = DECISION_NO_EVENT;
    if (fault->comm == FAULT_STORAGE)
        action->event = reading->store_call;
    else if (fault->comm == FAULT_HELD || fault->comm == FAULT_RELEASED ||
             fault->comm == FAULT_CHOSEN || fault->comm == FAULT_ANSWERED)
        action->event = event_of(reading, fault->bytes);
    return OK;
}

void extract_events_ahead(struct reading *reading, const struct decision_section *section)
{
    struct decision_action *actions = reading->all->action.data;
    uint32_t next = section->first_action;
    for (uint64_t i = 0; i < reading->trace->count && next < reading->all->action.count; i++) {
        const struct record *r = &reading->trace->record[i];
        if (atomic_load_explicit(&r->kind, memory_order_relaxed) != RECORD_FAULT ||
            r->comm != actions[next].kind || (uint16_t)r->tag != actions[next].step ||
            r->peer != actions[next].peer)
            continue;
        if (actions[next].kind == FAULT_ANSWERED)
            actions[next].event = event_of(reading, r->bytes);
        next++;
    }
}
