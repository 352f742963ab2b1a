/* See history.h. Walks the notes' chain from the newest back, so that it costs what there are notes
 * and not what there are records. */
#include "oracles/history.h"

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

static enum error_code add_piece(struct history *history, const struct trace *trace, uint64_t from,
                                 uint64_t to, uint64_t cut, struct error *error)
{
    struct piece *grown =
        realloc(history->piece, (history->piece_count + 1) * sizeof *history->piece);
    if (grown == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for the history of rank %d", trace->rank);
    history->piece = grown;
    history->piece[history->piece_count++] = (struct piece){trace, from, to, cut};
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

/* The line that the ranks of `incarnation` restored, or 0: what a rank cut off before its own
 * `restored` note counts as. */
static uint64_t line_of_others(const struct trace_set *traces, int incarnation)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++) {
        const struct trace *trace = &traces->trace[i];
        if (trace->incarnation == incarnation &&
            note_find(trace, NOTE_RESTORED, LINE_ANY, UINT64_MAX, &index))
            return trace->record[index].bytes;
    }
    return 0;
}

/* Where the life of `trace` begins: *line is what it restored (0: nothing), *from the first record
 * that counts. */
static void start_of(const struct trace_set *traces, const struct trace *trace, uint64_t *line,
                     uint64_t *from)
{
    uint64_t index;
    *line = 0;
    *from = 0;
    if (note_find(trace, NOTE_RESTORED, LINE_ANY, UINT64_MAX, &index)) {
        *line = trace->record[index].bytes;
        *from = index + 1;
    } else if (trace->incarnation > 0 &&
               !atomic_load_explicit(&trace->header->closed, memory_order_acquire)) {
        *line = line_of_others(traces, trace->incarnation);
        *from = *line > 0 ? trace->count : 0;
    }
}

/* Appends, oldest first, what leads to `end` of `trace`. Recursion is bounded by incarnations. */
static enum error_code add_life(const struct trace_set *traces, const struct trace *trace,
                                uint64_t end, uint64_t cut, struct history *history,
                                struct error *error);

/* Appends what leads to the newest checkpoint of `line` before incarnation `below`. */
static enum error_code add_until_line(const struct trace_set *traces, int rank, int below,
                                      uint64_t line, struct history *history, struct error *error)
{
    for (int incarnation = below - 1; incarnation >= 0; incarnation--) {
        const struct trace *trace = trace_set_find(traces, rank, incarnation);
        uint64_t index;
        if (trace != NULL && note_find(trace, NOTE_CHECKPOINT, line, UINT64_MAX, &index))
            return add_life(traces, trace, index + 1, trace->record[index].enter, history, error);
    }
    return line_never_taken(history, rank, below, line);
}

static enum error_code add_life(const struct trace_set *traces, const struct trace *trace,
                                uint64_t end, uint64_t cut, struct history *history,
                                struct error *error)
{
    uint64_t line, from;
    enum error_code code = OK;
    start_of(traces, trace, &line, &from);
    if (line > 0)
        code = add_until_line(traces, trace->rank, trace->incarnation, line, history, error);
    if (code == OK)
        code = add_piece(history, trace, from < end ? from : end, end, cut, error);
    return code;
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
            if (at >= piece->from && at < piece->to &&
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

bool history_is_whole(const struct trace_set *traces, int incarnation)
{
    uint64_t line = line_of_others(traces, incarnation), index;
    for (int rank = 0; rank < traces->ranks; rank++) {
        const struct trace *trace = trace_set_find(traces, rank, incarnation);
        if (trace == NULL || (trace_set_find(traces, rank, incarnation + 1) == NULL &&
                              history_lives_on(traces, rank, incarnation + 1)))
            return false;
        if (line > 0 && !atomic_load(&trace->header->closed) &&
            !note_find(trace, NOTE_RESTORED, LINE_ANY, UINT64_MAX, &index))
            return false;
    }
    return true;
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

/* The history of a rank as of `incarnation`, for which it may have no trace of its own. */
static enum error_code add_rank(const struct trace_set *traces, int rank, int incarnation,
                                struct history *history, struct error *error)
{
    const struct trace *trace = NULL;
    for (int i = incarnation; i >= 0 && trace == NULL; i--)
        trace = trace_set_find(traces, rank, i);
    if (trace == NULL)
        return OK;
    uint64_t line = line_of_others(traces, incarnation);
    if (trace->incarnation < incarnation && line > 0 &&
        !history_lives_on(traces, rank, incarnation))
        return add_until_line(traces, rank, incarnation, line, history, error);
    return add_life(traces, trace, trace->count, UINT64_MAX, history, error);
}

enum error_code histories_effective(const struct trace_set *traces, int incarnation,
                                    struct histories *histories, struct error *error)
{
    enum error_code code = allocate(traces, histories, error);
    for (int rank = 0; rank < traces->ranks && code == OK; rank++) {
        struct history *history = &histories->of[rank];
        code = add_rank(traces, rank, incarnation, history, error);
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
            code = add_piece(&histories->of[rank], trace, 0, trace->count, UINT64_MAX, error);
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
    memset(histories, 0, sizeof *histories);
}
