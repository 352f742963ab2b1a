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

#include "decisions/order.h"
#include "trace/calls.h"

#define HASH_NONFATAL_OOM 1 /* what could not be added has no table */
#include <uthash.h>

#define IN_PROGRESS_MAX 4096 /* events of one rank at a time */
#define FILE_BYTES 256       /* of a path; longer ones are cut */

/* A shape that is there already. */
struct known_shape {
    struct decision_shape shape;
    uint32_t index;
    UT_hash_handle hh;
};

/* A path that is in the texts already. */
struct known_text {
    char *text; /* owned */
    uint32_t place;
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
    struct parts section, shape, event, action, order, text;
    struct parts stored;              /* struct store_call, of all ranks */
    struct known_shape *known;        /* owned, each */
    struct known_text *known_text;    /* the same */
    const struct decisions *followed; /* NULL: none */
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
    bool without_store;   /* SECTION_WITHOUT_STORE */
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
/* Where the path stands in the texts, + 1; 0: the error is set. */
static uint32_t place_of_text(struct extraction *all, const char *text)
{
    struct known_text *known = NULL;
    HASH_FIND_STR(all->known_text, text, known);
    if (known != NULL)
        return known->place;
    uint32_t place = all->text.count + 1;
    for (const char *at = text; at == text || at[-1] != '\0'; at++) {
        char *stored = add_part(&all->text, all->error);
        if (stored == NULL)
            return 0;
        *stored = *at;
    }
    known = calloc(1, sizeof *known);
    if (known != NULL)
        known->text = strdup(text);
    if (known == NULL || known->text == NULL) {
        free(known);
        error_set(all->error, ERROR_MEMORY, "out of memory");
        return 0;
    }
    known->place = place;
    HASH_ADD_KEYPTR(hh, all->known_text, known->text, strlen(known->text), known);
    return place;
}

/* What has waited for its turn began then. */
static bool add_store_call(struct reading *reading, const struct record *record, uint32_t event)
{
    struct store_call *call = add_part(&reading->all->stored, reading->all->error);
    if (call == NULL)
        return false;
    *call = (struct store_call){.rank = reading->trace->rank,
                                .incarnation = reading->trace->incarnation,
                                .section = reading->all->section.count - 1,
                                .event = event,
                                .begin = record->hash != 0 ? record->hash : record->enter,
                                .end = atomic_load(&record->leave)};
    return true;
}

static bool add_storage(struct reading *reading, uint64_t index, struct decision_event *event)
{
    char path[FILE_BYTES];
    const struct record *record = &reading->trace->record[index];
    uint32_t number = reading->all->event.count - 1 - reading->first_event;
    trace_text(reading->trace, index, path, sizeof path);
    event->request = place_of_text(reading->all, path);
    if (event->request == 0)
        return false;
    if ((record->flags & FLAG_NEGATIVE) != 0)
        return true;
    reading->store_call = number;
    return add_store_call(reading, record, number);
}

static unsigned kind_of(const struct record *record)
{
    return atomic_load_explicit(&record->kind, memory_order_relaxed);
}

/* Calls on the store by a thread that does not make all the others: a run in which the store is not
 * looked at can be followed. Unless the plan did something to one of them. */
static bool is_without_store(const struct trace *trace)
{
    bool any = false, mixed = false, stores = false;
    uint16_t thread = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (kind_of(record) == RECORD_FAULT && record->comm == FAULT_STORAGE)
            return false;
        if (!decision_is_event(record))
            continue;
        mixed |= any && record->thread != thread;
        stores |= kind_of(record) == RECORD_STORAGE;
        thread = record->thread;
        any = true;
    }
    return mixed && stores;
}

/* As in the run that is followed, if there is one. */
static bool leaves_store_out(const struct extraction *all, const struct trace *trace)
{
    const struct decision_section *section =
        all->followed != NULL ? decisions_find(all->followed, trace->rank, trace->incarnation)
                              : NULL;
    return section != NULL ? (section->flags & SECTION_WITHOUT_STORE) != 0
                           : is_without_store(trace);
}

/* --- all events ------------------------------------------------------------------------------- */
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
    reading->without_store = leaves_store_out(all, trace);
    enum error_code code = OK;
    for (uint64_t i = 0; code == OK && i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (reading->without_store && kind_of(record) == RECORD_STORAGE)
            continue;
        if (decision_is_event(record))
            code = read_event(reading, i);
        else if (kind_of(record) == RECORD_FAULT)
            code = read_action(reading, record);
    }
    find_events_ahead(reading, section);
    section->events = all->event.count - section->first_event;
    section->actions = all->action.count - section->first_action;
    section->incomplete = count_incomplete(reading);
    section->flags = reading->without_store ? SECTION_WITHOUT_STORE : 0;
    free(reading);
    return code;
}

/* --- orders ----------------------------------------------------------------------------------- */
/* Found in the order of time; then they are sorted. */
struct found_order {
    uint32_t section;
    struct decision_order order;
};

struct orders {
    struct parts found;
    struct error *error;
};

static bool add_order(void *context, const struct store_call *call, int32_t rank, uint32_t stored)
{
    struct orders *orders = context;
    struct found_order *found = add_part(&orders->found, orders->error);
    if (found == NULL)
        return false;
    *found = (struct found_order){call->section, {call->event, rank, stored}};
    return true;
}

static int by_place(const void *left, const void *right)
{
    const struct found_order *a = left, *b = right;
    if (a->section != b->section)
        return a->section < b->section ? -1 : 1;
    if (a->order.event != b->order.event)
        return a->order.event < b->order.event ? -1 : 1;
    return (a->order.rank > b->order.rank) - (a->order.rank < b->order.rank);
}

static enum error_code read_orders(struct extraction *all, int ranks)
{
    struct orders orders = {.found = {.each = sizeof(struct found_order),
                                      .most = DECISIONS_MAX_ORDERS,
                                      .what = "orders"},
                            .error = all->error};
    bool good = order_find(all->stored.data, all->stored.count, ranks, add_order, &orders);
    struct found_order *found = orders.found.data;
    if (good && orders.found.count > 0)
        qsort(found, orders.found.count, sizeof *found, by_place);
    for (uint32_t i = 0; good && i < orders.found.count; i++) {
        struct decision_section *section =
            (struct decision_section *)all->section.data + found[i].section;
        struct decision_order *order = add_part(&all->order, all->error);
        good = order != NULL;
        if (!good)
            break;
        *order = found[i].order;
        if (section->orders++ == 0)
            section->first_order = i;
    }
    free(orders.found.data);
    return good ? OK
                : (all->error->code != OK ? all->error->code
                                          : error_set(all->error, ERROR_MEMORY, "out of memory"));
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
    const struct parts *const parts[] = {&all->section, &all->shape, &all->event,
                                         &all->action,  &all->order, &all->text};
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
    header->orders = all->order.count;
    header->texts = all->text.count;
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
    struct known_text *text, *after;
    HASH_ITER(hh, all->known_text, text, after)
    {
        HASH_DEL(all->known_text, text);
        free(text->text);
        free(text);
    }
    free(all->section.data);
    free(all->shape.data);
    free(all->event.data);
    free(all->action.data);
    free(all->order.data);
    free(all->text.data);
    free(all->stored.data);
}

enum error_code decisions_extract(const struct trace_set *traces, const struct run_facts *facts,
                                  const struct decisions_identity *identity, uint64_t seed,
                                  const struct decisions *followed, struct decisions *decisions,
                                  struct error *error)
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
        .order = {.each = sizeof(struct decision_order),
                  .most = DECISIONS_MAX_ORDERS,
                  .what = "orders"},
        .text = {.each = 1, .most = DECISIONS_MAX_TEXTS, .what = "bytes of paths"},
        .stored = {.each = sizeof(struct store_call),
                   .most = DECISIONS_MAX_EVENTS,
                   .what = "calls on the store"},
        .followed = followed,
        .facts = facts,
        .error = error != NULL ? error : &own,
    };
    memset(decisions, 0, sizeof *decisions);
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < traces->count; i++)
        code = read_trace(&all, &traces->trace[i]);
    if (code == OK)
        code = read_orders(&all, traces->ranks);
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
