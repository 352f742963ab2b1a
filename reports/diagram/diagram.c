/* See diagram.h. A brief picture, the whole picture, and a table, of the same slice. */
#include "reports/diagram/diagram.h"

#include "base/memory.h"
#include "reports/diagram/diagram_words.h"
#include "reports/diagram/figure.h"
#include "reports/diagram/overview.h"
#include "reports/text/brief.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define BRIEF_COLUMN 26.0
#define WHOLE_COLUMN 17.0
#define NS_PER_S 1e9
#define NS_PER_US 1e3
#define DURATION_BYTES 48

const char *diagram_id(const struct event_ref *event, char buffer[DIAGRAM_ID_BYTES])
{
    snprintf(buffer, DIAGRAM_ID_BYTES, "r%d-%d-%" PRIu64, event->rank, event->incarnation,
             event->index);
    return buffer;
}

const char *diagram_killed_id(int rank, int incarnation, char buffer[DIAGRAM_ID_BYTES])
{
    snprintf(buffer, DIAGRAM_ID_BYTES, "killed-r%d-%d", rank, incarnation);
    return buffer;
}

/* --- the table -------------------------------------------------------------------------------- */

static void put_ref(struct xml *xml, const char *name, const struct event_ref *event)
{
    char text[EVENT_TEXT_BYTES];
    xml_attribute(xml, name, event_text(*event, text));
}

static void put_duration(struct xml *xml, const struct slice_event *event)
{
    char text[DURATION_BYTES];
    if (event->in_progress) {
        xml_attribute(xml, "took", "in progress");
    } else if (event->leave_ns > event->enter_ns) {
        snprintf(text, sizeof text, "%.1f µs",
                 (double)(event->leave_ns - event->enter_ns) / NS_PER_US);
        xml_attribute(xml, "took", text);
    }
}

/* A rank that the plan kills here, by whatever name it goes in the page. */
static void put_victim(struct xml *xml, const struct slice_event *event)
{
    char id[DIAGRAM_ID_BYTES];
    const struct record *record = event->record;
    if (record->kind == RECORD_FAULT &&
        (record->comm == FAULT_KILL || record->comm == FAULT_KILL_INSIDE))
        xml_attribute(xml, "victim",
                      diagram_killed_id(record->peer, event->trace->incarnation, id));
}

/* The other end, if it is a message. */
static void put_message(struct xml *xml, const struct figure *figure, const struct arrow *arrow,
                        size_t at)
{
    bool sending = arrow->from == at;
    size_t other = sending ? arrow->to : arrow->from;
    const struct event_ref *event = sending ? &arrow->delivered : &arrow->sent;
    char id[DIAGRAM_ID_BYTES];
    xml_begin(xml, "message");
    xml_attribute(xml, "kind", arrow_kind_text(arrow->kind));
    xml_attribute(xml, "end", sending ? "to" : "from");
    if (sending ? arrow->delivered_known : arrow->sent_known)
        put_ref(xml, "other", event);
    if (other != SLICE_NONE)
        xml_attribute(xml, "id", figure_event_id(figure, other, id));
    xml_end(xml);
}

static void put_row(struct xml *xml, const struct figure *figure, size_t at)
{
    const struct slice_event *event = &figure->slice->event[at];
    struct event_ref ref = {event->trace->rank, event->trace->incarnation, event->index};
    char id[DIAGRAM_ID_BYTES], words[DIAGRAM_WORDS_BYTES], comm[DIAGRAM_LABEL_BYTES];
    xml_begin(xml, "event");
    xml_attribute(xml, "id", figure_event_id(figure, at, id));
    put_ref(xml, "ref", &ref);
    xml_number(xml, "rank", ref.rank);
    xml_attribute(xml, "kind", diagram_kind(event));
    xml_attribute(xml, "level", level_text(event->record->level));
    xml_attribute(xml, "comm", diagram_comm(event, comm));
    xml_real(xml, "at", (double)event->enter_ns / NS_PER_S, 6);
    xml_real(xml, "exactly", (double)event->enter_ns / NS_PER_S, 9);
    put_duration(xml, event);
    if (event->has_below) {
        xml_number(xml, "below", (int64_t)event->below);
        snprintf(id, sizeof id, "%s-r%d-%d-%" PRIu64, figure->wish->id, ref.rank, ref.incarnation,
                 event->below);
        xml_attribute(xml, "below-id", id);
    }
    xml_attribute(xml, "letter", figure_letter(figure, at));
    xml_flag(xml, "faded", figure_is_faded(figure, at));
    xml_attribute(xml, "words", diagram_words(event, words));
    put_victim(xml, event);
    for (size_t i = 0; i < figure->arrows->count; i++)
        if (figure->arrows->arrow[i].from == at || figure->arrows->arrow[i].to == at)
            put_message(xml, figure, &figure->arrows->arrow[i], at);
    xml_end(xml);
}

/* By time. */
struct timed {
    uint64_t enter_ns;
    size_t event;
};

static int by_time(const void *left, const void *right)
{
    const struct timed *a = left, *b = right;
    if (a->enter_ns != b->enter_ns)
        return a->enter_ns < b->enter_ns ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static void put_table(struct xml *xml, const struct figure *figure)
{
    struct timed *order = memory_new(figure->slice->count, sizeof *order);
    for (size_t i = 0; i < figure->slice->count; i++)
        order[i] = (struct timed){figure->slice->event[i].enter_ns, i};
    qsort(order, figure->slice->count, sizeof *order, by_time);
    xml_begin(xml, "events");
    for (size_t i = 0; i < figure->slice->count; i++)
        put_row(xml, figure, order[i].event);
    xml_end(xml);
    free(order);
}

/* --- the pictures ----------------------------------------------------------------------------- */

static void put_figure(struct figure *figure, const bool *shown, const char *name,
                       double column_width)
{
    struct layout layout;
    struct layout_wish wish = {shown, figure->letters, figure->marks, column_width, shown == NULL};
    layout_make(figure->slice, figure->arrows, &wish, &layout);
    figure->layout = &layout;
    figure->name = name;
    figure_write(figure);
    figure->layout = NULL;
    layout_release(&layout);
}

static void put_figures(struct figure *figure)
{
    bool *shown = memory_new(figure->slice->count, sizeof *shown);
    struct brief_wish wish = {shown, figure->letters, figure->marks, BRIEF_COLUMN};
    if (brief_choose(figure->slice, figure->arrows, &wish))
        put_figure(figure, shown, "brief", BRIEF_COLUMN);
    put_figure(figure, NULL, "whole", WHOLE_COLUMN);
    free(shown);
}

static void put_diagram(struct xml *xml, const struct diagram_wish *wish, const struct slice *slice,
                        const struct arrows *arrows)
{
    struct figure figure;
    figure_init(&figure, xml, wish, slice, arrows);
    xml_begin(xml, "diagram");
    xml_attribute(xml, "id", wish->id);
    xml_number(xml, "shown", (int64_t)slice->shown);
    xml_number(xml, "total", (int64_t)slice->total);
    xml_number(xml, "ranks", slice->set->ranks);
    xml_number(xml, "incarnations", slice->set->incarnations);
    xml_flag(xml, "uncertain", arrows->uncertain);
    xml_number(xml, "forced", (int64_t)slice->forced);
    put_figures(&figure);
    overview_write(&figure);
    put_table(xml, &figure);
    xml_end(xml);
    figure_release(&figure);
}

enum error_code diagram_write(struct xml *xml, const struct diagram_wish *wish, struct error *error)
{
    struct links links = {0};
    struct slice slice = {0};
    struct arrows arrows = {0};
    struct slice_wish what = {wish->witness, wish->witness_count, wish->near, wish->near_count,
                              DIAGRAM_EVENTS_MOST};
    enum error_code code = links_read(wish->set, &links, error);
    if (code == OK) {
        slice_read(wish->set, &links, &what, &slice);
        arrows_read(&slice, &links, &arrows);
        put_diagram(xml, wish, &slice, &arrows);
    }
    arrows_release(&arrows);
    slice_release(&slice);
    links_release(&links);
    return code;
}
