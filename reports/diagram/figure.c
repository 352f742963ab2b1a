/* See figure.h. */
#include "reports/diagram/figure.h"

#include "base/memory.h"
#include "reports/diagram/diagram_words.h"
#include "reports/diagram/figure_parts.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LETTERS 26
#define BAND_HALF 7.0
#define LEARNED_BYTES 20 /* of a label: for one more that is dead */
#define WAVE_LENGTH 9.0
#define WAVE_HEIGHT 5.0
#define PATH_BYTES 8192
#define NS_PER_S 1e9

/* Of texts and events, from the line of their rank: as diagram.xsl draws them. */
#define LABEL_Y (-14.0)
#define LABEL_SIZE 10.0
#define ROW_NAME_ABOVE 8.0
#define ROW_NAME_BELOW 20.0
#define LIFE_NAME_WIDTH 40.0
#define GLYPH_HALF 8.0
#define BELOW_BOTTOM 21.0

/* --- words ------------------------------------------------------------------------------------ */

const char *figure_event_id(const struct figure *figure, size_t event,
                            char buffer[DIAGRAM_ID_BYTES])
{
    const struct slice_event *one = &figure->slice->event[event];
    snprintf(buffer, DIAGRAM_ID_BYTES, "%s-r%d-%d-%" PRIu64, figure->wish->id, one->trace->rank,
             one->trace->incarnation, one->index);
    return buffer;
}

const char *figure_letter(const struct figure *figure, size_t event)
{
    return figure->letter[event][0] != '\0' ? figure->letter[event] : NULL;
}

bool figure_is_faded(const struct figure *figure, size_t event)
{
    const struct slice_event *one = &figure->slice->event[event];
    return figure->has_witness && !one->related && !one->fault;
}

static void put_letters(struct figure *figure)
{
    for (size_t i = 0; i < figure->wish->witness_count && i < LETTERS; i++) {
        size_t event = slice_find(figure->slice, &figure->wish->witness[i]);
        if (event == SLICE_NONE)
            continue;
        size_t used = strlen(figure->letter[event]);
        figure->has_witness = true;
        if (used + 1 < sizeof figure->letter[event])
            figure->letter[event][used] = (char)('A' + i);
    }
}

/* "r1 dead", "r1 r3 dead": what is learned of by a call. */
static void put_learned(char label[DIAGRAM_LABEL_BYTES], int process)
{
    static const char dead[] = " dead";
    size_t used = strlen(label), end = sizeof dead - 1;
    if (used >= end && strcmp(label + used - end, dead) == 0)
        used -= end;
    if (used + LEARNED_BYTES < DIAGRAM_LABEL_BYTES)
        snprintf(label + used, DIAGRAM_LABEL_BYTES - used, "%sr%d%s", used > 0 ? " " : "", process,
                 dead);
}

static void put_news(struct figure *figure)
{
    const struct news *news = &figure->arrows->news;
    for (size_t i = 0; i < news->count; i++) {
        const struct news_item *item = &news->item[i];
        char *label = figure->label[item->to];
        if (item->kind == NEWS_LEARNED) {
            put_learned(label, figure->slice->set->trace[item->dead].rank);
        } else if (item->kind == NEWS_REVOKED) {
            snprintf(label, DIAGRAM_LABEL_BYTES, "revoked");
            snprintf(figure->label[item->from], DIAGRAM_LABEL_BYTES, "revokes");
        }
    }
}

/* "waits for r2", "polls 50003 times": of the witness of a run that did not end. */
static void put_waits(struct figure *figure)
{
    for (size_t i = 0; i < figure->slice->count; i++) {
        const struct slice_event *event = &figure->slice->event[i];
        const struct record *record = event->record;
        bool asks = record->kind == RECORD_PROBE || record->kind == RECORD_COMPLETE;
        int32_t peer = record->kind == RECORD_RECV ? record->want_peer : record->peer;
        if (figure->letter[i][0] == '\0' || figure->label[i][0] != '\0')
            continue;
        if (asks && (record->flags & FLAG_NEGATIVE) != 0 && record->bytes > 1)
            snprintf(figure->label[i], DIAGRAM_LABEL_BYTES, "polls %" PRIu64 " times",
                     record->bytes);
        else if (event->in_progress && (record->kind == RECORD_RECV || record->kind == RECORD_SEND))
            snprintf(figure->label[i], DIAGRAM_LABEL_BYTES,
                     peer >= 0 ? "waits for r%" PRId32 : "waits", peer);
    }
}

void figure_init(struct figure *figure, struct xml *xml, const struct diagram_wish *wish,
                 const struct slice *slice, const struct arrows *arrows)
{
    *figure = (struct figure){.xml = xml, .wish = wish, .slice = slice, .arrows = arrows};
    figure->letters = memory_new(slice->count, sizeof *figure->letters);
    figure->marks = memory_new(slice->count, sizeof *figure->marks);
    figure->letter = memory_new(slice->count, sizeof *figure->letter);
    figure->label = memory_new(slice->count, sizeof *figure->label);
    put_letters(figure);
    for (size_t i = 0; i < slice->count; i++)
        diagram_label(&slice->event[i], wish->plan, figure->label[i]);
    put_news(figure);
    put_waits(figure);
    for (size_t i = 0; i < slice->count; i++) {
        figure->letters[i] = (unsigned)strlen(figure->label[i]);
        figure->marks[i] = (unsigned)strlen(figure->letter[i]);
    }
}

void figure_release(struct figure *figure)
{
    free(figure->letters);
    free(figure->marks);
    free(figure->letter);
    free(figure->label);
    *figure = (struct figure){0};
}

/* --- rows and lives --------------------------------------------------------------------------- */

void figure_put_place(const struct figure *figure, const char *x_name, const char *y_name, double x,
                      double y)
{
    xml_real(figure->xml, x_name, x, 1);
    xml_real(figure->xml, y_name, y, 1);
}

static void write_rows(const struct figure *figure)
{
    for (int i = 0; i < figure->layout->row_count; i++) {
        xml_begin(figure->xml, "row");
        int process = figure->layout->rank[i], rank = figure->arrows->news.rank_of[process];
        xml_number(figure->xml, "rank", process);
        if (process >= figure->slice->set->world)
            xml_flag(figure->xml, "later", true);
        if (rank >= 0)
            xml_number(figure->xml, "as", rank);
        xml_real(figure->xml, "y", LAYOUT_TOP + (i + 0.5) * LAYOUT_ROW_HEIGHT, 1);
        xml_end(figure->xml);
    }
}

/* Where events of the life are left out. */
static void write_gaps(const struct figure *figure, const struct layout_life *life)
{
    size_t before = SLICE_NONE;
    for (size_t i = life->first; i <= life->last; i++) {
        const struct layout_spot *spot = figure->layout->spot;
        if (!spot[i].shown)
            continue;
        bool gap = before == SLICE_NONE || i > before + 1 || figure->slice->event[i].gap;
        if (gap && !(before == SLICE_NONE && figure->slice->event[i].own == 0)) {
            xml_begin(figure->xml, "gap");
            xml_real(figure->xml, "x",
                     before != SLICE_NONE ? spot[before].x : life->from - LAYOUT_BEYOND, 1);
            xml_real(figure->xml, "to", spot[i].x, 1);
            xml_end(figure->xml);
        }
        before = i;
    }
}

/* The last that is shown of it is its own kill: that has a mark already. */
static bool is_own_kill(const struct figure *figure, const struct layout_life *life)
{
    const struct slice_event *last = &figure->slice->event[life->last];
    return slice_is_fault(last, FAULT_KILL_INSIDE) ||
           (slice_is_fault(last, FAULT_KILL) && last->record->peer == life->trace->rank);
}

/* Nobody saw it end, nor was it killed, and there is no incarnation after it: it was still running
 * when the traces end. */
static bool is_open(const struct figure *figure, const struct layout_life *life)
{
    if (!life->died || life->death > 0 ||
        life->trace->incarnation != figure->slice->set->incarnations - 1)
        return false;
    for (size_t i = 0; i < figure->slice->count; i++) {
        const struct slice_event *event = &figure->slice->event[i];
        bool other = slice_is_fault(event, FAULT_KILL) &&
                     event->record->peer == life->trace->rank &&
                     event->trace->incarnation == life->trace->incarnation;
        bool own = slice_is_fault(event, FAULT_KILL_INSIDE) && event->trace == life->trace;
        if (other || own)
            return false;
    }
    return true;
}

/* "signal 9", as its parent saw it end. */
static void put_cause(const struct figure *figure, const struct record *end)
{
    char cause[DIAGRAM_LABEL_BYTES];
    if (end->tag != 0)
        snprintf(cause, sizeof cause, "signal %" PRId32, end->tag);
    else
        snprintf(cause, sizeof cause, "exit %" PRIu64, end->bytes);
    xml_attribute(figure->xml, "cause", cause);
}

static void write_lives(const struct figure *figure)
{
    for (size_t i = 0; i < figure->layout->life_count; i++) {
        const struct layout_life *life = &figure->layout->life[i];
        char name[POINTS_BYTES];
        snprintf(name, sizeof name, "r%d#%d", life->trace->rank, life->trace->incarnation);
        xml_begin(figure->xml, "life");
        xml_attribute(figure->xml, "name", name);
        xml_number(figure->xml, "rank", life->trace->rank);
        figure_put_place(figure, "x", "y", life->from - LAYOUT_BEYOND, life->y);
        xml_real(figure->xml, "to", life->death > 0 ? life->death : life->to + LAYOUT_BEYOND, 1);
        bool open = is_open(figure, life);
        xml_flag(figure->xml, "open", open);
        xml_flag(figure->xml, "died",
                 life->death > 0 || (life->died && !open && !is_own_kill(figure, life)));
        if (life->death > 0)
            put_cause(figure, life->trace->end);
        write_gaps(figure, life);
        xml_end(figure->xml);
    }
}

/* --- recovery lines and stop-log lines -------------------------------------------------------- */

struct line_point {
    int incarnation;
    uint64_t number;
    int row;
    size_t event;
};

static int by_line(const void *left, const void *right)
{
    const struct line_point *a = left, *b = right;
    if (a->incarnation != b->incarnation)
        return a->incarnation - b->incarnation;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    if (a->row != b->row)
        return a->row - b->row;
    return (a->event > b->event) - (a->event < b->event);
}

/* Through the last note of each rank, and a little over both ends: where ranks live on a line that
 * not all had taken when one died is taken again. */
static void write_line(const struct figure *figure, const char *kind,
                       const struct line_point *point, size_t count)
{
    const struct layout_spot *spot = figure->layout->spot;
    char *text = NULL;
    size_t bytes = 0;
    FILE *out = memory_stream(&text, &bytes);
    double half = LAYOUT_ROW_HEIGHT / 2.0;
    const struct layout_spot *first = &spot[point[0].event], *last = &spot[point[count - 1].event];
    for (size_t i = 1; i < count && point[i].row == point[0].row; i++)
        first = &spot[point[i].event];
    fprintf(out, "%.1f,%.1f", first->x, first->y - half);
    for (size_t i = 0; i < count; i++)
        if (i + 1 == count || point[i].row != point[i + 1].row)
            fprintf(out, " %.1f,%.1f", spot[point[i].event].x, spot[point[i].event].y);
    fprintf(out, " %.1f,%.1f", last->x, last->y + half);
    memory_stream_end(out);
    xml_begin(figure->xml, "line");
    xml_attribute(figure->xml, "kind", kind);
    xml_number(figure->xml, "number", (int64_t)point->number);
    xml_number(figure->xml, "incarnation", point->incarnation);
    xml_attribute(figure->xml, "points", text);
    xml_end(figure->xml);
    free(text);
}

static void write_lines_of(const struct figure *figure, unsigned note, const char *kind,
                           struct line_point *point)
{
    const struct slice *slice = figure->slice;
    size_t count = 0;
    for (size_t i = 0; i < slice->count; i++)
        if (figure->layout->spot[i].shown && slice_is_note(&slice->event[i], note))
            point[count++] =
                (struct line_point){slice->event[i].trace->incarnation,
                                    slice->event[i].record->bytes, figure->layout->spot[i].row, i};
    if (count > 1)
        qsort(point, count, sizeof *point, by_line);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count; end++)
            if (point[end].number != point[first].number ||
                point[end].incarnation != point[first].incarnation)
                break;
        write_line(figure, kind, &point[first], end - first);
    }
}

static void write_lines(const struct figure *figure)
{
    struct line_point *point = memory_new(figure->slice->count, sizeof *point);
    write_lines_of(figure, NOTE_CHECKPOINT, "recovery", point);
    write_lines_of(figure, NOTE_STOP_LOG, "stop-log", point);
    free(point);
}

/* --- collectives ------------------------------------------------------------------------------ */

/* A band behind the calls that are in the picture, if that are two at least. */
static void write_band(const struct figure *figure, const struct meeting *meeting)
{
    double left = INFINITY, right = -INFINITY, top = INFINITY, bottom = -INFINITY;
    size_t count = 0, first = SLICE_NONE;
    bool faded = true;
    for (size_t i = 0; i < meeting->count; i++) {
        const struct layout_spot *spot = &figure->layout->spot[meeting->event[i]];
        if (!spot->shown)
            continue;
        count++;
        first = meeting->event[i];
        left = fmin(left, spot->x);
        right = fmax(right, spot->x);
        top = fmin(top, spot->y);
        bottom = fmax(bottom, spot->y);
        faded = faded && figure_is_faded(figure, meeting->event[i]);
    }
    if (count < 2)
        return;
    const struct record *record = figure->slice->event[first].record;
    char words[TITLE_BYTES], comm[DIAGRAM_LABEL_BYTES];
    diagram_comm(&figure->slice->event[first], comm);
    snprintf(words, sizeof words, "%s of %zu ranks, communicator %s", call_name(record->call),
             meeting->count, comm);
    xml_begin(figure->xml, "band");
    figure_put_place(figure, "x", "y", left - BAND_HALF, top - BAND_HALF);
    figure_put_place(figure, "width", "height", right - left + 2 * BAND_HALF,
                     bottom - top + 2 * BAND_HALF);
    xml_attribute(figure->xml, "words", words);
    xml_attribute(figure->xml, "comm", comm);
    xml_flag(figure->xml, "faded", faded);
    xml_end(figure->xml);
}

/* --- news ---------------------------------------------------------------------------------- */

static const struct layout_life *life_of(const struct figure *figure, size_t place)
{
    for (size_t i = 0; place != SLICE_NONE && i < figure->layout->life_count; i++)
        if (figure->layout->life[i].trace == &figure->slice->set->trace[place])
            return &figure->layout->life[i];
    return NULL;
}

/* A curve that swings about the straight line. */
static void put_wave(const struct figure *figure, const struct stroke *stroke)
{
    char path[PATH_BYTES];
    double dx = stroke->x2 - stroke->x1, dy = stroke->y2 - stroke->y1, length = hypot(dx, dy);
    unsigned count = (unsigned)(length / WAVE_LENGTH) + 1;
    double up_x = length > 0 ? -dy / length : 0, up_y = length > 0 ? dx / length : 0;
    size_t used = (size_t)snprintf(path, sizeof path, "M%.1f,%.1f", stroke->x1, stroke->y1);
    for (unsigned i = 0; i < count && used + 4 * POINTS_BYTES < sizeof path; i++) {
        double middle = (i + 0.5) / count, end = (i + 1.0) / count;
        double swing = i % 2 == 0 ? WAVE_HEIGHT : -WAVE_HEIGHT;
        used += (size_t)snprintf(path + used, sizeof path - used, " Q%.1f,%.1f %.1f,%.1f",
                                 stroke->x1 + dx * middle + up_x * swing,
                                 stroke->y1 + dy * middle + up_y * swing, stroke->x1 + dx * end,
                                 stroke->y1 + dy * end);
    }
    xml_attribute(figure->xml, "path", path);
}

static void put_news_words(const struct figure *figure, const struct news_item *item)
{
    static const char *const words[] = {
        [NEWS_TAKEN_OVER] = "r%d#%d took over the rank of r%d#%d, which had died",
        [NEWS_LEARNED] = "r%d#%d learned that r%d#%d had died",
        [NEWS_REVOKED] = "r%d#%d was told that r%d#%d had revoked the communicator"};
    static const char *const kinds[] = {
        [NEWS_TAKEN_OVER] = "taken-over", [NEWS_LEARNED] = "learned", [NEWS_REVOKED] = "revoked"};
    const struct slice *slice = figure->slice;
    const struct trace *to = slice->event[item->to].trace;
    const struct trace *from =
        item->from == SLICE_NONE ? &slice->set->trace[item->dead] : slice->event[item->from].trace;
    char text[TITLE_BYTES];
    snprintf(text, sizeof text, words[item->kind], to->rank, to->incarnation, from->rank,
             from->incarnation);
    xml_attribute(figure->xml, "kind", kinds[item->kind]);
    xml_attribute(figure->xml, "words", text);
}

static void write_news(const struct figure *figure, const struct news_item *item)
{
    const struct layout_life *dead = life_of(figure, item->dead);
    char path[4 * POINTS_BYTES], id[DIAGRAM_ID_BYTES];
    if (!figure_is_shown(figure, item->to) ||
        !(item->from == SLICE_NONE ? dead != NULL && dead->death > 0
                                   : figure_is_shown(figure, item->from)))
        return;
    const struct layout_spot *to = &figure->layout->spot[item->to];
    struct stroke stroke = {.x2 = to->x, .y2 = to->y};
    stroke.x1 = item->from == SLICE_NONE ? dead->death : figure->layout->spot[item->from].x;
    stroke.y1 = item->from == SLICE_NONE ? dead->y : figure->layout->spot[item->from].y;
    stroke = figure_shorten(stroke);
    xml_begin(figure->xml, "news");
    put_news_words(figure, item);
    if (item->from != SLICE_NONE)
        xml_attribute(figure->xml, "from", figure_event_id(figure, item->from, id));
    xml_attribute(figure->xml, "to", figure_event_id(figure, item->to, id));
    if (item->kind == NEWS_REVOKED) {
        put_wave(figure, &stroke);
    } else {
        snprintf(path, sizeof path, "M%.1f,%.1f L%.1f,%.1f", stroke.x1, stroke.y1, stroke.x2,
                 stroke.y2);
        xml_attribute(figure->xml, "path", path);
    }
    xml_end(figure->xml);
}

/* --- events ----------------------------------------------------------------------------------- */

static void put_title(const struct figure *figure, size_t at)
{
    const struct slice_event *event = &figure->slice->event[at];
    char title[TITLE_BYTES], words[DIAGRAM_WORDS_BYTES], name[EVENT_TEXT_BYTES];
    struct event_ref self = {event->trace->rank, event->trace->incarnation, event->index};
    const char *letter = figure_letter(figure, at);
    snprintf(title, sizeof title, "%s%s%s%s %s, at %.6f s%s", letter != NULL ? "witness " : "",
             letter != NULL ? letter : "", letter != NULL ? ": " : "", event_text(self, name),
             diagram_words(event, words), (double)event->enter_ns / NS_PER_S,
             event->in_progress ? ", in progress when the trace ended" : "");
    xml_attribute(figure->xml, "words", title);
}

static void write_event(const struct figure *figure, size_t at)
{
    const struct slice_event *event = &figure->slice->event[at];
    const struct layout_spot *spot = &figure->layout->spot[at];
    char id[DIAGRAM_ID_BYTES], comm[DIAGRAM_LABEL_BYTES];
    const char *label = figure->label[at];
    xml_begin(figure->xml, "event");
    xml_attribute(figure->xml, "id", figure_event_id(figure, at, id));
    xml_number(figure->xml, "rank", event->trace->rank);
    xml_attribute(figure->xml, "kind", diagram_kind(event));
    xml_attribute(figure->xml, "shape", diagram_shape(event));
    xml_attribute(figure->xml, "level", level_text(event->record->level));
    xml_real(figure->xml, "exactly", (double)event->enter_ns / NS_PER_S, 9);
    diagram_comm(event, comm);
    xml_attribute(figure->xml, "comm", comm[0] != '\0' ? comm : NULL);
    figure_put_place(figure, "x", "y", spot->x, spot->y);
    xml_real(figure->xml, "mark", spot->mark, 1);
    xml_attribute(figure->xml, "label", label[0] != '\0' ? label : NULL);
    xml_attribute(figure->xml, "letter", figure_letter(figure, at));
    xml_flag(figure->xml, "faded", figure_is_faded(figure, at));
    xml_flag(figure->xml, "open", event->in_progress);
    put_title(figure, at);
    xml_end(figure->xml);
}

/* --- the picture ------------------------------------------------------------------------------ */

/* Texts that have places of their own, and the events. */
static void take_texts(const struct figure *figure, struct labels *labels)
{
    const struct layout *layout = figure->layout;
    struct label_box box;
    for (int i = 0; i < layout->row_count; i++) {
        double y = LAYOUT_TOP + (i + 0.5) * LAYOUT_ROW_HEIGHT;
        box = (struct label_box){0, y - ROW_NAME_ABOVE, LAYOUT_LEFT - LAYOUT_BEYOND,
                                 y + ROW_NAME_BELOW};
        labels_take(labels, &box);
    }
    for (size_t i = 0; i < layout->life_count; i++) {
        const struct layout_life *life = &layout->life[i];
        double left = life->from - LAYOUT_BEYOND;
        box = (struct label_box){left, life->y + GLYPH_HALF, left + LIFE_NAME_WIDTH,
                                 life->y + BELOW_BOTTOM};
        labels_take(labels, &box);
        box = labels_box(life->death, life->y + LABEL_Y, LAYOUT_DEATH_LETTERS, LABEL_SIZE);
        if (life->death > 0)
            labels_take(labels, &box);
    }
    for (size_t i = 0; i < figure->slice->count; i++) {
        const struct layout_spot *spot = &layout->spot[i];
        if (!spot->shown)
            continue;
        box = (struct label_box){spot->x - GLYPH_HALF, spot->y - GLYPH_HALF, spot->x + GLYPH_HALF,
                                 spot->y + GLYPH_HALF};
        labels_take(labels, &box);
        box = labels_box(spot->x, spot->y + LABEL_Y, figure->letters[i], LABEL_SIZE);
        if (figure->letters[i] > 0)
            labels_take(labels, &box);
        box = (struct label_box){spot->x + spot->mark, spot->y,
                                 spot->x + spot->mark + figure->marks[i] * LAYOUT_MARK_WIDTH,
                                 spot->y + BELOW_BOTTOM};
        if (figure->marks[i] > 0)
            labels_take(labels, &box);
    }
}

static bool has_line(const struct figure *figure)
{
    for (size_t i = 0; i < figure->slice->count; i++)
        if (figure->layout->spot[i].shown &&
            slice_is_note(&figure->slice->event[i], NOTE_CHECKPOINT))
            return true;
    return false;
}

void figure_write(struct figure *figure)
{
    const struct layout *layout = figure->layout;
    struct labels labels = {0};
    size_t shown = 0;
    for (size_t i = 0; i < figure->slice->count; i++)
        if (layout->spot[i].shown)
            shown += 1 + (size_t)figure->slice->event[i].has_below;
    figure->has_line = has_line(figure);
    take_texts(figure, &labels);
    xml_begin(figure->xml, "figure");
    xml_attribute(figure->xml, "name", figure->name);
    xml_number(figure->xml, "shown", (int64_t)shown);
    figure_put_place(figure, "width", "height", ceil(layout->width), ceil(layout->height));
    for (size_t i = 0; i < figure->arrows->meeting_count; i++)
        write_band(figure, &figure->arrows->meeting[i]);
    write_rows(figure);
    write_lives(figure);
    write_lines(figure);
    figure_write_arrows(figure, &labels);
    for (size_t i = 0; i < figure->arrows->news.count; i++)
        write_news(figure, &figure->arrows->news.item[i]);
    for (size_t i = 0; i < figure->slice->count; i++)
        if (layout->spot[i].shown)
            write_event(figure, i);
    xml_end(figure->xml);
    labels_release(&labels);
}
