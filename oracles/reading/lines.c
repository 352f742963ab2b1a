/* See lines.h. The notes of a rank are read once, from the newest back to the `restored` note, and
 * give for each line the time of its checkpoint, of its end of logging, and so on. Where a rank
 * stands at a time then follows from two comparisons (lines_standing):
 *
 *     before the line | checkpoint | logging | stop-log | beyond the line
 *
 * A rank need not take every line: it is beyond a line that it left out as soon as it takes a newer
 * one. The cost of reading grows with the number of notes, that of a question with the number of
 * the rank's lines. */
#include "oracles/reading/lines.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

static struct line *find_or_add(struct rank_lines *rank, uint64_t number)
{
    for (size_t i = 0; i < rank->count; i++)
        if (rank->line[i].number == number)
            return &rank->line[i];
    struct line *grown = memory_resized(rank->line, rank->count + 1, sizeof *rank->line);
    rank->line = grown;
    grown[rank->count] = (struct line){.number = number};
    return &grown[rank->count++];
}

static struct mark *mark_for(struct line *line, unsigned note)
{
    switch (note) {
    case NOTE_CHECKPOINT:
        return &line->checkpoint;
    case NOTE_STOP_LOG:
        return &line->stop;
    case NOTE_READY:
        return &line->ready;
    case NOTE_SAVED:
        return &line->saved;
    default:
        return NULL;
    }
}

static bool is_of_line(unsigned note)
{
    return note == NOTE_CHECKPOINT || note == NOTE_STOP_LOG || note == NOTE_READY ||
           note == NOTE_SAVED;
}

static int by_number(const void *left, const void *right)
{
    const struct line *a = left;
    const struct line *b = right;
    return (a->number > b->number) - (a->number < b->number);
}

/* From the newest note back: of several notes of a kind and line, the first one made is read last,
 * and stays. */
static void read_rank(struct rank_lines *rank)
{
    const struct trace *trace = rank->trace;
    uint64_t at = trace->count;
    while (note_before(trace, at, &at)) {
        const struct record *note = &trace->record[at];
        struct mark mark = {true, note->enter, event_of(trace, at)};
        if (note->tag == NOTE_RESTORED) {
            rank->base = note->bytes;
            rank->restored = mark;
            break;
        }
        if (!is_of_line((unsigned)note->tag))
            continue;
        *mark_for(find_or_add(rank, note->bytes), (unsigned)note->tag) = mark;
    }
    if (rank->count > 1)
        qsort(rank->line, rank->count, sizeof *rank->line, by_number);
}

static void add_taken(struct lines *lines, uint64_t number)
{
    size_t at = 0;
    while (at < lines->taken_count && lines->taken[at] < number)
        at++;
    if (at < lines->taken_count && lines->taken[at] == number)
        return;
    uint64_t *grown = memory_resized(lines->taken, lines->taken_count + 1, sizeof *lines->taken);
    lines->taken = grown;
    memmove(&grown[at + 1], &grown[at], (lines->taken_count - at) * sizeof *grown);
    grown[at] = number;
    lines->taken_count++;
}

void lines_read(const struct trace_set *traces, int incarnation, struct lines *lines)
{
    *lines = (struct lines){.ranks = traces->ranks, .incarnation = incarnation};
    lines->of = memory_new((size_t)traces->ranks, sizeof *lines->of);
    for (int i = 0; i < traces->ranks; i++) {
        struct rank_lines *rank = &lines->of[i];
        rank->trace = trace_set_find(traces, i, incarnation);
        rank->helper = trace_set_is_helper(traces, i);
        if (rank->trace != NULL && !rank->helper)
            read_rank(rank);
        for (size_t k = 0; k < rank->count; k++)
            if (rank->line[k].checkpoint.there)
                add_taken(lines, rank->line[k].number);
    }
}

void lines_release(struct lines *lines)
{
    for (int i = 0; lines->of != NULL && i < lines->ranks; i++)
        free(lines->of[i].line);
    free(lines->of);
    free(lines->taken);
    memset(lines, 0, sizeof *lines);
}

const struct line *lines_find(const struct rank_lines *rank, uint64_t number)
{
    size_t low = 0, high = rank->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rank->line[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < rank->count && rank->line[low].number == number ? &rank->line[low] : NULL;
}

uint64_t lines_epoch(const struct rank_lines *rank, uint64_t ticks)
{
    for (size_t i = rank->count; i > 0; i--) {
        const struct line *line = &rank->line[i - 1];
        if (line->checkpoint.there && line->checkpoint.ticks < ticks)
            return line->number > rank->base ? line->number : rank->base;
    }
    return rank->base;
}

bool lines_moved(const struct rank_lines *rank, uint64_t from, uint64_t to)
{
    for (size_t i = rank->count; i > 0; i--) {
        const struct line *line = &rank->line[i - 1];
        if ((line->checkpoint.there && line->checkpoint.ticks > from &&
             line->checkpoint.ticks < to) ||
            (line->stop.there && line->stop.ticks > from && line->stop.ticks < to))
            return true;
    }
    return false;
}

enum standing lines_standing(const struct rank_lines *rank, uint64_t number, uint64_t ticks)
{
    const struct line *line = lines_find(rank, number);
    if (number <= rank->base)
        return STANDS_BEYOND;
    if (line == NULL || !line->checkpoint.there) /* left out: a newer one was taken, or none */
        return lines_epoch(rank, ticks) > number ? STANDS_BEYOND : STANDS_BEFORE;
    if (line->checkpoint.ticks >= ticks)
        return STANDS_BEFORE;
    return line->stop.there && line->stop.ticks < ticks ? STANDS_BEYOND : STANDS_LOGGING;
}
