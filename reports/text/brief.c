/* See brief.h. What must be shown, then what is nearest, as long as the picture is narrow enough.
 */
#include "reports/text/brief.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Weights of the distance to the witness: other than in slice.c, since room is for few. */
#define WEIGHT_FAULT 0.2
#define WEIGHT_LINE 0.1
#define WEIGHT_MESSAGE 1.0
#define WEIGHT_OTHER 30.0
#define WEIGHT_UNRELATED 4.0
#define WEIGHT_STRANGER 3.0 /* of a rank that the witness does not name */

#define NEWS_MOST 8
#define DAMAGES_MOST 3 /* deaths and failures of the store, the first */
#define STEERS_MOST 1  /* of what else the plan does, the first */
#define LINE_EVENTS 24 /* with the notes of the witness's lines: of more ranks there is no room */

struct pick {
    size_t event;
    double price;
};

struct choosing {
    const struct slice *slice;
    const struct arrows *arrows;
    struct layout_wish wish;
    bool *shown;
    size_t must; /* of the order: these are shown in any case */
    size_t count;
    struct pick *order; /* the most telling first; owned */
};

static bool is_line(const struct slice_event *event)
{
    static const unsigned notes[] = {NOTE_CHECKPOINT, NOTE_STOP_LOG, NOTE_COMMIT, NOTE_RESTORED};
    for (size_t i = 0; i < sizeof notes / sizeof notes[0]; i++)
        if (slice_is_note(event, notes[i]))
            return true;
    return false;
}

/* own: its rank is one of those in the witness. */
static double price(const struct slice_event *event, bool own)
{
    unsigned kind = event->record->kind;
    bool message = kind == RECORD_SEND || kind == RECORD_COLLECTIVE ||
                   (kind == RECORD_RECV && event->record->request == 0) ||
                   (kind == RECORD_COMPLETE && event->record->comm != 0);
    double weight = kind == RECORD_FAULT ? WEIGHT_FAULT
                    : is_line(event)     ? WEIGHT_LINE
                    : message            ? WEIGHT_MESSAGE
                                         : WEIGHT_OTHER;
    if (event->record->level == LEVEL_WIRE)
        weight *= 2;
    return event->away * weight * (event->related ? 1 : WEIGHT_UNRELATED) *
           (own ? 1 : WEIGHT_STRANGER);
}

static int by_price(const void *left, const void *right)
{
    const struct pick *a = left, *b = right;
    if (a->price < b->price || a->price > b->price)
        return a->price < b->price ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static void add(struct choosing *choosing, size_t event)
{
    if (event == SLICE_NONE || choosing->shown[event])
        return;
    choosing->shown[event] = true;
    choosing->order[choosing->count++].event = event;
}

/* What all ranks noted of the line that an event of the witness is a note of. */
static void add_line_of(struct choosing *choosing, const struct slice_event *witness)
{
    if (!is_line(witness))
        return;
    for (size_t i = 0; i < choosing->slice->count && choosing->count < LINE_EVENTS; i++) {
        const struct slice_event *event = &choosing->slice->event[i];
        if (event->record->kind == RECORD_NOTE && event->record->tag == witness->record->tag &&
            event->record->bytes == witness->record->bytes &&
            event->trace->incarnation == witness->trace->incarnation)
            add(choosing, i);
    }
}

/* Who takes over, who learns of a death, whom a revocation reaches. */
static void add_news(struct choosing *choosing, bool any)
{
    const struct news *news = &choosing->arrows->news;
    for (size_t i = 0; any && i < news->count && i < NEWS_MOST; i++) {
        add(choosing, news->item[i].from);
        add(choosing, news->item[i].to);
    }
}

static bool is_damage(const struct slice_event *event)
{
    return slice_is_fault(event, FAULT_KILL) || slice_is_fault(event, FAULT_KILL_INSIDE) ||
           slice_is_fault(event, FAULT_STORAGE);
}

/* The first `most` faults that are damages, or are none, and not shown yet. */
static void add_first_faults(struct choosing *choosing, bool damages, size_t most)
{
    const struct slice *slice = choosing->slice;
    for (size_t count = 0; count < most; count++) {
        size_t first = SLICE_NONE;
        for (size_t i = 0; i < slice->count; i++) {
            const struct slice_event *event = &slice->event[i];
            if (event->fault && is_damage(event) == damages && !choosing->shown[i] &&
                (first == SLICE_NONE || event->enter_ns < slice->event[first].enter_ns))
                first = i;
        }
        add(choosing, first);
    }
}

/* The witness, the other ends of its messages and the rest of its lines; and what began it. */
static void add_witness(struct choosing *choosing)
{
    const struct slice *slice = choosing->slice;
    for (size_t i = 0; i < slice->count; i++)
        if (slice->event[i].witness || (slice->event[i].near && !slice->event[i].fault))
            add(choosing, i);
    add_first_faults(choosing, true, DAMAGES_MOST);
    add_first_faults(choosing, false, STEERS_MOST);
    size_t witnesses = choosing->count;
    for (size_t i = 0; i < choosing->arrows->count; i++) {
        const struct arrow *arrow = &choosing->arrows->arrow[i];
        for (size_t k = 0; k < witnesses; k++)
            if (arrow->from == choosing->order[k].event || arrow->to == choosing->order[k].event) {
                add(choosing, arrow->from);
                add(choosing, arrow->to);
            }
    }
    for (size_t k = 0; k < witnesses; k++)
        add_line_of(choosing, &slice->event[choosing->order[k].event]);
    add_news(choosing, witnesses > 0);
    choosing->must = choosing->count;
}

/* The rest, by price; of ranks that are in the picture, or while there is room for more. */
static void add_others(struct choosing *choosing, bool *row)
{
    const struct slice *slice = choosing->slice;
    int rows = 0;
    for (size_t i = 0; i < choosing->must; i++) {
        bool *own = &row[slice->event[choosing->order[i].event].trace->rank];
        rows += !*own;
        *own = true;
    }
    for (size_t i = 0; i < slice->count; i++)
        if (!choosing->shown[i])
            choosing->order[choosing->count++] =
                (struct pick){i, price(&slice->event[i], row[slice->event[i].trace->rank])};
    qsort(choosing->order + choosing->must, choosing->count - choosing->must,
          sizeof *choosing->order, by_price);
    size_t kept = choosing->must;
    for (size_t i = choosing->must; i < choosing->count && kept < BRIEF_EVENTS; i++) {
        int rank = slice->event[choosing->order[i].event].trace->rank;
        if (!row[rank] && rows >= BRIEF_ROWS)
            continue;
        rows += !row[rank];
        row[rank] = true;
        choosing->order[kept++] = choosing->order[i];
    }
    choosing->count = kept;
}

/* The picture of the first `count` of the order fits. */
static bool measure(struct choosing *choosing, size_t count)
{
    struct layout layout;
    memset(choosing->shown, 0, choosing->slice->count * sizeof *choosing->shown);
    for (size_t i = 0; i < count; i++)
        choosing->shown[choosing->order[i].event] = true;
    layout_make(choosing->slice, choosing->arrows, &choosing->wish, &layout);
    bool fits = layout.width <= BRIEF_WIDTH;
    layout_release(&layout);
    return fits;
}

/* As many as fit. */
static void narrow(struct choosing *choosing)
{
    size_t low = choosing->must, high = choosing->count;
    while (low < high) {
        size_t middle = low + (high - low + 1) / 2;
        if (measure(choosing, middle))
            low = middle;
        else
            high = middle - 1;
    }
    (void)measure(choosing, low);
}

/* The whole slice is narrow enough. */
static bool all_fits(struct choosing *choosing)
{
    struct layout layout;
    struct layout_wish wish = choosing->wish;
    wish.shown = NULL;
    layout_make(choosing->slice, choosing->arrows, &wish, &layout);
    bool fits = layout.width <= BRIEF_WIDTH && layout.row_count <= BRIEF_ROWS;
    layout_release(&layout);
    return fits;
}

bool brief_choose(const struct slice *slice, const struct arrows *arrows,
                  const struct brief_wish *wish)
{
    struct choosing choosing = {
        .slice = slice,
        .arrows = arrows,
        .wish = {wish->shown, wish->letters, wish->marks, wish->column_width, false},
        .shown = wish->shown};
    if (all_fits(&choosing))
        return false;
    bool *row = memory_new((size_t)slice->set->ranks, sizeof *row);
    choosing.order = memory_new(slice->count, sizeof *choosing.order);
    add_witness(&choosing);
    if (choosing.must > 0) {
        add_others(&choosing, row);
        narrow(&choosing);
    }
    free(row);
    free(choosing.order);
    return choosing.must > 0;
}
