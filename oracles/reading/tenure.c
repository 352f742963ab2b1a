/* See tenure.h. Walks the chain of notes, so that it costs what there are notes; where a process
 * moved, what it did before its first note is looked at as well. */
#include "oracles/reading/tenure.h"

#include "oracles/reading/history.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

static enum error_code add(struct tenures *tenures, struct tenure tenure, struct error *error)
{
    struct tenure *grown = realloc(tenures->tenure, (tenures->count + 1) * sizeof *tenures->tenure);
    if (grown == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for who was rank %d", tenure.rank);
    tenures->tenure = grown;
    grown[tenures->count++] = tenure;
    return OK;
}

static bool is_init(const struct record *record)
{
    return record->call == CALL_MPI_Init || record->call == CALL_MPI_Init_thread;
}

static uint64_t left(const struct record *record)
{
    return atomic_load_explicit(&record->leave, memory_order_acquire);
}

/* MPI_Init, or what the program did without it, if that is before record `to`; else NULL. */
static const struct record *begin(const struct trace *trace, uint64_t to)
{
    for (uint64_t at = 0; at < to; at++) {
        const struct record *record = &trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind == RECORD_NONE || kind == RECORD_GROUP || kind == RECORD_TEXT ||
            record->level != LEVEL_APP)
            continue;
        if (kind != RECORD_CALL || is_init(record))
            return record;
    }
    return NULL;
}

/* The program did something before record `to`, or was free to. */
static bool program_ran(const struct trace *trace, uint64_t to)
{
    const struct record *record = begin(trace, to);
    return record != NULL &&
           (!is_init(record) || (left(record) != 0 && left(record) < trace->record[to].enter));
}

/* What may come before MPI_Init: faults, the store, a phase of the program, a draw. */
static bool may_precede_init(const struct record *record)
{
    switch (atomic_load_explicit(&record->kind, memory_order_acquire)) {
    case RECORD_NOTE:
        return record->tag == NOTE_PHASE || record->tag == NOTE_DRAWN;
    case RECORD_NONE:
    case RECORD_GROUP:
    case RECORD_TEXT:
    case RECORD_FAULT:
    case RECORD_STORAGE:
        return true;
    default:
        return false;
    }
}

/* It died before MPI_Init returned, so it may have been in reserve and not have told so yet. */
static bool died_at_start(const struct trace *trace)
{
    const struct record *record = begin(trace, trace->count);
    uint64_t at = 0;
    if (record != NULL)
        return is_init(record) && left(record) == 0;
    while (at < trace->count && may_precede_init(&trace->record[at]))
        at++;
    return at == trace->count;
}

/* From the newest note back: `to` is where the one behind it begins. `told` by number: some trace
 * of that process shows what it was. */
static enum error_code read_trace(struct tenures *tenures, const struct trace *trace, bool *told,
                                  struct error *error)
{
    enum error_code code = OK;
    uint64_t at = trace->count;
    uint64_t to = at, first = at;
    bool becomes = false;
    while (code == OK && note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        if (note->tag != NOTE_BECOMES)
            continue;
        becomes = true;
        if (note->bytes < (uint64_t)tenures->ranks) {
            code = add(tenures, (struct tenure){trace, (int)note->bytes, at + 1, to, note->enter},
                       error);
            tenures->application[note->bytes] = true;
        }
        to = first = at;
    }
    bool shows = becomes || !died_at_start(trace);
    tenures->moved |= becomes;
    told[trace->rank] |= shows;
    if (code == OK && (!becomes || program_ran(trace, first))) {
        code = add(tenures, (struct tenure){trace, trace->rank, 0, to, trace->header->start_ticks},
                   error);
        tenures->application[trace->rank] |= shows;
    }
    return code;
}

static int by_time(const void *left, const void *right)
{
    const struct tenure *a = left;
    const struct tenure *b = right;
    if (a->trace->incarnation != b->trace->incarnation)
        return a->trace->incarnation < b->trace->incarnation ? -1 : 1;
    if (a->since != b->since)
        return a->since < b->since ? -1 : 1;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

enum error_code tenures_read(const struct trace_set *traces, struct tenures *tenures,
                             struct error *error)
{
    enum error_code code = OK;
    *tenures = (struct tenures){.ranks = traces->ranks};
    tenures->application = calloc((size_t)traces->ranks + 1, sizeof *tenures->application);
    tenures->helper = calloc((size_t)traces->ranks + 1, sizeof *tenures->helper);
    bool *told = calloc((size_t)traces->ranks + 1, sizeof *told);
    if (tenures->application == NULL || tenures->helper == NULL || told == NULL)
        code = error_set(error, ERROR_MEMORY, "no memory for %d ranks", traces->ranks);
    for (int rank = 0; rank < traces->ranks && code == OK; rank++)
        tenures->helper[rank] = trace_set_is_helper(traces, rank);
    for (size_t i = 0; i < traces->count && code == OK; i++)
        if (!tenures->helper[traces->trace[i].rank])
            code = read_trace(tenures, &traces->trace[i], told, error);
    for (int rank = 0; rank < traces->ranks && code == OK; rank++)
        tenures->application[rank] |= !told[rank] && !tenures->helper[rank];
    if (tenures->count > 1)
        qsort(tenures->tenure, tenures->count, sizeof *tenures->tenure, by_time);
    free(told);
    return code;
}

void tenures_release(struct tenures *tenures)
{
    free(tenures->tenure);
    free(tenures->application);
    free(tenures->helper);
    *tenures = (struct tenures){0};
}

const struct tenure *tenures_newest(const struct tenures *tenures, int rank, int incarnation,
                                    const struct tenure *before)
{
    size_t at = before != NULL ? (size_t)(before - tenures->tenure) : tenures->count;
    while (at-- > 0)
        if (tenures->tenure[at].rank == rank &&
            tenures->tenure[at].trace->incarnation <= incarnation)
            return &tenures->tenure[at];
    return NULL;
}

int tenures_rank(const struct tenures *tenures, struct event_ref event)
{
    for (size_t i = 0; i < tenures->count; i++) {
        const struct tenure *tenure = &tenures->tenure[i];
        if (tenure->trace->rank == event.rank && tenure->trace->incarnation == event.incarnation &&
            event.index >= tenure->from && event.index < tenure->to)
            return tenure->rank;
    }
    return -1;
}
