/* See layout.h. A topological order. Each rank has its next event (`next`); one that is ready, of
 * several the earliest, is placed, and the rank goes on. An event is ready when the sends of its
 * messages have been placed; a call of a collective, when all members are at their calls, which are
 * then placed together. Its column is the first that is free on its rank and right of its causes:
 *
 *     rank 0:  a   send                  columns:  a 0   send 1
 *     rank 1:  b          recv   c                 b 0   recv 2   c 3
 *
 * It is done life by life: what comes after a restart of the whole job stands to the right of all
 * that was before. Where each waits for another, which threads and non-blocking calls can bring
 * about, the earliest event goes on alone, so that it always ends. To place events by their times
 * would let arrows point backwards, since clocks differ, and would leave most of the width empty.
 *
 * Invariant: all of a rank's events below next[place] are placed or hidden, and `after` is right
 * of all of them. Cost: for each event placed, a look at the next event of every rank. */
#include "reports/walk/layout.h"

#include "base/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LAYOUT_NAME_BYTES 32

struct placing {
    const struct slice *slice;
    const struct arrows *arrows;
    const struct layout_wish *wish;
    struct layout *layout;
    size_t *next;      /* by place: the event to be placed next; in the slice */
    size_t *end;       /* by place */
    size_t *free_from; /* by place: first column that is free */
    bool *has_event;   /* by place: some event is shown */
    size_t *meeting;   /* by event: number of its collective + 1, 0: none */
    size_t *cause;     /* by event: first of its causes in `causes` */
    size_t *causes;    /* senders, by receiver */
    size_t columns;    /* used so far */
};

static bool is_shown(const struct placing *placing, size_t event)
{
    return placing->wish->shown == NULL || placing->wish->shown[event];
}

static void pass_hidden(struct placing *placing, size_t place)
{
    while (placing->next[place] < placing->end[place] && !is_shown(placing, placing->next[place]))
        placing->next[place]++;
}

static bool is_head(const struct placing *placing, size_t event)
{
    return placing->next[placing->slice->event[event].place] == event;
}

static bool is_placed(const struct placing *placing, size_t event)
{
    return placing->layout->spot[event].shown;
}

/* --- order ------------------------------------------------------------------------------------ */

static bool causes_are_placed(const struct placing *placing, size_t event)
{
    for (size_t i = placing->cause[event]; i < placing->cause[event + 1]; i++)
        if (is_shown(placing, placing->causes[i]) && !is_placed(placing, placing->causes[i]))
            return false;
    return true;
}

/* All of the process that is shown is placed: its death comes next. */
static bool is_over(const struct placing *placing, size_t place)
{
    return placing->next[place] == placing->end[place];
}

static bool news_is_placed(const struct placing *placing, size_t event)
{
    const struct news *news = &placing->arrows->news;
    for (size_t i = 0; i < news->count; i++) {
        const struct news_item *item = &news->item[i];
        if (item->to != event)
            continue;
        if (item->from == SLICE_NONE
                ? !is_over(placing, item->dead)
                : is_shown(placing, item->from) && !is_placed(placing, item->from))
            return false;
    }
    return true;
}

static bool is_ready(const struct placing *placing, size_t event)
{
    if (!causes_are_placed(placing, event) || !news_is_placed(placing, event))
        return false;
    if (placing->meeting[event] == 0)
        return true;
    const struct meeting *meeting = &placing->arrows->meeting[placing->meeting[event] - 1];
    for (size_t i = 0; i < meeting->count; i++) {
        size_t member = meeting->event[i];
        if (is_shown(placing, member) && !is_placed(placing, member) &&
            !(is_head(placing, member) && causes_are_placed(placing, member)))
            return false;
    }
    return true;
}

/* A process that came later begins right of what was done before it came. */
static size_t first_column(const struct placing *placing, size_t event)
{
    const struct slice_event *first = &placing->slice->event[event];
    size_t column = placing->free_from[first->place];
    if (first->trace->rank < placing->slice->set->world || placing->has_event[first->place])
        return column;
    for (size_t i = 0; i < placing->slice->count; i++)
        if (is_placed(placing, i) && placing->slice->event[i].point_ns <= first->enter_ns &&
            placing->layout->spot[i].column >= column)
            column = placing->layout->spot[i].column + 1;
    return column;
}

static size_t column_of(const struct placing *placing, size_t event)
{
    size_t column = first_column(placing, event);
    for (size_t i = placing->cause[event]; i < placing->cause[event + 1]; i++)
        if (is_placed(placing, placing->causes[i]) &&
            placing->layout->spot[placing->causes[i]].column >= column)
            column = placing->layout->spot[placing->causes[i]].column + 1;
    for (size_t i = 0; i < placing->arrows->news.count; i++) {
        const struct news_item *item = &placing->arrows->news.item[i];
        if (item->to != event)
            continue;
        if (item->from == SLICE_NONE && placing->free_from[item->dead] >= column)
            column = placing->free_from[item->dead] + 1;
        else if (item->from != SLICE_NONE && is_placed(placing, item->from) &&
                 placing->layout->spot[item->from].column >= column)
            column = placing->layout->spot[item->from].column + 1;
    }
    return column;
}

static void put(struct placing *placing, size_t event, size_t column)
{
    size_t place = placing->slice->event[event].place;
    placing->layout->spot[event].shown = true;
    placing->layout->spot[event].column = column;
    placing->free_from[place] = column + 1;
    placing->has_event[place] = true;
    if (column >= placing->columns)
        placing->columns = column + 1;
    placing->next[place]++;
    pass_hidden(placing, place);
}

/* With the others of its collective, if `together`. */
static void put_event(struct placing *placing, size_t event, bool together)
{
    size_t number = placing->meeting[event], column = column_of(placing, event);
    if (number == 0 || !together) {
        put(placing, event, column);
        return;
    }
    const struct meeting *meeting = &placing->arrows->meeting[number - 1];
    for (size_t i = 0; i < meeting->count; i++)
        if (is_head(placing, meeting->event[i]) && column_of(placing, meeting->event[i]) > column)
            column = column_of(placing, meeting->event[i]);
    for (size_t i = 0; i < meeting->count; i++)
        if (is_head(placing, meeting->event[i]))
            put(placing, meeting->event[i], column);
}

/* The earliest of those that may go on in this life; any: also of those that may not. */
static size_t choose(const struct placing *placing, int incarnation, bool any)
{
    size_t best = SLICE_NONE;
    for (size_t place = 0; place < placing->slice->set->count; place++) {
        size_t event = placing->next[place];
        if (event == placing->end[place] ||
            (incarnation >= 0 && placing->slice->event[event].trace->incarnation != incarnation) ||
            (!any && !is_ready(placing, event)))
            continue;
        if (best == SLICE_NONE ||
            placing->slice->event[event].point_ns < placing->slice->event[best].point_ns)
            best = event;
    }
    return best;
}

static void place_all(struct placing *placing, int incarnation)
{
    for (;;) {
        size_t event = choose(placing, incarnation, false);
        bool together = event != SLICE_NONE;
        if (!together)
            event = choose(placing, incarnation, true);
        if (event == SLICE_NONE)
            return;
        put_event(placing, event, together);
    }
}

/* A process that died has the first column that is free on its row for that. */
static void place_deaths(struct placing *placing, int incarnation)
{
    const struct trace_set *set = placing->slice->set;
    for (size_t place = 0; place < set->count; place++) {
        if (set->trace[place].incarnation != incarnation || !news_is_dead(&set->trace[place]) ||
            !placing->has_event[place])
            continue;
        placing->layout->death[place] = placing->free_from[place];
        if (placing->free_from[place] >= placing->columns)
            placing->columns = placing->free_from[place] + 1;
    }
}

/* A rank's later life begins where everything before it, of a job that was started again as a
 * whole, has ended. */
static void place_lives(struct placing *placing)
{
    for (int i = 0; i < placing->slice->set->incarnations; i++) {
        size_t start = placing->columns + (i > 0 ? 1 : 0);
        for (size_t place = 0; place < placing->slice->set->count; place++)
            if (placing->slice->set->trace[place].incarnation == i)
                placing->free_from[place] = start;
        place_all(placing, i);
        place_deaths(placing, i);
    }
}

/* --- what is needed for it -------------------------------------------------------------------- */

/* Senders by receiver: counted, then filled in. */
static void list_causes(struct placing *placing)
{
    const struct arrows *arrows = placing->arrows;
    size_t count = placing->slice->count;
    for (size_t i = 0; i < arrows->count; i++)
        if (arrow_is_forward(&arrows->arrow[i]))
            placing->cause[arrows->arrow[i].to + 1]++;
    for (size_t i = 0; i < count; i++)
        placing->cause[i + 1] += placing->cause[i];
    for (size_t i = 0; i < arrows->count; i++) {
        const struct arrow *arrow = &arrows->arrow[i];
        if (!arrow_is_forward(arrow))
            continue;
        size_t at = placing->cause[arrow->to];
        while (placing->causes[at] != SLICE_NONE)
            at++;
        placing->causes[at] = arrow->from;
    }
}

static void begin(struct placing *placing)
{
    size_t places = placing->slice->set->count, count = placing->slice->count;
    placing->next = memory_new(places, sizeof *placing->next);
    placing->end = memory_new(places, sizeof *placing->end);
    placing->free_from = memory_new(places, sizeof *placing->free_from);
    placing->has_event = memory_new(places, sizeof *placing->has_event);
    placing->layout->death = memory_new(places, sizeof *placing->layout->death);
    for (size_t place = 0; place < places; place++)
        placing->layout->death[place] = SLICE_NONE;
    placing->meeting = memory_new(count, sizeof *placing->meeting);
    placing->cause = memory_new(count + 2, sizeof *placing->cause);
    placing->causes = memory_new(placing->arrows->count + 1, sizeof *placing->causes);
    placing->layout->spot = memory_new(count, sizeof *placing->layout->spot);
    for (size_t i = 0; i < placing->arrows->count; i++)
        placing->causes[i] = SLICE_NONE;
    list_causes(placing);
    for (size_t i = 0; i < placing->arrows->meeting_count; i++)
        for (size_t k = 0; k < placing->arrows->meeting[i].count; k++)
            placing->meeting[placing->arrows->meeting[i].event[k]] = i + 1;
    for (size_t i = count; i > 0; i--)
        placing->next[placing->slice->event[i - 1].place] = i - 1;
    for (size_t i = 0; i < count; i++)
        placing->end[placing->slice->event[i].place] = i + 1;
    for (size_t place = 0; place < places; place++)
        pass_hidden(placing, place);
}

static void finish(struct placing *placing)
{
    free(placing->next);
    free(placing->end);
    free(placing->free_from);
    free(placing->has_event);
    free(placing->meeting);
    free(placing->cause);
    free(placing->causes);
}

/* --- coordinates ------------------------------------------------------------------------------ */

/* The rows: ranks that have an event, from the least. */
static void make_rows(struct layout *layout, bool all_ranks)
{
    const struct slice *slice = layout->slice;
    int ranks = slice->set->ranks;
    int *row = memory_new((size_t)ranks, sizeof *row);
    layout->rank = memory_new((size_t)ranks, sizeof *layout->rank);
    for (size_t i = 0; i < slice->count; i++)
        if (layout->spot[i].shown)
            row[slice->event[i].trace->rank] = 1;
    for (int rank = 0; rank < ranks; rank++)
        if (row[rank] != 0 || all_ranks) {
            layout->rank[layout->row_count] = rank;
            row[rank] = layout->row_count++;
        }
    for (size_t i = 0; i < slice->count; i++)
        if (layout->spot[i].shown)
            layout->spot[i].row = row[slice->event[i].trace->rank];
    free(row);
}

/* What is written at one event, or at a death: above it, with its middle there, and below it. */
struct written {
    size_t column;
    int row;
    double half;                    /* above: half as wide as the label; 0: none */
    double below_left, below_right; /* as far left and right of the event; both 0: nothing */
};

static int by_column(const void *left, const void *right)
{
    const struct written *a = left, *b = right;
    return (a->column > b->column) - (a->column < b->column);
}

static double name_width(const struct trace *trace)
{
    char name[LAYOUT_NAME_BYTES];
    return LAYOUT_NAME_WIDTH *
           snprintf(name, sizeof name, "r%d#%d", trace->rank, trace->incarnation);
}

/* Of the event at `at`; first: of its life, whose name stands there too. */
static struct written written_at(struct layout *layout, const struct layout_wish *wish, size_t at,
                                 bool first)
{
    struct layout_spot *spot = &layout->spot[at];
    struct written written = {.column = spot->column, .row = spot->row};
    unsigned marks = wish->marks != NULL ? wish->marks[at] : 0;
    if (wish->letters != NULL)
        written.half = wish->letters[at] * LAYOUT_LETTER_WIDTH / 2;
    spot->mark = LAYOUT_MARK_LEFT;
    if (first) {
        written.below_left = LAYOUT_BEYOND;
        written.below_right = name_width(layout->slice->event[at].trace) - LAYOUT_BEYOND;
        spot->mark = fmax(LAYOUT_MARK_LEFT, written.below_right + LAYOUT_TEXT_GAP);
    }
    if (marks > 0)
        written.below_right = spot->mark + marks * LAYOUT_MARK_WIDTH;
    if (marks > 0 && !first)
        written.below_left = -spot->mark;
    return written;
}

/* All that is written, by column. Owned by the caller. */
static struct written *list_written(struct layout *layout, const struct layout_wish *wish,
                                    size_t *count)
{
    const struct slice *slice = layout->slice;
    struct written *list = memory_new(2 * slice->count, sizeof *list);
    const struct trace *life = NULL;
    *count = 0;
    for (size_t i = 0; i < slice->count; i++) {
        const struct slice_event *event = &slice->event[i];
        size_t death = layout->death[event->place];
        bool first = event->trace != life;
        if (!layout->spot[i].shown)
            continue;
        list[(*count)++] = written_at(layout, wish, i, first);
        if (first && death != SLICE_NONE)
            list[(*count)++] =
                (struct written){.column = death,
                                 .row = layout->spot[i].row,
                                 .half = LAYOUT_DEATH_LETTERS * LAYOUT_LETTER_WIDTH / 2};
        life = event->trace;
    }
    if (*count > 0)
        qsort(list, *count, sizeof *list, by_column);
    return list;
}

/* From left to right, each column as near to the one before as it can be: what is written in a row
 * must not touch. above, below: by row, the right end of what is written there so far. */
static void make_columns(struct layout *layout, const struct layout_wish *wish)
{
    size_t count, at = 0;
    struct written *list = list_written(layout, wish, &count);
    double *above = memory_new((size_t)layout->row_count, sizeof *above);
    double *below = memory_new((size_t)layout->row_count, sizeof *below);
    double x = LAYOUT_LEFT - wish->column_width / 2, right = LAYOUT_LEFT;
    layout->column_x = memory_new(layout->column_count, sizeof *layout->column_x);
    for (int row = 0; row < layout->row_count; row++)
        above[row] = LAYOUT_TEXT_GAP, below[row] = LAYOUT_LEFT - LAYOUT_BEYOND;
    for (size_t column = 0; column < layout->column_count; column++) {
        size_t end = at;
        x += wish->column_width;
        for (; end < count && list[end].column == column; end++) {
            const struct written *written = &list[end];
            if (written->half > 0)
                x = fmax(x, above[written->row] + LAYOUT_TEXT_GAP + written->half);
            if (written->below_right > 0)
                x = fmax(x, below[written->row] + LAYOUT_TEXT_GAP + written->below_left);
        }
        layout->column_x[column] = x;
        for (; at < end; at++) {
            const struct written *written = &list[at];
            if (written->half > 0)
                above[written->row] = x + written->half;
            if (written->below_right > 0)
                below[written->row] = x + written->below_right;
            right = fmax(right, x + fmax(written->half, written->below_right));
        }
    }
    layout->width = fmax(right, x + wish->column_width / 2) + LAYOUT_RIGHT;
    layout->height = LAYOUT_TOP + layout->row_count * LAYOUT_ROW_HEIGHT;
    free(list);
    free(above);
    free(below);
}

static void make_lives(struct layout *layout)
{
    const struct slice *slice = layout->slice;
    layout->life = memory_new(slice->set->count, sizeof *layout->life);
    for (size_t i = 0; i < slice->count; i++) {
        struct layout_spot *spot = &layout->spot[i];
        const struct trace *trace = slice->event[i].trace;
        if (!spot->shown)
            continue;
        spot->x = layout->column_x[spot->column];
        spot->y = LAYOUT_TOP + (spot->row + 0.5) * LAYOUT_ROW_HEIGHT;
        struct layout_life *life =
            layout->life_count > 0 ? &layout->life[layout->life_count - 1] : NULL;
        if (life == NULL || life->trace != trace) {
            life = &layout->life[layout->life_count++];
            *life = (struct layout_life){.trace = trace, .first = i, .from = spot->x, .y = spot->y};
            life->died = atomic_load(&trace->header->closed) == 0;
            if (layout->death[slice->event[i].place] != SLICE_NONE)
                life->death = layout->column_x[layout->death[slice->event[i].place]];
        }
        life->last = i;
        life->to = spot->x;
    }
}

void layout_make(const struct slice *slice, const struct arrows *arrows,
                 const struct layout_wish *wish, struct layout *layout)
{
    struct placing placing = {.slice = slice, .arrows = arrows, .wish = wish, .layout = layout};
    *layout = (struct layout){.slice = slice};
    begin(&placing);
    place_lives(&placing);
    layout->column_count = placing.columns;
    finish(&placing);
    make_rows(layout, wish->all_ranks);
    make_columns(layout, wish);
    make_lives(layout);
}

void layout_release(struct layout *layout)
{
    free(layout->spot);
    free(layout->rank);
    free(layout->column_x);
    free(layout->death);
    free(layout->life);
    *layout = (struct layout){0};
}
