/* See history.h. An effective history is made from the newest life back to the oldest, and listed
 * oldest first:
 *
 *     incarnation 0:  e0 ....... e40 checkpoint 1 ......... e90 killed
 *     incarnation 1:  e0 .. e12 restored 1 .. e50 checkpoint 2 .. e70 killed
 *     incarnation 2:  e0 .. e9 restored 2 .. e33
 *
 *     effective history as of 2:  0: e0-e40,  1: e13-e50,  2: e10-e33
 *
 * add_life finds the `restored` note of a life (start_of). If there is one, add_until_line looks
 * for the newest checkpoint of that line in the lives before, and add_life does the same for the
 * life that holds it, up to that checkpoint. The recursion goes to an older life each time, or,
 * where the rank lived on and went back by itself, to an older record of the same (add_before).
 *
 * The cases that made it hard:
 *   - A checkpoint can be taken inside a call of the application. The call was under way then,
 *     and is done again after the restart. The first piece ends within it (`cut`: what had not
 *     returned by then counts as in progress); the next piece begins with the call around the
 *     `restored` note (call_around).
 *   - An incarnation can be killed before some of its ranks restored. Such a rank counts as
 *     restored to the line of the others, with nothing done since (line_of_others). A trace that
 *     was closed without a `restored` note began from nothing.
 *   - A rank can move to another process. Until that one makes its `restored` note, the rank's
 *     history is still that of the process before. So it is where a newcomer takes the rank over
 *     after a death (continues).
 *
 * Notes are chained in the trace, and the chain is walked from the newest back: the cost grows with
 * the number of notes and not of records, but for the records around a `restored` note. */
#include "oracles/reading/history.h"

#include "base/memory.h"
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

static void add_piece(struct history *history, const struct piece *piece)
{
    history->piece =
        memory_resized(history->piece, history->piece_count + 1, sizeof *history->piece);
    history->piece[history->piece_count++] = *piece;
}

static void line_never_taken(const struct lives *lives, struct history *history, int rank,
                             int incarnation, uint64_t line)
{
    int resized = trace_set_resized(lives->traces);
    if (resized > 0 && incarnation >= resized)
        return; /* others had taken it: see allow_resized in oracle.c */
    history->unknown = true;
    snprintf(history->why, sizeof history->why,
             "rank %d restored line %" PRIu64
             " in incarnation %d, but no checkpoint of that line is in its trace",
             rank, line, incarnation);
}

static void communicators_unclear(struct history *history, int rank)
{
    history->unknown = true;
    snprintf(
        history->why, sizeof history->why,
        "rank %d goes on with other communicators of the same ranks than the process that died "
        "used, and not as many: which stands for which is not clear",
        rank);
}

/* The newest `restored` note of the life below record `end`. */
static bool find_restored(const struct life *life, uint64_t end, uint64_t *index)
{
    return note_find(life->trace, NOTE_RESTORED, LINE_ANY, end < life->to ? end : life->to,
                     index) &&
           *index >= life->from;
}

bool history_first_restored(const struct life *life, uint64_t *index)
{
    uint64_t at = life->to;
    bool found = false;
    while (find_restored(life, at, &at)) {
        *index = at;
        found = true;
    }
    return found;
}

/* The newest checkpoint of the line that the `restored` note at `index` names, in the same life:
 * the rank lived on and went back by itself. */
static bool find_own_checkpoint(const struct life *life, uint64_t index, uint64_t *taken)
{
    uint64_t line = life->trace->record[index].bytes;
    return line > 0 && note_find(life->trace, NOTE_CHECKPOINT, line, index, taken) &&
           *taken >= life->from;
}

/* The line that the ranks of `incarnation` restored when it began, or 0: what a rank cut off before
 * its own `restored` note counts as. Not what ranks went back to later on, while others lived. */
static uint64_t line_of_others(const struct lives *lives, int incarnation)
{
    uint64_t index, taken;
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->life[i];
        if (life->trace->incarnation == incarnation && !life->moved && !life->takes_over &&
            history_first_restored(life, &index) && !find_own_checkpoint(life, index, &taken))
            return life->trace->record[index].bytes;
    }
    return 0;
}

/* The first record of the application's call inside which record `note` was made; `note` itself if
 * it was made outside of any. Going back from the note, records of the same thread belong to that
 * call as long as they had not returned when the note was made. MPI_Init ends the search: a
 * protocol may restore inside it, but it does nothing that the checkpoint cut in two. */
static uint64_t call_around(const struct trace *trace, uint64_t note)
{
    const struct record *made = &trace->record[note];
    uint64_t first = note;
    for (uint64_t at = note; at > 0; at--) {
        const struct record *record = &trace->record[at - 1];
        if (!record_is_of_app(record) || record->thread != made->thread)
            continue;
        uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
        if ((leave != 0 && leave <= made->enter) || record->call == CALL_MPI_Init ||
            record->call == CALL_MPI_Init_thread)
            break;
        first = at - 1;
    }
    return first;
}

uint64_t history_begin(const struct trace *trace, uint64_t note)
{
    uint64_t first = call_around(trace, note);
    return first == note ? note + 1 : first;
}

/* Where a life begins, judging by its records below `end`: *line is the line that it restored (0:
 * none), piece->from the first record that counts. A life that was cut off before it restored has
 * no record that counts: its piece is empty. */
static void start_of(const struct lives *lives, const struct life *life, uint64_t end,
                     uint64_t *line, struct piece *piece)
{
    const struct trace *trace = life->trace;
    uint64_t index;
    *line = 0;
    piece->from = life->from;
    if (find_restored(life, end, &index)) {
        *line = trace->record[index].bytes;
        piece->restored = index + 1;
        piece->from = history_begin(trace, index);
    } else if (!life_closed(life)) {
        *line = line_of_others(lives, trace->incarnation);
        piece->from = *line > 0 ? life->to : life->from;
    }
}

/* Appends, oldest first, what leads to `end` of a life. Recursion is bounded by lives and notes. */
static void add_life(const struct lives *lives, const struct life *life, uint64_t end, uint64_t cut,
                     struct history *history);

/* Appends what leads to the newest checkpoint of `line`, in `newest` or a life before it; to be
 * restored in `incarnation`. */
static void add_until_line(const struct lives *lives, int rank, const struct life *newest,
                           int incarnation, uint64_t line, struct history *history)
{
    uint64_t index;
    for (const struct life *life = newest; life != NULL; life = life->before)
        if (note_find(life->trace, NOTE_CHECKPOINT, line, life->to, &index) &&
            index >= life->from) {
            add_life(lives, life, index + 1, life->trace->record[index].enter, history);
            return;
        }
    line_never_taken(lives, history, rank, incarnation, line);
}

/* The life restored `line` with the note before record `restored`, or (0) would have. The rank may
 * have gone back by itself, in this very life. */
static void add_before(const struct lives *lives, const struct life *life, uint64_t restored,
                       uint64_t line, struct piece *piece, struct history *history)
{
    const struct record *record = life->trace->record;
    uint64_t taken, first;
    if (restored > 0 && (life->before == NULL || find_restored(life, restored - 1, &first)))
        piece->born = record[restored - 1].enter;
    if (restored > 0 && find_own_checkpoint(life, restored - 1, &taken)) {
        piece->born = record[restored - 1].enter;
        add_life(lives, life, taken + 1, record[taken].enter, history);
    } else if (line > 0) {
        add_until_line(lives, life->rank, life->before, life->trace->incarnation, line, history);
    }
}

/* The life goes on from where the one before ended, so far: it has restored nothing. */
static bool continues(const struct lives *lives, const struct life *life, uint64_t end)
{
    uint64_t index;
    return !find_restored(life, end, &index) &&
           (life->moved ||
            (life->takes_over && !life->replica && !(lives->rolls_back && life_closed(life))));
}

static void add_life(const struct lives *lives, const struct life *life, uint64_t end, uint64_t cut,
                     struct history *history)
{
    uint64_t line;
    struct piece piece = {.trace = life->trace,
                          .from = life->from,
                          .to = end < life->to ? end : life->to,
                          .cut = cut,
                          .born = life->before != NULL ? life->born : 0,
                          .takes_over = life->takes_over,
                          .replica = life->replica};
    if (continues(lives, life, end)) {
        add_life(lives, life->before, life->before->to, UINT64_MAX, history);
        piece.anew = life->takes_over && !lives->rolls_back;
        if (piece.anew)
            add_piece(history, &piece);
        return;
    }
    start_of(lives, life, end, &line, &piece);
    add_before(lives, life, piece.restored, line, &piece, history);
    if (piece.from > piece.to)
        piece.from = piece.to;
    add_piece(history, &piece);
}

static void add_checkpoint(struct history *history, const struct trace *trace, uint64_t index)
{
    history->checkpoint = memory_resized(history->checkpoint, history->checkpoint_count + 1,
                                         sizeof *history->checkpoint);
    history->checkpoint[history->checkpoint_count++] = (struct checkpoint){
        trace->record[index].bytes, trace->record[index].enter, event_of(trace, index)};
}

static int by_ticks(const void *left, const void *right)
{
    const struct checkpoint *a = left;
    const struct checkpoint *b = right;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

static void list_checkpoints(struct history *history)
{
    for (size_t i = 0; i < history->piece_count; i++) {
        const struct piece *piece = &history->piece[i];
        uint64_t at = piece->trace->count;
        while (note_before(piece->trace, at, &at))
            if (at >= piece->from && at >= piece->restored && at < piece->to &&
                piece->trace->record[at].tag == NOTE_CHECKPOINT)
                add_checkpoint(history, piece->trace, at);
    }
    if (history->checkpoint_count > 1)
        qsort(history->checkpoint, history->checkpoint_count, sizeof *history->checkpoint,
              by_ticks);
}

/* The rank has a trace of the incarnation and died with it; `line`: what others restored. */
static bool is_whole(const struct lives *lives, int rank, int incarnation, uint64_t line)
{
    const struct life *life = lives_newest(lives, rank, incarnation);
    uint64_t index;
    if (life == NULL || life->trace->incarnation != incarnation ||
        lives_on(lives, rank, incarnation + 1))
        return false;
    bool restored = line == 0 || life_closed(life);
    for (; life != NULL && !restored; life = life->moved || life->takes_over ? life->before : NULL)
        restored = find_restored(life, UINT64_MAX, &index);
    return restored;
}

bool history_is_whole(const struct lives *lives, int incarnation)
{
    uint64_t line = line_of_others(lives, incarnation);
    for (int rank = 0; rank < lives->ranks; rank++)
        if (lives->application[rank] && !is_whole(lives, rank, incarnation, line))
            return false;
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

bool histories_have(const struct histories *histories, struct event_ref event)
{
    int rank = histories_rank(histories, event);
    return rank >= 0 && history_has(&histories->of[rank], event);
}

int histories_rank(const struct histories *histories, struct event_ref event)
{
    if (!histories->lives->moved)
        return event.rank;
    const struct life *life = lives_find(histories->lives, event);
    return life == NULL ? -1 : life->rank;
}

/* The history of a rank as of `incarnation`, for which it may have no trace of its own. */
static void add_rank(const struct lives *lives, int rank, int incarnation, struct history *history)
{
    const struct life *life = lives_newest(lives, rank, incarnation);
    if (life == NULL || !lives->application[rank])
        return;
    uint64_t line = line_of_others(lives, incarnation);
    if (life->trace->incarnation == incarnation || lives_on(lives, rank, incarnation))
        add_life(lives, life, life->to, UINT64_MAX, history);
    else if (line > 0)
        add_until_line(lives, rank, life, incarnation, line, history);
    /* else all begin again from nothing, and this one has not yet */
}

static void begin(const struct lives *lives, struct histories *histories)
{
    *histories = (struct histories){.ranks = lives->ranks, .lives = lives};
    histories->of = memory_new((size_t)lives->ranks, sizeof *histories->of);
}

void histories_effective(const struct lives *lives, int incarnation, struct histories *histories)
{
    begin(lives, histories);
    for (int rank = 0; rank < lives->ranks; rank++) {
        add_rank(lives, rank, incarnation, &histories->of[rank]);
        list_checkpoints(&histories->of[rank]);
    }
    if (lives->succession.unclear >= 0)
        communicators_unclear(&histories->of[lives->succession.unclear], lives->succession.unclear);
}

const struct history *histories_unknown(const struct histories *histories)
{
    for (int rank = 0; rank < histories->ranks; rank++)
        if (histories->of[rank].unknown)
            return &histories->of[rank];
    return NULL;
}

void histories_incarnation(const struct lives *lives, int incarnation, struct histories *histories)
{
    begin(lives, histories);
    for (int rank = 0; rank < lives->ranks; rank++) {
        const struct trace *trace = trace_set_find(lives->traces, rank, incarnation);
        if (trace != NULL)
            add_piece(&histories->of[rank],
                      &(struct piece){.trace = trace, .to = trace->count, .cut = UINT64_MAX});
    }
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
