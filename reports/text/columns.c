/* See columns.h. One walk prints; a slice takes two more before it. */
#include "reports/text/columns.h"

#include "base/memory.h"
#include "oracles/reading/history.h"
#include "reports/text/columns_cell.h"
#include "reports/text/columns_slice.h"
#include "reports/text/trace_line.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TIME_WIDTH 10
#define COLUMN_LEAST 13 /* "*e1180 <0:e97" */
#define COLUMN_MOST 44  /* wider only pulls the columns apart */
#define COLUMNS_MOST (COLUMNS_WIDTH_MOST / COLUMN_LEAST)
#define RANKS_TOLD 8

#define COLOUR_FAULT "\x1b[1;31m"
#define COLOUR_WITNESS "\x1b[1m"
#define COLOUR_NOTE "\x1b[36m"
#define COLOUR_END "\x1b[0m"

enum rail { LIFE_NONE = ' ', LIFE_RUNS = '|', LIFE_LOGS = ':' };

struct column {
    int rank;
    int incarnation; /* that is shown; -1: none yet */
    enum rail life;
};

struct columns {
    const struct trace_set *set;
    const struct columns_options *options;
    struct columns_slice slice;
    FILE *out;
    size_t count;
    struct column column[COLUMNS_MOST];
    size_t width;   /* of a column, without the blank in front of it */
    uint64_t *last; /* by place: index of the last record that is an event; owned */
    bool stops_logging;
    uint64_t asked; /* candidates that the walk came to */
    uint64_t lines;
};

struct columns_options columns_options_default(void)
{
    return (struct columns_options){.print = trace_print_options_default(),
                                    .width = COLUMNS_WIDTH_DEFAULT};
}

/* --- which ranks have a column ---------------------------------------------------------------- */

static struct column *column_of(struct columns *columns, int rank)
{
    for (size_t i = 0; i < columns->count; i++)
        if (columns->column[i].rank == rank)
            return &columns->column[i];
    return NULL;
}

static void add_rank(struct columns *columns, size_t most, int rank)
{
    int only = columns->options->print.rank;
    if (columns->count < most && column_of(columns, rank) == NULL && (only < 0 || only == rank))
        columns->column[columns->count++] = (struct column){rank, -1, LIFE_NONE};
}

static int by_rank(const void *left, const void *right)
{
    const struct column *a = left, *b = right;
    return (a->rank > b->rank) - (a->rank < b->rank);
}

/* The ranks of the witness before the others; then in their order. */
static void lay_out(struct columns *columns)
{
    const struct columns_options *options = columns->options;
    size_t room = (size_t)options->width - TIME_WIDTH;
    size_t most = room / (COLUMN_LEAST + 1);
    for (size_t i = 0; i < options->witness_count; i++)
        add_rank(columns, most, options->witness[i].rank);
    for (int rank = 0; rank < columns->set->ranks; rank++)
        add_rank(columns, most, rank);
    qsort(columns->column, columns->count, sizeof columns->column[0], by_rank);
    columns->width = room / (columns->count > 0 ? columns->count : 1) - 1;
    if (columns->width > COLUMN_MOST)
        columns->width = COLUMN_MOST;
}

/* --- lines ------------------------------------------------------------------------------------ */

struct text_line {
    char text[COLUMNS_WIDTH_MOST + CELL_BYTES];
    size_t used;
};

static void put_padded(struct text_line *line, const char *text, size_t width)
{
    int length =
        snprintf(line->text + line->used, sizeof line->text - line->used, "%-*s", (int)width, text);
    line->used += (size_t)length;
}

static void finish_line(const struct columns *columns, struct text_line *line, const char *colour)
{
    while (line->used > 0 && line->text[line->used - 1] == ' ')
        line->used--;
    bool coloured = columns->options->print.colour && colour != NULL;
    fprintf(columns->out, "%s%.*s%s\n", coloured ? colour : "", (int)line->used, line->text,
            coloured ? COLOUR_END : "");
}

/* `text` stands in the column of `own`, its line of life in the others. */
static void print_line(const struct columns *columns, const struct column *own, uint64_t ns,
                       const char *text, const char *colour)
{
    struct text_line line = {.used = 0};
    char seconds[32];
    snprintf(seconds, sizeof seconds, "%*.6f", TIME_WIDTH, (double)ns / 1e9);
    put_padded(&line, seconds, TIME_WIDTH);
    for (size_t i = 0; i < columns->count; i++) {
        char life[3] = {' ', (char)columns->column[i].life, '\0'};
        put_padded(&line, "", 1);
        put_padded(&line, &columns->column[i] == own ? text : life, columns->width);
    }
    finish_line(columns, &line, colour);
}

static void print_heads(const struct columns *columns)
{
    struct text_line line = {.used = 0};
    char name[32];
    snprintf(name, sizeof name, "%*s", TIME_WIDTH, "seconds");
    put_padded(&line, name, TIME_WIDTH);
    for (size_t i = 0; i < columns->count; i++) {
        snprintf(name, sizeof name, "  r%d", columns->column[i].rank);
        put_padded(&line, name, columns->width + 1);
    }
    finish_line(columns, &line, NULL);
}

static void print_key(const struct columns *columns)
{
    fputs("e97 >2 t7       event 97 of this rank sends to rank 2, tag 7\n"
          "e118 <0:e97 t7  takes what rank 0 sent in its event 97; <0#0: in its first life\n"
          "...             never returned",
          columns->out);
    fputs(columns->options->witness_count > 0 ? "     * witness     ! fault\n" : "     ! fault\n",
          columns->out);
    if (columns->stops_logging)
        fputs("|               the rank lives     : it is between checkpoint and stop-log line\n",
              columns->out);
    putc('\n', columns->out);
}

/* What the reader must not take for all there is. */
static void print_left_out(const struct columns *columns)
{
    const struct trace_print_options *print = &columns->options->print;
    size_t told = 0, left = (size_t)columns->set->ranks - columns->count;
    if (columns->options->slice > 0 && columns->slice.count < columns->slice.candidates)
        fprintf(columns->out, "%zu of %" PRIu64 " events: %s.\n", columns->slice.count,
                columns->slice.candidates,
                columns->options->witness_count > 0
                    ? "the witness, and the last of what happened before it"
                    : "the last of the run");
    if (left == 0 || print->rank >= 0)
        return;
    fprintf(columns->out, "%zu of %d ranks do not fit", left, columns->set->ranks);
    for (int rank = 0; rank < columns->set->ranks && told < RANKS_TOLD; rank++)
        if (column_of((struct columns *)(uintptr_t)columns, rank) == NULL)
            fprintf(columns->out, "%sr%d", told++ == 0 ? ": " : ", ", rank);
    fprintf(columns->out, "%s.\n", left > told ? ", ..." : "");
}

static void print_witness(const struct columns *columns)
{
    const struct columns_options *options = columns->options;
    if (options->witness_count > 0)
        fputs("\nThe witness in full:\n", columns->out);
    for (size_t i = 0; i < options->witness_count; i++) {
        const struct event_ref *event = &options->witness[i];
        const struct trace *trace = trace_set_find(columns->set, event->rank, event->incarnation);
        char words[TRACE_LINE_BYTES + 1] = "not in the traces";
        char name[TRACE_EVENT_NAME_BYTES] = "", ref[EVENT_TEXT_BYTES];
        if (trace != NULL && event->index < trace->count) {
            trace_event_words(trace, event->index, words);
            trace_event_name(&trace->record[event->index], name);
        }
        fprintf(columns->out, "  %s  %s  %s\n", event_text(*event, ref), name, words);
    }
}

/* --- the walk --------------------------------------------------------------------------------- */

static bool notes_stop_log(const struct trace *trace)
{
    uint64_t at = trace->header->last_note;
    while (at > 0 && at <= trace->count) {
        const struct record *note = &trace->record[at - 1];
        if (note->kind != RECORD_NOTE || note->previous_note >= at)
            return false;
        if (note->tag == NOTE_STOP_LOG)
            return true;
        at = note->previous_note;
    }
    return false;
}

static void look_through(struct columns *columns)
{
    const struct trace_set *set = columns->set;
    columns->last = memory_new(set->count, sizeof *columns->last);
    for (size_t i = 0; i < set->count; i++) {
        const struct trace *trace = &set->trace[i];
        columns->last[i] = trace->count;
        for (uint64_t at = trace->count; at > 0 && columns->last[i] == trace->count; at--)
            if (record_is_event(&trace->record[at - 1]) &&
                trace->record[at - 1].kind < RECORD_KIND_COUNT)
                columns->last[i] = at - 1;
        columns->stops_logging |= notes_stop_log(trace);
    }
}

static bool is_asked_for(const struct columns_options *options, const struct walk_event *event)
{
    const struct trace_print_options *print = &options->print;
    if (walk_event_is_of(event, options->witness, options->witness_count))
        return true;
    if ((print->rank >= 0 && print->rank != event->trace->rank) ||
        (print->incarnation >= 0 && print->incarnation != event->trace->incarnation) ||
        event->index < print->from || event->index > print->to)
        return false;
    if (print->level < 0 && print->kind < 0)
        return cell_is_change(event);
    return (print->level < 0 || print->level == event->record->level) &&
           (print->kind < 0 || print->kind == event->record->kind);
}

static bool is_candidate(void *context, const struct walk_event *event)
{
    struct columns *columns = context;
    return column_of(columns, event->trace->rank) != NULL && is_asked_for(columns->options, event);
}

/* The line of the last event of a trace, or in its place: the rank is not there any more. */
static void print_end(struct columns *columns, const struct walk_event *event)
{
    struct column *column = column_of(columns, event->trace->rank);
    bool closed = atomic_load_explicit(&event->trace->header->closed, memory_order_relaxed) != 0;
    if (event->index != columns->last[event->place] || column == NULL ||
        column->incarnation != event->trace->incarnation)
        return;
    print_line(columns, column, event->leave_ns, closed ? " -- ends" : " -- cut off",
               closed ? NULL : COLOUR_FAULT);
    column->life = LIFE_NONE;
}

static bool is_over(const struct columns *columns)
{
    uint64_t limit = columns->options->print.limit;
    return limit > 0 && columns->lines >= limit;
}

static void begin_life(struct columns *columns, struct column *column,
                       const struct walk_event *event)
{
    char text[64];
    bool first = column->incarnation < 0 && event->trace->incarnation == 0;
    column->incarnation = event->trace->incarnation;
    column->life = LIFE_RUNS;
    snprintf(text, sizeof text, " -- life #%d", event->trace->incarnation);
    if (!first)
        print_line(columns, column, event->enter_ns, text, NULL);
}

static void follow_line(struct columns *columns, struct column *column, const struct record *record)
{
    if (record->kind != RECORD_NOTE || !columns->stops_logging)
        return;
    if (record->tag == NOTE_CHECKPOINT)
        column->life = LIFE_LOGS;
    else if (record->tag == NOTE_STOP_LOG || record->tag == NOTE_RESTORED)
        column->life = LIFE_RUNS;
}

/* An event that has no line of its own. */
static void pass_over(struct columns *columns, const struct walk_event *event)
{
    struct column *column = column_of(columns, event->trace->rank);
    if (column == NULL || is_over(columns))
        return;
    if (column->incarnation < 0 && event->trace->incarnation == 0)
        begin_life(columns, column, event);
    if (column->incarnation == event->trace->incarnation)
        follow_line(columns, column, event->record);
    print_end(columns, event);
}

/* Asked in the order of the walk, of every event. */
static bool is_wanted(void *context, const struct walk_event *event)
{
    struct columns *columns = context;
    bool wanted = is_candidate(columns, event);
    if (wanted && columns->options->slice > 0)
        wanted = columns_slice_holds(&columns->slice, columns->asked++);
    if (!wanted)
        pass_over(columns, event);
    return wanted;
}

static const char *colour_of(enum cell_mark mark, const struct record *record)
{
    if (mark == CELL_FAULT || record->error != 0)
        return COLOUR_FAULT;
    if (mark == CELL_WITNESS)
        return COLOUR_WITNESS;
    return record->kind == RECORD_NOTE ? COLOUR_NOTE : NULL;
}

/* A stream that takes no more ends the walk. */
static bool on_event(void *context, const struct walk_event *event)
{
    struct columns *columns = context;
    const struct columns_options *options = columns->options;
    struct column *column = column_of(columns, event->trace->rank);
    char text[CELL_BYTES];
    if (is_over(columns))
        return true;
    enum cell_mark mark = CELL_PLAIN;
    if (walk_event_is_of(event, options->witness, options->witness_count))
        mark = CELL_WITNESS;
    else if (event->record->kind == RECORD_FAULT)
        mark = CELL_FAULT;
    if (column->incarnation != event->trace->incarnation)
        begin_life(columns, column, event);
    cell_words(event, mark, columns->width, text);
    print_line(columns, column, event->enter_ns, text, colour_of(mark, event->record));
    follow_line(columns, column, event->record);
    columns->lines++;
    if (is_over(columns))
        fprintf(columns->out, "... more: the limit is %" PRIu64 " events\n", columns->lines);
    else
        print_end(columns, event);
    return !ferror(columns->out);
}

static void print_all(struct columns *columns, const struct links *links)
{
    const struct columns_options *options = columns->options;
    struct walk walk = {.context = columns, .wanted = is_candidate};
    look_through(columns);
    if (options->slice > 0)
        columns_slice_choose(links, &walk, options->witness, options->witness_count, options->slice,
                             &columns->slice);
    print_key(columns);
    print_left_out(columns);
    print_heads(columns);
    walk = (struct walk){.context = columns, .wanted = is_wanted, .event = on_event};
    (void)walk_run(links, &walk);
    print_witness(columns);
}

enum error_code columns_print(const struct trace_set *set, const struct columns_options *options,
                              FILE *out, struct error *error)
{
    struct columns columns = {.set = set, .options = options, .out = out};
    struct links links = {0};
    errno = 0;
    lay_out(&columns);
    enum error_code code = links_read(set, &links, error);
    if (code == OK)
        print_all(&columns, &links);
    links_release(&links);
    columns_slice_release(&columns.slice);
    free(columns.last);
    if (code == OK && (fflush(out) != 0 || ferror(out)))
        code = error_set(error, ERROR_IO, "output: %s", strerror(errno));
    return code;
}
