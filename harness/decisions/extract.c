/* See extract.h. Each trace becomes a section: its events (extract_event) and what was done to the
 * run at them (extract_action), in the order of the records, and how the rank ended. What many
 * events have in common is a *shape*, kept once for all; so are the texts of paths. All arrays of
 * the run are then laid one after the other into one block (assemble), which is the file's form as
 * well.
 *
 * Sections are independent of each other, except for calls on the store: if rank 1 read a file that
 * rank 0 had written, a replay must keep that order. order_find gives, for a call, how many calls
 * another rank had made before ("rank 0: 5"); the replay waits for that. What follows from that of
 * an earlier call is left out.
 *
 * Calls on the store by a background thread come at another place among the rank's events each
 * time. Such a rank is followed without its calls on the store (is_without_store), unless the plan
 * did something to one of them.
 *
 * Cost: each record once, a sort of the store's calls. */
#include "decisions/extract.h"

#include "base/memory.h"
#include "base/whole_file.h"
#include "decisions/extract_parts.h"
#include "decisions/order.h"
#include "trace/calls.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>

/* --- whether the store is followed ------------------------------------------------------------ */
/* Calls on the store by a thread that does not make all the others: a run in which the store is not
 * looked at can be followed. Unless the plan did something to one of them. */
static bool is_without_store(const struct trace *trace)
{
    bool any = false, mixed = false, stores = false;
    uint16_t thread = 0;
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (extract_kind(record) == RECORD_FAULT && record->comm == FAULT_STORAGE)
            return false;
        if (!decision_is_event(record))
            continue;
        mixed |= any && record->thread != thread;
        stores |= extract_kind(record) == RECORD_STORAGE;
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
    if (is_last_call_abort(trace) || (end != NULL && (end->aborted || end->by_itself)))
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
    struct decision_section *section = parts_add(&all->section, 1, all->error);
    if (section == NULL)
        return all->error->code;
    struct reading *reading = memory_new(1, sizeof *reading);
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
        if (reading->without_store && extract_kind(record) == RECORD_STORAGE)
            continue;
        if (decision_is_event(record))
            code = extract_event(reading, i);
        else if (extract_kind(record) == RECORD_FAULT)
            code = extract_action(reading, record);
    }
    extract_events_ahead(reading, section);
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
    struct found_order *found = parts_add(&orders->found, 1, orders->error);
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
        struct decision_order *order = parts_add(&all->order, 1, all->error);
        good = order != NULL;
        if (!good)
            break;
        *order = found[i].order;
        if (section->orders++ == 0)
            section->first_order = i;
    }
    parts_release(&orders.found);
    return good ? OK : all->error->code;
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
    struct decisions_header *header = memory_new(1, bytes);
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
    table_release(&all->known_shape);
    table_release(&all->known_text);
    parts_release(&all->section);
    parts_release(&all->shape);
    parts_release(&all->event);
    parts_release(&all->action);
    parts_release(&all->order);
    parts_release(&all->text);
    parts_release(&all->stored);
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
