/* See stream.h. A merge of the ranks' records by their time of entry. Each rank has a cursor, which
 * stands at its next record that is to be visited (settle); a binary heap of ranks gives the cursor
 * whose record was entered first, so that a record costs the logarithm of the number of ranks. Of
 * equal times the lower rank comes first, so that the order is the same each time.
 *
 * A cursor goes through the pieces of its rank's history (history.h). The first record of a later
 * piece is visited with `restarted`; if nothing of that piece is visited, a record of kind NONE is
 * visited in its place (report_restart), because listeners must know that the life before is over:
 *
 *     pieces of rank 1:  e0-e40, up to a checkpoint | from e13 on: killed before it did anything
 *     visited:           e0 ... e40                   NONE, restarted
 *
 * Records can be missing or odd, because a rank can be killed while it writes one. A *hole* is a
 * record that was reserved and never written. A *row* is a record with GROUP or TEXT records after
 * it; its first record is written last, so that a row without it counts as one hole.
 *
 * To sort all records beforehand would need memory for all of them; the pages that were visited are
 * given back every FORGET_RECORDS records instead. */
#include "oracles/reading/stream.h"

#include "base/pages.h"

#include "base/memory.h"

#include <stdlib.h>

#define FORGET_RECORDS 65536u /* 4 MiB at a time */

struct cursor {
    const struct history *history;
    size_t piece;
    uint64_t at;        /* next record to be looked at */
    uint64_t forgotten; /* records below were given back */
    bool restarted;
    uint64_t key; /* time of entry of the record at `at` */
};

struct stream {
    enum level level;
    struct cursor *cursor; /* by rank */
    int *heap;             /* ranks that have something left, earliest first */
    int heap_count;
    struct stream_seen *seen;
};

/* Gives back the pages below `to`. The kernel keeps them cached; only our mapping lets go. */
static void forget(struct cursor *cursor, uint64_t to)
{
    const struct trace *trace = cursor->history->piece[cursor->piece].trace;
    if (trace->mapped != 0)
        pages_let_go(&trace->record[cursor->forgotten], &trace->record[to]);
    cursor->forgotten = to;
}

static bool is_of_row(unsigned kind)
{
    return kind == RECORD_GROUP || kind == RECORD_TEXT;
}

/* The first record of a row is written last. If it is missing, the GROUP and TEXT records after it
 * belong to the same hole: holes with nothing but those between them count once. */
static void saw_hole(struct stream_seen *seen, const struct trace *trace, uint64_t index)
{
    unsigned before = RECORD_KIND_COUNT;
    for (uint64_t at = index; at > 0 && (before == RECORD_KIND_COUNT || is_of_row(before)); at--)
        before = atomic_load_explicit(&trace->record[at - 1].kind, memory_order_acquire);
    if (seen->hole_runs == 0)
        seen->first_hole = index;
    if (seen->hole_runs == 0 || before != RECORD_NONE)
        seen->hole_runs++;
}

static bool is_foreign(const struct record *record, unsigned kind)
{
    return kind >= RECORD_KIND_COUNT || (!is_of_row(kind) && record->level > LEVEL_SELF);
}

/* Whatever the order in which records are made, none ends before one above it began. */
static void check_times(struct stream_seen *seen, const struct trace *trace, uint64_t index,
                        uint64_t slack)
{
    const struct record *record = &trace->record[index];
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_relaxed);
    uint64_t newest = record->enter, end = leave != 0 ? leave : record->enter;
    if (record->thread < STREAM_THREADS) {
        newest = seen->newest[record->thread];
        if (record->enter > newest)
            newest = seen->newest[record->thread] = record->enter;
    }
    if (end >= newest || newest - end <= slack)
        return;
    if (seen->backwards++ == 0)
        seen->first_backwards = index;
}

/* What is seen of a record that is there. False if it is none of ours. */
static bool look_at(struct stream_seen *seen, const struct trace *trace, uint64_t index,
                    unsigned kind)
{
    const struct record *record = &trace->record[index];
    seen->hole_before_event |= seen->hole_runs > 0 && !is_of_row(kind);
    if (is_foreign(record, kind)) {
        if (seen->foreign++ == 0)
            seen->first_foreign = index;
        return false;
    }
    if (record->thread >= seen->threads)
        seen->threads = record->thread + 1u;
    if (!is_of_row(kind))
        check_times(seen, trace, index,
                    (uint64_t)(trace->header->ticks_per_second * STREAM_CLOCK_SLACK_S));
    return true;
}

/* Moves on to the next piece, if there is one. */
static bool next_piece(struct cursor *cursor)
{
    const struct history *history = cursor->history;
    if (cursor->piece < history->piece_count)
        forget(cursor, history->piece[cursor->piece].to);
    if (cursor->piece + 1 >= history->piece_count)
        return false;
    cursor->piece++;
    cursor->at = history->piece[cursor->piece].from;
    cursor->forgotten = cursor->at;
    cursor->restarted = true;
    return true;
}

/* Looks for the next record that is to be visited, from cursor->at. False at the end. */
static bool settle(struct stream *stream, struct cursor *cursor, struct stream_seen *seen)
{
    if (cursor->history->piece_count == 0)
        return false;
    do {
        const struct piece *piece = &cursor->history->piece[cursor->piece];
        const struct record *records = piece->trace->record;
        for (; cursor->at < piece->to; cursor->at++) {
            const struct record *record = &records[cursor->at];
            unsigned kind = atomic_load_explicit(&record->kind, memory_order_acquire);
            if (kind == RECORD_NONE) {
                if (seen != NULL)
                    saw_hole(seen, piece->trace, cursor->at);
                continue;
            }
            if (seen != NULL && !look_at(seen, piece->trace, cursor->at, kind))
                continue;
            if (is_of_row(kind))
                continue;
            bool again = cursor->at < piece->restored; /* what was told on the way there is over */
            if (record->level == stream->level || (record->level == LEVEL_SELF && !again)) {
                cursor->key = record->enter;
                return true;
            }
        }
    } while (next_piece(cursor));
    return false;
}

static bool earlier(const struct stream *stream, int left, int right)
{
    uint64_t a = stream->cursor[left].key;
    uint64_t b = stream->cursor[right].key;
    return a < b || (a == b && left < right);
}

static void sift_down(struct stream *stream, int at)
{
    int rank = stream->heap[at];
    for (;;) {
        int child = 2 * at + 1;
        if (child >= stream->heap_count)
            break;
        if (child + 1 < stream->heap_count &&
            earlier(stream, stream->heap[child + 1], stream->heap[child]))
            child++;
        if (!earlier(stream, stream->heap[child], rank))
            break;
        stream->heap[at] = stream->heap[child];
        at = child;
    }
    stream->heap[at] = rank;
}

static void visit_next(struct cursor *cursor, int rank, stream_visit *visit, void *context)
{
    const struct piece *piece = &cursor->history->piece[cursor->piece];
    const struct record *record = &piece->trace->record[cursor->at];
    uint64_t leave = atomic_load_explicit(&record->leave, memory_order_acquire);
    bool in_progress = leave == 0 || leave > piece->cut;
    struct stream_event event = {
        .rank = rank,
        .trace = piece->trace,
        .index = cursor->at,
        .record = record,
        .in_progress = in_progress,
        .at_cut = in_progress && piece->cut != UINT64_MAX,
        .again = cursor->at < piece->restored,
        .restarted = cursor->restarted,
        .born = piece->born,
        .anew = piece->anew,
        .takes_over = piece->takes_over,
        .replica = piece->replica,
    };
    cursor->restarted = false;
    visit(context, &event);
    cursor->at++;
    if (cursor->at - cursor->forgotten >= FORGET_RECORDS)
        forget(cursor, cursor->at);
}

/* The last incarnation of a rank may have nothing to visit; that it began is told all the same. */
static void report_restart(const struct cursor *cursor, int rank, stream_visit *visit,
                           void *context)
{
    static const struct record nothing;
    const struct piece *piece = &cursor->history->piece[cursor->piece];
    struct stream_event event = {.rank = rank,
                                 .trace = piece->trace,
                                 .index = piece->to,
                                 .record = &nothing,
                                 .restarted = true,
                                 .born = piece->born,
                                 .anew = piece->anew};
    visit(context, &event);
}

static void run(struct stream *stream, stream_visit *visit, void *context)
{
    while (stream->heap_count > 0) {
        int rank = stream->heap[0];
        struct cursor *cursor = &stream->cursor[rank];
        struct stream_seen *seen = stream->seen == NULL ? NULL : &stream->seen[rank];
        visit_next(cursor, rank, visit, context);
        if (!settle(stream, cursor, seen)) {
            stream->heap[0] = stream->heap[--stream->heap_count];
            if (cursor->restarted)
                report_restart(cursor, rank, visit, context);
        }
        if (stream->heap_count > 1)
            sift_down(stream, 0);
    }
}

void stream_run(const struct histories *histories, enum level level, stream_visit *visit,
                void *context, struct stream_seen *seen)
{
    size_t ranks = (size_t)histories->ranks;
    struct stream stream = {.level = level, .seen = seen};
    stream.cursor = memory_new(ranks, sizeof *stream.cursor);
    stream.heap = memory_new(ranks, sizeof *stream.heap);
    for (int rank = 0; rank < histories->ranks; rank++) {
        struct cursor *cursor = &stream.cursor[rank];
        cursor->history = &histories->of[rank];
        if (cursor->history->piece_count > 0)
            cursor->at = cursor->forgotten = cursor->history->piece[0].from;
        if (settle(&stream, cursor, seen == NULL ? NULL : &seen[rank]))
            stream.heap[stream.heap_count++] = rank;
    }
    for (int at = stream.heap_count / 2 - 1; at >= 0; at--)
        sift_down(&stream, at);
    run(&stream, visit, context);
    free(stream.cursor);
    free(stream.heap);
}
