/* See extract.h. */
#include "decisions/extract.h"

#include "base/whole_file.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/calls.h"

#define HASH_NONFATAL_OOM 1 /* what could not be added has no table */
#include <uthash.h>

#define IN_PROGRESS_MAX 4096 /* events of one rank at a time */

/* A shape that is there already. */
struct known_shape {
    struct decision_shape shape;
    uint32_t index;
    UT_hash_handle hh;
};

/* A growing array of one kind of part. */
struct parts {
    void *data; /* owned */
    size_t each;
    uint32_t count, room;
    uint32_t most;
    const char *what;
};

struct extraction {
    struct parts section, shape, event, action;
    struct known_shape *known; /* owned, each */
    const struct run_facts *facts;
    struct error *error;
};

/* The trace that is being read. Numbers of events count in its section. */
struct reading {
    struct extraction *all;
    const struct trace *trace;
    uint32_t first_event;
    uint32_t begun, completed;             /* negative polls left out */
    uint64_t in_progress[IN_PROGRESS_MAX]; /* records that were not complete when last looked at */
    unsigned in_progress_count;
    uint32_t store_call;  /* newest event that is one, or DECISION_NO_EVENT */
    uint32_t last_killed; /* step + 1 of the newest kill or stop: it has a record per victim */
};

/* NULL: the error is set. */
static void *add_part(struct parts *parts, struct error *error)
{
    if (parts->count >= parts->most) {
        error_set(error, ERROR_LIMIT, "decisions are kept of runs of up to %u %s", parts->most,
                  parts->what);
        return NULL;
    }
    if (parts->count == parts->room) {
        uint32_t room = parts->room > 0 ? 2 * parts->room : 256;
        void *grown = realloc(parts->data, room * parts->each);
        if (grown == NULL) {
            error_set(error, ERROR_MEMORY, "out of memory");
            return NULL;
        }
        parts->data = grown;
        parts->room = room;
    }
    void *part = (char *)parts->data + parts->count++ * parts->each;
    memset(part, 0, parts->each);
    return part;
}

/* --- events ----------------------------------------------------------------------------------- */
static bool find_shape(struct extraction *all, const struct decision_shape *shape, uint32_t *index)
{
    struct known_shape *known = NULL;
    HASH_FIND(hh, all->known, shape, sizeof *shape, known);
    if (known == NULL) {
        struct decision_shape *stored = add_part(&all->shape, all->error);
        known = stored != NULL ? calloc(1, sizeof *known) : NULL;
        if (known == NULL)
            return false;
        *stored = *shape;
        known->shape = *shape;
        known->index = all->shape.count - 1;
        HASH_ADD(hh, all->known, shape, sizeof known->shape, known);
        if (known->hh.tbl == NULL) {
            free(known);
            return false;
        }
    }
    *index = known->index;
    return true;
}

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
        return 0;
    uint64_t hash = record->hash;
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

static enum error_code read_event(struct reading *reading, uint64_t index)
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
    if (!find_shape(all, &shape, &number))
        return all->error->code != OK ? all->error->code
                                      : error_set(all->error, ERROR_MEMORY, "out of memory");
    struct decision_event *event = add_part(&all->event, all->error);
    if (event == NULL)
        return all->error->code;
    event->shape = number;
    event->request = decision_request_of(record);
    event->value = value_of(record, &shape);
    event->index = (uint32_t)index;
    if (shape.kind == RECORD_STORAGE)
        reading->store_call = all->event.count - 1 - reading->first_event;
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

/* A held message that no step of its own holds is behind one that is, and will be again. */
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

static enum error_code read_action(struct reading *reading, const struct record *fault)
{
    if (!is_wanted(reading, fault))
        return OK;
    struct decision_action *action = add_part(&reading->all->action, reading->all->error);
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

/* The evidence of an answer is written before the poll that it is about has its record. */
static void find_events_ahead(struct reading *reading, const struct decision_section *section)
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

/* --- ranks ------------------------------------------------------------------------------------ */
static const struct rank_end *find_end(const struct run_facts *facts, const struct trace *trace)
{
    for (size_t i = 0; facts != NULL && i < facts->rank_end_count; i++)
        if (facts->rank_ends[i].rank == trace->rank &&
            facts->rank_ends[i].incarnation == trace->incarnation)
            return &facts->rank_ends[i];
    return NULL;
}

/* A signal that nobody sends to clear up. */
static bool is_own_signal(int number)
{
    return number == SIGSEGV || number == SIGABRT || number == SIGBUS || number == SIGFPE ||
           number == SIGILL || number == SIGTRAP;
}

static bool is_last_call_abort(const struct trace *trace)
{
    for (uint64_t i = trace->count; i > 0; i--)
        if (decision_is_event(&trace->record[i - 1]))
            return call_role(trace->record[i - 1].call) == ROLE_ABORT;
    return false;
}

static enum decision_end end_of(const struct run_facts *facts, const struct trace *trace)
{
    const struct rank_end *end = find_end(facts, trace);
    if (end != NULL && end->finalized)
        return DECISION_FINALIZED;
    if (is_last_call_abort(trace) || (end != NULL && end->aborted))
        return DECISION_BY_ITSELF;
    if (end == NULL || !end->known)
        return DECISION_ENDED;
    if (WIFSIGNALED(end->wait_status))
        return is_own_signal(WTERMSIG(end->wait_status)) ? DECISION_BY_ITSELF : DECISION_ENDED;
    return DECISION_BY_ITSELF;
}

static uint32_t count_incomplete(const struct reading *reading)
{
    const struct decision_event *events = reading->all->event.data;
    const struct decision_shape *shapes = reading->all->shape.data;
    uint32_t count = 0;
    for (uint32_t i = reading->first_event; i < reading->all->event.count; i++)
        count += (shapes[events[i].shape].state & SHAPE_INCOMPLETE) != 0;
    return count;
}

static enum error_code read_trace(struct extraction *all, const struct trace *trace)
{
    struct decision_section *section = add_part(&all->section, all->error);
    struct reading *reading = section != NULL ? calloc(1, sizeof *reading) : NULL;
    if (reading == NULL)
        return section == NULL ? all->error->code
                               : error_set(all->error, ERROR_MEMORY, "out of memory");
    *section = (struct decision_section){.rank = trace->rank,
                                         .incarnation = trace->incarnation,
                                         .end = end_of(all->facts, trace),
                                         .first_event = all->event.count,
                                         .first_action = all->action.count};
    reading->all = all;
    reading->trace = trace;
    reading->first_event = all->event.count;
    reading->store_call = DECISION_NO_EVENT;
    enum error_code code = OK;
    for (uint64_t i = 0; code == OK && i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (decision_is_event(record))
            code = read_event(reading, i);
        else if (atomic_load_explicit(&record->kind, memory_order_relaxed) == RECORD_FAULT)
            code = read_action(reading, record);
    }
    find_events_ahead(reading, section);
    section->events = all->event.count - section->first_event;
    section->actions = all->action.count - section->first_action;
    section->incomplete = count_incomplete(reading);
    free(reading);
    return code;
}

/* --- the whole -------------------------------------------------------------------------------- */
static void *append(void *to, const struct parts *parts)
{
    if (parts->count > 0)
        memcpy(to, parts->data, parts->count * parts->each);
    return (char *)to + parts->count * parts->each;
}

static enum error_code assemble(const struct extraction *all, const struct trace_set *traces,
                                const struct decisions_identity *identity, uint64_t seed,
                                struct decisions *decisions)
{
    const struct parts *const parts[] = {&all->section, &all->shape, &all->event, &all->action};
    size_t bytes = sizeof(struct decisions_header);
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        bytes += parts[i]->count * parts[i]->each;
    struct decisions_header *header = calloc(1, bytes);
    if (header == NULL)
        return error_set(all->error, ERROR_MEMORY, "out of memory");
    memcpy(header->magic, DECISIONS_MAGIC, sizeof header->magic);
    header->version = DECISIONS_VERSION;
    header->header_bytes = sizeof *header;
    header->bytes = bytes;
    header->seed = seed;
    header->identity = *identity;
    header->ranks = traces->ranks;
    header->incarnations = traces->incarnations;
    header->sections = all->section.count;
    header->shapes = all->shape.count;
    header->events = all->event.count;
    header->actions = all->action.count;
    void *at = header + 1;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        at = append(at, parts[i]);
    decisions_seal(header);
    enum error_code code = decisions_parse("the run", header, bytes, decisions, all->error);
    if (code != OK)
        free(header);
    return code;
}

static void release(struct extraction *all)
{
    struct known_shape *known, *next;
    HASH_ITER(hh, all->known, known, next)
    {
        HASH_DEL(all->known, known);
        free(known);
    }
    free(all->section.data);
    free(all->shape.data);
    free(all->event.data);
    free(all->action.data);
}

enum error_code decisions_extract(const struct trace_set *traces, const struct run_facts *facts,
                                  const struct decisions_identity *identity, uint64_t seed,
                                  struct decisions *decisions, struct error *error)
{
    struct error own = {0};
    struct extraction all = {
        .section = {.each = sizeof(struct decision_section),
                    .most = DECISIONS_MAX_SECTIONS,
                    .what = "traces"},
        .shape = {.each = sizeof(struct decision_shape),
                  .most = DECISIONS_MAX_SHAPES,
                  .what = "kinds of events"},
        .event = {.each = sizeof(struct decision_event),
                  .most = DECISIONS_MAX_EVENTS,
                  .what = "events"},
        .action = {.each = sizeof(struct decision_action),
                   .most = DECISIONS_MAX_ACTIONS,
                   .what = "faults"},
        .facts = facts,
        .error = error != NULL ? error : &own,
    };
    memset(decisions, 0, sizeof *decisions);
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < traces->count; i++)
        code = read_trace(&all, &traces->trace[i]);
    if (code == OK)
        code = assemble(&all, traces, identity, seed, decisions);
    release(&all);
    return code;
}

void decisions_release(struct decisions *decisions)
{
    if (decisions->mapped > 0)
        munmap(decisions->header, decisions->mapped);
    else
        free(decisions->header);
    memset(decisions, 0, sizeof *decisions);
}

enum error_code decisions_write(const char *path, const struct decisions *decisions,
                                struct error *error)
{
    struct whole_file file;
    enum error_code code = whole_file_begin(&file, path, WHOLE_OURS, error);
    if (code != OK)
        return code;
    fwrite(decisions->header, 1, decisions->header->bytes, file.out);
    return whole_file_end(&file, OK, error);
}
