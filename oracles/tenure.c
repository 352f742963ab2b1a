/* See tenure.h. Walks the chain of notes, so that it costs what there are notes; where a process
 * moved, what it did before its first note is looked at as well. */
#include "oracles/tenure.h"

#include "oracles/history.h"
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
    if (tenure.rank < tenures->ranks)
        tenures->application[tenure.rank] = true;
    return OK;
}

/* The program did something before record `to`, or was free to: MPI_Init had returned. */
static bool program_ran(const struct trace *trace, uint64_t to)
{
    for (uint64_t at = 0; at < to; at++) {
        const struct record *record = &trace->record[at];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind == RECORD_NONE || kind == RECORD_GROUP || kind == RECORD_TEXT ||
            record->level != LEVEL_APP)
            continue;
        bool begins = record->call == CALL_MPI_Init || record->call == CALL_MPI_Init_thread;
        uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
        if (kind != RECORD_CALL || (begins && leave != 0 && leave < trace->record[to].enter))
            return true;
    }
    return false;
}

/* From the newest note back: `to` is where the one behind it begins. */
static enum error_code read_trace(struct tenures *tenures, const struct trace *trace,
                                  struct error *error)
{
    enum error_code code = OK;
    uint64_t at = trace->count;
    uint64_t to = at, first = at;
    bool told = false;
    while (code == OK && note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        if (note->tag != NOTE_BECOMES)
            continue;
        told = true;
        if (note->bytes < (uint64_t)tenures->ranks)
            code = add(tenures, (struct tenure){trace, (int)note->bytes, at + 1, to, note->enter},
                       error);
        to = first = at;
    }
    tenures->moved |= told;
    if (code == OK && (!told || program_ran(trace, first)))
        code = add(tenures, (struct tenure){trace, trace->rank, 0, to, trace->header->start_ticks},
                   error);
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
    bool *began = calloc((size_t)traces->ranks + 1, sizeof *began);
    if (tenures->application == NULL || began == NULL)
        code = error_set(error, ERROR_MEMORY, "no memory for %d ranks", traces->ranks);
    for (size_t i = 0; i < traces->count && code == OK; i++) {
        began[traces->trace[i].rank] = true;
        code = read_trace(tenures, &traces->trace[i], error);
    }
    for (int rank = 0; rank < traces->ranks && code == OK; rank++)
        tenures->application[rank] |= !began[rank];
    if (tenures->count > 1)
        qsort(tenures->tenure, tenures->count, sizeof *tenures->tenure, by_time);
    free(began);
    return code;
}

void tenures_release(struct tenures *tenures)
{
    free(tenures->tenure);
    free(tenures->application);
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
