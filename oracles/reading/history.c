/* See history.h. Walks the notes' chain from the newest back, so that it costs what there are notes
 * and not what there are records. */
#include "oracles/reading/history.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct event_ref event_of(const struct trace *trace, uint64_t index)
{
    return (struct event_ref){trace->rank, trace->incarnation, index};
}

static bool is_note(const struct trace *trace, uint64_t index)
{
    return index < trace->count &&
           atomic_load_explicit(&trace->record[index].kind, memory_order_acquire) == RECORD_NOTE;
}

/* The newest note when the chain's head lies beyond what is left of the file. */
static bool newest_by_search(const struct trace *trace, uint64_t *index)
{
    for (uint64_t at = trace->count; at > 0; at--) {
        if (is_note(trace, at - 1)) {
            *index = at - 1;
            return true;
        }
    }
    return false;
}

bool note_before(const struct trace *trace, uint64_t index, uint64_t *before)
{
    uint64_t link = index >= trace->count
                        ? atomic_load_explicit(&trace->header->last_note, memory_order_acquire)
                        : trace->record[index].previous_note;
    if (index >= trace->count && link > trace->count)
        return newest_by_search(trace, before);
    if (link == 0 || link > index || !is_note(trace, link - 1))
        return false;
    *before = link - 1;
    return true;
}

bool note_find(const struct trace *trace, unsigned kind, uint64_t line, uint64_t below,
               uint64_t *index)
{
    uint64_t at = trace->count;
    while (note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        if (at < below && note->tag == (int32_t)kind && (line == LINE_ANY || note->bytes == line)) {
            *index = at;
            return true;
        }
    }
    return false;
}

static enum error_code add_piece(struct history *history, const struct piece *piece,
                                 struct error *error)
{
    struct piece *grown =
        realloc(history->piece, (history->piece_count + 1) * sizeof *history->piece);
    if (grown == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for the history of rank %d",
                         piece->trace->rank);
    history->piece = grown;
    history->piece[history->piece_count++] = *piece;
    return OK;
}

static enum error_code line_never_taken(struct history *history, int rank, int incarnation,
                                        uint64_t line)
{
    history->unknown = true;
    snprintf(history->why, sizeof history->why,
             "rank %d restored line %" PRIu64
             " in incarnation %d, but no checkpoint of that line is in its trace",
             rank, line, incarnation);
    return OK;
}

/* The newest `restored` note of the tenure below record `end`. */
static bool find_restored(const struct tenure *tenure, uint64_t end, uint64_t *index)
{
    return note_find(tenure->trace, NOTE_RESTORED, LINE_ANY, end < tenure->to ? end : tenure->to,
                     index) &&
           *index >= tenure->from;
}

/* Whom the rank was before, in the same incarnation: it moved. NULL: it began with it. */
static const struct tenure *moved_from(const struct tenures *tenures, const struct tenure *tenure)
{
    const struct tenure *before =
        tenures_newest(tenures, tenure->rank, tenure->trace->incarnation, tenure);
    return before != NULL && before->trace->incarnation == tenure->trace->incarnation ? before
                                                                                      : NULL;
}

/* The line that the ranks of `incarnation` restored when it began, or 0: what a rank cut off before
 * its own `restored` note counts as. */
static uint64_t line_of_others(const struct tenures *tenures, int incarnation)
{
    uint64_t index;
    for (size_t i = 0; i < tenures->count; i++) {
        const struct tenure *tenure = &tenures->tenure[i];
        if (tenure->trace->incarnation == incarnation &&
            find_restored(tenure, UINT64_MAX, &index) && moved_from(tenures, tenure) == NULL)
            return tenure->trace->record[index].bytes;
    }
    return 0;
}

/* Where the call begins inside which record `note` was made: the first of its records, that had not
 * returned by then; `note` itself if there is none. MPI_Init does nothing that is done again. */
static uint64_t call_around(const struct trace *trace, uint64_t note)
{
    const struct record *made = &trace->record[note];
    uint64_t first = note;
    for (uint64_t at = note; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind == RECORD_NONE || kind == RECORD_GROUP || kind == RECORD_TEXT ||
            record->level != LEVEL_APP || record->thread != made->thread)
            continue;
        uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
        if ((leave != 0 && leave <= made->enter) || record->call == CALL_MPI_Init ||
            record->call == CALL_MPI_Init_thread)
            break;
        first = at - 1;
    }
    return first;
}

/* Where the life of a tenure begins, as far as it is told by record `end`: *line is what it
 * restored (0: nothing); piece->from the first record that counts. */
static void start_of(const struct tenures *tenures, const struct tenure *tenure, uint64_t end,
                     uint64_t *line, struct piece *piece)
{
    const struct trace *trace = tenure->trace;
    uint64_t index;
    *line = 0;
    piece->from = tenure->from;
    if (find_restored(tenure, end, &index)) {
        *line = trace->record[index].bytes;
        piece->restored = index + 1;
        piece->from = call_around(trace, index);
        if (piece->from == index)
            piece->from = index + 1;
    } else if (trace->incarnation > 0 &&
               !atomic_load_explicit(&trace->header->closed, memory_order_acquire)) {
        *line = line_of_others(tenures, trace->incarnation);
        piece->from = *line > 0 ? tenure->to : tenure->from;
    }
}

/* Appends, oldest first, what leads to `end` of a tenure. Recursion is bounded by tenures. */
static enum error_code add_life(const struct tenures *tenures, const struct tenure *tenure,
                                uint64_t end, uint64_t cut, struct history *history,
                                struct error *error);

/* Appends what leads to the newest checkpoint of `line`, in an incarnation up to `incarnation` and
 * before `before` unless that is NULL. */
static enum error_code add_until_line(const struct tenures *tenures, int rank, int incarnation,
                                      const struct tenure *before, uint64_t line,
                                      struct history *history, struct error *error)
{
    const struct tenure *at = before;
    while ((at = tenures_newest(tenures, rank, incarnation, at)) != NULL) {
        uint64_t index;
        if (note_find(at->trace, NOTE_CHECKPOINT, line, at->to, &index) && index >= at->from)
            return add_life(tenures, at, index + 1, at->trace->record[index].enter, history, error);
    }
    return line_never_taken(history, rank, incarnation, line);
}

static enum error_code add_life(const struct tenures *tenures, const struct tenure *tenure,
                                uint64_t end, uint64_t cut, struct history *history,
                                struct error *error)
{
    uint64_t line;
    enum error_code code = OK;
    struct piece piece = {
        .trace = tenure->trace, .to = end < tenure->to ? end : tenure->to, .cut = cut};
    const struct tenure *before = moved_from(tenures, tenure);
    if (before != NULL && !find_restored(tenure, end, &line))
        return add_life(tenures, before, before->to, UINT64_MAX, history, error);
    start_of(tenures, tenure, end, &line, &piece);
    if (line > 0)
        code = add_until_line(tenures, tenure->rank, tenure->trace->incarnation, tenure, line,
                              history, error);
    if (piece.from > piece.to)
        piece.from = piece.to;
    return code == OK ? add_piece(history, &piece, error) : code;
}

static enum error_code add_checkpoint(struct history *history, const struct trace *trace,
                                      uint64_t index, struct error *error)
{
    struct checkpoint *grown =
        realloc(history->checkpoint, (history->checkpoint_count + 1) * sizeof *history->checkpoint);
    if (grown == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for the checkpoints of rank %d",
                         trace->rank);
    history->checkpoint = grown;
    history->checkpoint[history->checkpoint_count++] = (struct checkpoint){
        trace->record[index].bytes, trace->record[index].enter, event_of(trace, index)};
    return OK;
}

static int by_ticks(const void *left, const void *right)
{
    const struct checkpoint *a = left;
    const struct checkpoint *b = right;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static enum error_code list_checkpoints(struct history *history, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < history->piece_count && code == OK; i++) {
        const struct piece *piece = &history->piece[i];
        uint64_t at = piece->trace->count;
        while (code == OK && note_before(piece->trace, at, &at))
            if (at >= piece->from && at >= piece->restored && at < piece->to &&
                piece->trace->record[at].tag == NOTE_CHECKPOINT)
                code = add_checkpoint(history, piece->trace, at, error);
    }
    if (history->checkpoint_count > 1)
        qsort(history->checkpoint, history->checkpoint_count, sizeof *history->checkpoint,
              by_ticks);
    return code;
}

static enum error_code allocate(const struct trace_set *traces, struct histories *histories,
                                struct error *error)
{
    memset(histories, 0, sizeof *histories);
    histories->of = calloc((size_t)traces->ranks + 1, sizeof *histories->of);
    if (histories->of == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for %d histories", traces->ranks);
    histories->ranks = traces->ranks;
    return OK;
}

/* When `trace` was last heard of; ticks. */
static uint64_t last_sign(const struct trace *trace)
{
    for (uint64_t at = trace->count; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
        if (kind != RECORD_NONE && kind != RECORD_GROUP && kind != RECORD_TEXT)
            return record->enter;
    }
    return 0;
}

bool history_lives_on(const struct trace_set *traces, int rank, int incarnation)
{
    const struct trace *newest = NULL;
    for (int i = incarnation - 1; i >= 0 && newest == NULL; i--)
        newest = trace_set_find(traces, rank, i);
    uint64_t heard = newest == NULL ? 0 : last_sign(newest);
    for (size_t i = 0; i < traces->count; i++)
        if (traces->trace[i].incarnation == incarnation &&
            traces->trace[i].header->start_ticks < heard)
            return true;
    return false;
}

/* The rank has a trace of the incarnation and died with it; `line`: what others restored. */
static bool is_whole(const struct trace_set *traces, const struct tenures *tenures, int rank,
                     int incarnation, uint64_t line)
{
    const struct tenure *tenure = tenures_newest(tenures, rank, incarnation, NULL);
    uint64_t index;
    if (tenure == NULL || tenure->trace->incarnation != incarnation ||
        (trace_set_find(traces, rank, incarnation + 1) == NULL &&
         history_lives_on(traces, rank, incarnation + 1)))
        return false;
    bool restored = line == 0 || atomic_load(&tenure->trace->header->closed);
    for (; tenure != NULL && !restored; tenure = moved_from(tenures, tenure))
        restored = find_restored(tenure, UINT64_MAX, &index);
    return restored;
}

bool history_is_whole(const struct trace_set *traces, int incarnation)
{
    struct tenures tenures;
    bool whole = tenures_read(traces, &tenures, NULL) == OK;
    uint64_t line = whole ? line_of_others(&tenures, incarnation) : 0;
    for (int rank = 0; rank < traces->ranks && whole; rank++)
        whole = !tenures.application[rank] || is_whole(traces, &tenures, rank, incarnation, line);
    tenures_release(&tenures);
    return whole;
}

bool history_has(const struct history *history, struct event_ref event)
{
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        if (piece->trace->rank == event.rank && piece->trace->incarnation == event.incarnation &&
            event.index >= piece->from && event.index < piece->to)
            return true;
    }
    return false;
}

bool histories_have(const struct histories *histories, struct event_ref event)
{
    int rank = histories_rank(histories, event);
    return rank >= 0 && history_has(&histories->of[rank], event);
}

int histories_rank(const struct histories *histories, struct event_ref event)
{
    return histories->tenures.moved ? tenures_rank(&histories->tenures, event) : event.rank;
}

/* The history of a rank as of `incarnation`, for which it may have no trace of its own. */
static enum error_code add_rank(const struct trace_set *traces, const struct tenures *tenures,
                                int rank, int incarnation, struct history *history,
                                struct error *error)
{
    const struct tenure *tenure = tenures_newest(tenures, rank, incarnation, NULL);
    if (tenure == NULL || !tenures->application[rank])
        return OK;
    uint64_t line = line_of_others(tenures, incarnation);
    if (tenure->trace->incarnation < incarnation && !history_lives_on(traces, rank, incarnation))
        return line > 0 ? add_until_line(tenures, rank, incarnation, NULL, line, history, error)
                        : OK; /* all begin again from nothing, and this one has not yet */
    return add_life(tenures, tenure, tenure->to, UINT64_MAX, history, error);
}

enum error_code histories_effective(const struct trace_set *traces, int incarnation,
                                    struct histories *histories, struct error *error)
{
    enum error_code code = allocate(traces, histories, error);
    if (code == OK)
        code = tenures_read(traces, &histories->tenures, error);
    for (int rank = 0; rank < traces->ranks && code == OK; rank++) {
        struct history *history = &histories->of[rank];
        code = add_rank(traces, &histories->tenures, rank, incarnation, history, error);
        if (code == OK)
            code = list_checkpoints(history, error);
    }
    return code;
}

const struct history *histories_unknown(const struct histories *histories)
{
    for (int rank = 0; rank < histories->ranks; rank++)
        if (histories->of[rank].unknown)
            return &histories->of[rank];
    return NULL;
}

enum error_code histories_incarnation(const struct trace_set *traces, int incarnation,
                                      struct histories *histories, struct error *error)
{
    enum error_code code = allocate(traces, histories, error);
    for (int rank = 0; rank < traces->ranks && code == OK; rank++) {
        const struct trace *trace = trace_set_find(traces, rank, incarnation);
        if (trace != NULL)
            code = add_piece(&histories->of[rank],
                             &(struct piece){.trace = trace, .to = trace->count, .cut = UINT64_MAX},
                             error);
    }
    return code;
}

void histories_release(struct histories *histories)
{
    for (int rank = 0; rank < histories->ranks; rank++) {
        free(histories->of[rank].piece);
        free(histories->of[rank].checkpoint);
    }
    free(histories->of);
    tenures_release(&histories->tenures);
    memset(histories, 0, sizeof *histories);
}
