/* See trace_text.h: the merge of traces by time. The words of a line are trace_line.c's. */
#include "reports/text/trace_text.h"

#include "base/memory.h"
#include "reports/text/trace_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define COLOUR_FAULT "\x1b[1;31m"
#define COLOUR_NOTE "\x1b[36m"
#define COLOUR_UNKNOWN "\x1b[33m"
#define COLOUR_END "\x1b[0m"

static const char *colour_of(const struct record *record)
{
    unsigned kind = atomic_load_explicit(&record->kind, memory_order_relaxed);
    if (kind == RECORD_FAULT || record->error != 0)
        return COLOUR_FAULT;
    if (kind == RECORD_NOTE)
        return COLOUR_NOTE;
    if (kind == RECORD_NONE || atomic_load_explicit(&record->leave, memory_order_acquire) == 0)
        return COLOUR_UNKNOWN;
    return NULL;
}

/* --- the merge: a heap with one cursor per trace ---------------------------------------------- */

/* at: ticks of the record under the cursor; of one that was never finished: of the one before. A
 * rank's records stay in their order, though its threads may have entered the calls in another. */
struct cursor {
    const struct trace *trace;
    uint64_t index;
    uint64_t at;
};

static bool is_before(const struct cursor *a, const struct cursor *b)
{
    return a->at != b->at ? a->at < b->at : a->trace < b->trace;
}

static void sift_down(struct cursor *heap, size_t count, size_t at)
{
    for (;;) {
        size_t least = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < count; child++)
            if (is_before(&heap[child], &heap[least]))
                least = child;
        if (least == at)
            return;
        struct cursor moved = heap[at];
        heap[at] = heap[least];
        heap[least] = moved;
        at = least;
    }
}

static unsigned kind_at(const struct cursor *cursor)
{
    return atomic_load_explicit(&cursor->trace->record[cursor->index].kind, memory_order_acquire);
}

/* GROUP and TEXT belong to the record before. False at the end of the trace. */
static bool settle(struct cursor *cursor, uint64_t last)
{
    uint64_t end = cursor->trace->count + (cursor->trace->end != NULL);
    if (last < end)
        end = last + 1;
    for (; cursor->index < end; cursor->index++) {
        unsigned kind = kind_at(cursor);
        if (kind == RECORD_GROUP || kind == RECORD_TEXT)
            continue;
        uint64_t enter = cursor->trace->record[cursor->index].enter;
        if (kind != RECORD_NONE)
            cursor->at = enter;
        return true;
    }
    return false;
}

static bool is_wanted(const struct trace_print_options *options, const struct cursor *cursor)
{
    const struct record *record = &cursor->trace->record[cursor->index];
    unsigned kind = kind_at(cursor);
    return (options->kind < 0 || (unsigned)options->kind == kind) &&
           (options->level < 0 || (kind != RECORD_NONE && options->level == record->level));
}

/* The cursors of the traces asked for, as a heap; returns how many. */
static size_t fill_heap(const struct trace_set *set, const struct trace_print_options *options,
                        struct cursor *heap, uint64_t *start)
{
    size_t count = 0;
    *start = UINT64_MAX;
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        if (trace->header->start_ticks < *start)
            *start = trace->header->start_ticks;
        if ((options->rank >= 0 && options->rank != trace->rank) ||
            (options->incarnation >= 0 && options->incarnation != trace->incarnation))
            continue;
        heap[count] = (struct cursor){trace, options->from, trace->header->start_ticks};
        if (settle(&heap[count], options->to))
            count++;
    }
    for (size_t i = count; i-- > 0;)
        sift_down(heap, count, i);
    return count;
}

static void print_event(const struct cursor *cursor, uint64_t start, bool colour, FILE *out)
{
    const struct record *record = &cursor->trace->record[cursor->index];
    char line[TRACE_LINE_BYTES + 1];
    trace_line(cursor->trace, cursor->index, start, cursor->at, line);
    const char *with = colour ? colour_of(record) : NULL;
    if (with != NULL)
        fprintf(out, "%s%s" COLOUR_END "\n", with, line);
    else
        fprintf(out, "%s\n", line);
}

static void merge(struct cursor *heap, size_t count, const struct trace_print_options *options,
                  uint64_t start, FILE *out)
{
    uint64_t lines = 0;
    while (count > 0 && !ferror(out)) {
        if (is_wanted(options, &heap[0])) {
            if (options->limit > 0 && lines == options->limit) {
                fprintf(out, "... more: the limit is %" PRIu64 " lines\n", options->limit);
                return;
            }
            print_event(&heap[0], start, options->colour, out);
            lines++;
        }
        heap[0].index++;
        if (!settle(&heap[0], options->to))
            heap[0] = heap[--count];
        sift_down(heap, count, 0);
    }
}

enum error_code trace_print(const struct trace_set *set, const struct trace_print_options *options,
                            FILE *out, struct error *error)
{
    uint64_t start;
    struct cursor *heap = memory_new(set->count, sizeof *heap);
    errno = 0;
    size_t count = fill_heap(set, options, heap, &start);
    merge(heap, count, options, start, out);
    free(heap);
    if (fflush(out) != 0 || ferror(out))
        return error_set(error, ERROR_IO, "output: %s", strerror(errno));
    return OK;
}

/* --- options ---------------------------------------------------------------------------------- */

struct trace_print_options trace_print_options_default(void)
{
    return (struct trace_print_options){
        .rank = -1, .incarnation = -1, .level = -1, .kind = -1, .to = UINT64_MAX};
}

int trace_kind_from_text(const char *text)
{
    for (int kind = 0; kind < RECORD_KIND_COUNT; kind++)
        if (strcmp(text, record_kind_text((unsigned)kind)) == 0)
            return kind;
    return -1;
}

int trace_level_from_text(const char *text)
{
    for (int level = LEVEL_APP; level <= LEVEL_SELF; level++)
        if (strcmp(text, level_text((unsigned)level)) == 0)
            return level;
    return -1;
}
