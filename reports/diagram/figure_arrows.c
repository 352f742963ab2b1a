/* See figure_parts.h. Messages as arrows, and what stands at them: the kind, if it is one to tell
 * apart, and a sign where something is wrong. Such a text has no place of its own. It stands at its
 * arrow where there is room; where there is none it is left out, for dashes and the text that is
 * shown under the pointer say the same. */
#include "base/memory.h"
#include "reports/diagram/figure_parts.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GLYPH_RADIUS 5.0 /* arrows end so far from the middle of an event */
#define HEAD_LENGTH 8.0
#define HEAD_HALF 3.4
#define STUB_X 16.0 /* an arrow whose other end is not shown */
#define STUB_Y 14.0
#define SAME_ROW_BOW 16.0
#define NAMED_LENGTH 60.0 /* arrows that are shorter have no room for the name of their kind */
#define NAME_SIZE 9.0     /* of its letters */
#define NAME_BYTES 24

/* --- messages --------------------------------------------------------------------------------- */

/* Ends at the rim of what it joins. */
struct stroke figure_shorten(struct stroke stroke)
{
    double dx = stroke.x2 - stroke.x1, dy = stroke.y2 - stroke.y1, length = hypot(dx, dy);
    if (length <= 2 * GLYPH_RADIUS)
        return stroke;
    double cut = GLYPH_RADIUS / length;
    return (struct stroke){stroke.x1 + dx * cut, stroke.y1 + dy * cut, stroke.x2 - dx * cut,
                           stroke.y2 - dy * cut, stroke.bow};
}

static void write_path(const struct figure *figure, const struct stroke *stroke)
{
    char path[4 * POINTS_BYTES], head[4 * POINTS_BYTES];
    double middle = (stroke->x1 + stroke->x2) / 2, top = stroke->y1 - 2 * stroke->bow;
    double from_x = stroke->bow > 0 ? middle : stroke->x1;
    double from_y = stroke->bow > 0 ? top : stroke->y1;
    double dx = stroke->x2 - from_x, dy = stroke->y2 - from_y, length = hypot(dx, dy);
    if (stroke->bow > 0)
        snprintf(path, sizeof path, "M%.1f,%.1f Q%.1f,%.1f %.1f,%.1f", stroke->x1, stroke->y1,
                 middle, top, stroke->x2, stroke->y2);
    else
        snprintf(path, sizeof path, "M%.1f,%.1f L%.1f,%.1f", stroke->x1, stroke->y1, stroke->x2,
                 stroke->y2);
    dx = length > 0 ? dx / length : 1;
    dy = length > 0 ? dy / length : 0;
    double base_x = stroke->x2 - dx * HEAD_LENGTH, base_y = stroke->y2 - dy * HEAD_LENGTH;
    snprintf(head, sizeof head, "%.1f,%.1f %.1f,%.1f %.1f,%.1f", stroke->x2, stroke->y2,
             base_x - dy * HEAD_HALF, base_y + dx * HEAD_HALF, base_x + dy * HEAD_HALF,
             base_y - dx * HEAD_HALF);
    xml_attribute(figure->xml, "path", path);
    xml_attribute(figure->xml, "head", head);
}

bool figure_is_shown(const struct figure *figure, size_t event)
{
    return event != SLICE_NONE && figure->layout->spot[event].shown;
}

/* Up or down, to where the other rank is. */
static double stub_side(const struct figure *figure, size_t event, int rank)
{
    return rank > figure->slice->event[event].trace->rank ? STUB_Y : -STUB_Y;
}

static struct stroke stroke_of(const struct figure *figure, const struct arrow *arrow)
{
    const struct layout_spot *spot = figure->layout->spot;
    if (figure_is_shown(figure, arrow->from) && figure_is_shown(figure, arrow->to) &&
        arrow_is_forward(arrow)) {
        const struct layout_spot *from = &spot[arrow->from], *to = &spot[arrow->to];
        double bow = from->row == to->row ? SAME_ROW_BOW : 0;
        return figure_shorten((struct stroke){from->x, from->y, to->x, to->y, bow});
    }
    if (figure_is_shown(figure, arrow->from)) {
        const struct layout_spot *from = &spot[arrow->from];
        int rank = figure->slice->event[arrow->from].record->peer;
        double side = stub_side(figure, arrow->from, rank);
        return (struct stroke){from->x, from->y, from->x + STUB_X, from->y + side, 0};
    }
    const struct layout_spot *to = &spot[arrow->to];
    int rank = arrow->sent_known ? arrow->sent.rank : figure->slice->event[arrow->to].record->peer;
    double side = stub_side(figure, arrow->to, rank);
    return figure_shorten((struct stroke){to->x - STUB_X, to->y + side, to->x, to->y, 0});
}

static void put_arrow_words(const struct figure *figure, const struct arrow *arrow)
{
    char words[TITLE_BYTES], from[EVENT_TEXT_BYTES] = "its log", to[EVENT_TEXT_BYTES] = "nobody";
    if (arrow->sent_known)
        event_text(arrow->sent, from);
    if (arrow->delivered_known)
        event_text(arrow->delivered, to);
    snprintf(words, sizeof words, "%s%s from %s to %s%s", arrow_kind_text(arrow->kind),
             arrow->kind == ARROW_PLAIN ? "" : " message", from, to,
             arrow->anomaly ? "; its order or its bytes are not as they must be" : "");
    xml_attribute(figure->xml, "words", words);
}

/* --- what stands at them ---------------------------------------------------------------------- */

/* Late, early and the like are said, and have their colours, where a line is in the picture. */
static enum arrow_kind kind_of(const struct figure *figure, const struct arrow *arrow)
{
    bool of_lines = arrow->kind >= ARROW_INTRA && arrow->kind <= ARROW_EARLY;
    return of_lines && !figure->has_line ? ARROW_PLAIN : arrow->kind;
}

static bool is_witness(const struct figure *figure, const struct arrow *arrow)
{
    return figure_is_shown(figure, arrow->from) && figure_is_shown(figure, arrow->to) &&
           figure_letter(figure, arrow->from) != NULL && figure_letter(figure, arrow->to) != NULL;
}

/* "late", "late !", "!"; empty: nothing. A short stub has no room for its dashes either: then the
 * word is all there is. */
static void name_of(const struct figure *figure, const struct arrow *arrow,
                    const struct stroke *stroke, char name[NAME_BYTES])
{
    enum arrow_kind kind = kind_of(figure, arrow);
    bool stub = kind == ARROW_REPLAYED || kind == ARROW_SUPPRESSED;
    bool room = hypot(stroke->x2 - stroke->x1, stroke->y2 - stroke->y1) >= NAMED_LENGTH;
    bool named =
        kind > ARROW_INTRA && kind < ARROW_CONTROL && (room || stub || is_witness(figure, arrow));
    snprintf(name, NAME_BYTES, "%s%s%s", named ? arrow_kind_text(kind) : "",
             named && arrow->anomaly ? " " : "", arrow->anomaly ? "!" : "");
}

struct place {
    bool found;
    double x, y;
};

/* Beside the arrow, at its middle or nearer to one of its ends. */
static struct place find_place(const struct labels *labels, const struct stroke *stroke,
                               size_t letters)
{
    static const double along[] = {0.5, 0.4, 0.6, 0.3, 0.7, 0.2, 0.8, 0.1, 0.9};
    static const double beside[] = {-3, 10, -8, 15, -13, 20};
    for (size_t k = 0; k < sizeof beside / sizeof beside[0]; k++)
        for (size_t i = 0; i < sizeof along / sizeof along[0]; i++) {
            double t = along[i];
            struct place place = {true, stroke->x1 + t * (stroke->x2 - stroke->x1),
                                  stroke->y1 + t * (stroke->y2 - stroke->y1) -
                                      4 * t * (1 - t) * stroke->bow + beside[k]};
            struct label_box box = labels_box(place.x, place.y, letters, NAME_SIZE);
            if (labels_have_room(labels, &box))
                return place;
        }
    return (struct place){false, 0, 0};
}

static void put_name(const struct figure *figure, const struct arrow *arrow,
                     const struct stroke *stroke, const struct place *place)
{
    char name[NAME_BYTES];
    if (!place->found)
        return;
    name_of(figure, arrow, stroke, name);
    xml_attribute(figure->xml, "name", name);
    figure_put_place(figure, "name-x", "name-y", place->x, place->y);
}

static void write_arrow(const struct figure *figure, const struct arrow *arrow,
                        const struct place *place)
{
    bool from = figure_is_shown(figure, arrow->from), to = figure_is_shown(figure, arrow->to);
    char id[DIAGRAM_ID_BYTES], comm[DIAGRAM_LABEL_BYTES];
    if (!from && !to)
        return;
    size_t known = from ? arrow->from : arrow->to;
    bool faded = (from && figure_is_faded(figure, arrow->from)) ||
                 (to && figure_is_faded(figure, arrow->to));
    struct stroke stroke = stroke_of(figure, arrow);
    xml_begin(figure->xml, "arrow");
    xml_attribute(figure->xml, "kind", arrow_kind_text(kind_of(figure, arrow)));
    write_path(figure, &stroke);
    if (from)
        xml_attribute(figure->xml, "from", figure_event_id(figure, arrow->from, id));
    if (to)
        xml_attribute(figure->xml, "to", figure_event_id(figure, arrow->to, id));
    put_name(figure, arrow, &stroke, place);
    xml_flag(figure->xml, "stub", !from || !to);
    xml_flag(figure->xml, "witness", is_witness(figure, arrow));
    xml_flag(figure->xml, "faded", faded);
    xml_flag(figure->xml, "anomaly", arrow->anomaly);
    xml_attribute(figure->xml, "comm", diagram_comm(&figure->slice->event[known], comm));
    put_arrow_words(figure, arrow);
    xml_end(figure->xml);
}

/* The names of what the witness is about come first. */
static void place_names(const struct figure *figure, struct labels *labels, struct place *place,
                        bool witness)
{
    for (size_t i = 0; i < figure->arrows->count; i++) {
        const struct arrow *arrow = &figure->arrows->arrow[i];
        char name[NAME_BYTES];
        if ((!figure_is_shown(figure, arrow->from) && !figure_is_shown(figure, arrow->to)) ||
            is_witness(figure, arrow) != witness)
            continue;
        struct stroke stroke = stroke_of(figure, arrow);
        name_of(figure, arrow, &stroke, name);
        if (name[0] != '\0')
            place[i] = find_place(labels, &stroke, strlen(name));
        if (place[i].found) {
            struct label_box box = labels_box(place[i].x, place[i].y, strlen(name), NAME_SIZE);
            labels_take(labels, &box);
        }
    }
}

void figure_write_arrows(const struct figure *figure, struct labels *labels)
{
    struct place *place = memory_new(figure->arrows->count + 1, sizeof *place);
    place_names(figure, labels, place, true);
    place_names(figure, labels, place, false);
    for (size_t i = 0; i < figure->arrows->count; i++)
        write_arrow(figure, &figure->arrows->arrow[i], &place[i]);
    free(place);
}
