/* See arrows.h. The application's messages are matched life by life over effective histories, so
 * that what was sent before a recovery line and replayed after the restart is one message:
 *
 *     incarnation 0   rank 0:  send m   checkpoint        rank 1:  checkpoint   recv m   killed
 *     incarnation 1                                       rank 1:  restored     recv m (replayed)
 *
 * The matching of incarnation 0 gives one arrow (late), that of incarnation 1 another from the same
 * send (replayed). A message of which both ends lie in earlier lives had its arrow then and is left
 * out (add_message).
 *
 * Three sources are read one after the other, because each adds only what those before do not show:
 *   1. the matching of the application's messages, for each life;
 *   2. the protocol's notes: a replayed message may have no send that is known, a suppressed one no
 *      delivery, and then the arrow has one end (take_told);
 *   3. the wire: messages of the protocol itself, and those of the application that it moved
 *      otherwise than the application sees (read_wire).
 *
 * Cost: one pass over the records for each incarnation; arrows and events of the slice are few, and
 * searched one by one. */
#include "reports/walk/arrows.h"

#include "base/memory.h"
#include "reports/walk/meetings.h"

#include <stdlib.h>
#include <string.h>

const char *arrow_kind_text(enum arrow_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        ARROW_KINDS(X)
#undef X
    };
    return texts[kind];
}

bool arrow_is_forward(const struct arrow *arrow)
{
    return arrow->from != SLICE_NONE && arrow->to != SLICE_NONE && !arrow->again;
}

/* One life of the job. */
struct drawing {
    const struct slice *slice;
    struct arrows *arrows;
    struct members *members;
    int incarnation;
    const struct lives *lives;
    const struct lines *lines;
    struct message_notes *told;
};

static struct arrow *add_arrow(struct drawing *drawing)
{
    struct arrows *arrows = drawing->arrows;
    arrows->arrow = memory_room(arrows->arrow, arrows->count, &arrows->room, sizeof *arrows->arrow);
    struct arrow *arrow = &arrows->arrow[arrows->count++];
    *arrow = (struct arrow){.from = SLICE_NONE, .to = SLICE_NONE};
    return arrow;
}

/* --- the application's messages --------------------------------------------------------------- */

static bool took_line(const struct rank_lines *rank)
{
    return rank->base > 0 || rank->count > 0;
}

static enum arrow_kind kind_by_epoch(const struct drawing *drawing, const struct sent *sent,
                                     const struct received *received)
{
    const struct rank_lines *from = &drawing->lines->of[sent->event.rank];
    const struct rank_lines *to = &drawing->lines->of[received->delivered.rank];
    if (lives_began_after(drawing->lives, received->delivered, sent->enter))
        return ARROW_REPLAYED;
    if (sent->born > received->leave)
        return ARROW_SUPPRESSED;
    if (!took_line(from) && !took_line(to))
        return ARROW_PLAIN;
    uint64_t before = lines_epoch(from, sent->leave), after = lines_epoch(to, received->leave);
    if (before == after)
        return ARROW_INTRA;
    return before < after ? ARROW_LATE : ARROW_EARLY;
}

/* What earlier lives saw was told when they were read. */
static void on_message(void *context, const struct sent *sent, const struct received *received,
                       bool anomaly)
{
    struct drawing *drawing = context;
    const struct event_ref *from = &sent->event, *to = &received->delivered;
    if (received_is_unseen(received) ||
        (from->incarnation < drawing->incarnation && to->incarnation < drawing->incarnation))
        return;
    size_t first = slice_find(drawing->slice, from), second = slice_find(drawing->slice, to);
    if (first == SLICE_NONE && second == SLICE_NONE)
        return;
    *add_arrow(drawing) = (struct arrow){.kind = kind_by_epoch(drawing, sent, received),
                                         .from = first,
                                         .to = second,
                                         .sent_known = true,
                                         .delivered_known = true,
                                         .sent = *from,
                                         .delivered = *to,
                                         .anomaly = anomaly,
                                         .again = sent->born > received->leave};
}

static void on_doubt(void *context)
{
    ((struct drawing *)context)->arrows->uncertain = true;
}

static void on_joined(void *context, const struct stream_event *event,
                      const struct gathering *gathering, uint64_t number)
{
    const struct drawing *drawing = context;
    meetings_joined(drawing->slice, drawing->incarnation, event, gathering, number,
                    drawing->members);
}

/* --- what the protocol said of messages ------------------------------------------------------- */

static bool is_delivery(const struct record *record)
{
    return (record->kind == RECORD_RECV && record->request == 0) ||
           (record->kind == RECORD_COMPLETE && record->comm != 0);
}

static struct arrow *arrow_at(const struct arrows *arrows, size_t event, bool sending)
{
    for (size_t i = 0; i < arrows->count; i++)
        if (sending ? arrows->arrow[i].from == event : arrows->arrow[i].to == event)
            return &arrows->arrow[i];
    return NULL;
}

/* A replayed message has no send in this life, and a suppressed one no delivery: then the arrow has
 * one end. */
static void take_told(struct drawing *drawing, size_t at)
{
    const struct slice_event *event = &drawing->slice->event[at];
    bool sending = event->record->kind == RECORD_SEND;
    if (event->record->level != LEVEL_APP || (!sending && !is_delivery(event->record)) ||
        event->trace->incarnation != drawing->incarnation)
        return;
    unsigned wanted = sending ? NOTE_BIT(SUPPRESSED) : NOTE_BIT(REPLAYED);
    if (message_note_take(drawing->told, event->trace, event->index, wanted) == NULL)
        return;
    struct arrow *arrow = arrow_at(drawing->arrows, at, sending);
    if (arrow == NULL) {
        arrow = add_arrow(drawing);
        *(sending ? &arrow->from : &arrow->to) = at;
        *(sending ? &arrow->sent : &arrow->delivered) = event_of(event->trace, event->index);
        *(sending ? &arrow->sent_known : &arrow->delivered_known) = true;
    }
    arrow->kind = sending ? ARROW_SUPPRESSED : ARROW_REPLAYED;
}

static void read_life(struct reading *reading, struct drawing *drawing)
{
    drawing->lines = reading_lines(reading, drawing->incarnation);
    drawing->told = reading_message_notes(reading, drawing->incarnation);
    pass_run(
        reading, LEVEL_APP, drawing->incarnation,
        &(struct listener){
            .context = drawing, .message = on_message, .doubt = on_doubt, .joined = on_joined});
    for (size_t i = 0; drawing->told->count > 0 && i < drawing->slice->count; i++)
        take_told(drawing, i);
}

/* --- the wire --------------------------------------------------------------------------------- */

static bool is_drawn(const struct arrows *arrows, size_t count, size_t from, size_t to)
{
    for (size_t i = 0; i < count; i++)
        if (arrows->arrow[i].from == from && arrows->arrow[i].to == to)
            return true;
    return false;
}

/* The message of the wire that the event began or ended; of the application's only where the
 * matching above did not show it already. */
static void read_wire(struct drawing *drawing, const struct links *links, size_t at, size_t own)
{
    const struct slice *slice = drawing->slice;
    const struct slice_event *event = &slice->event[at];
    bool wire = event->record->level == LEVEL_WIRE;
    if (!wire && !event->has_below)
        return;
    uint64_t index = wire ? event->index : event->below, other;
    struct link link = links_of(links, event->place, index);
    if (link.kind != LINK_SENT && link.kind != LINK_RECEIVED)
        return;
    size_t place = links_place(links, link.at, &other);
    struct event_ref here = event_of(event->trace, index),
                     there = event_of(&slice->set->trace[place], other);
    size_t end = slice_find(slice, &there);
    bool sending = link.kind == LINK_SENT;
    if (end != SLICE_NONE && !sending)
        return; /* its send is shown, and tells of it */
    if (!wire && (end == SLICE_NONE || slice->event[end].record->level == LEVEL_APP) &&
        is_drawn(drawing->arrows, own, sending ? at : end, sending ? end : at))
        return;
    if (!wire && end == SLICE_NONE)
        return;
    *add_arrow(drawing) = (struct arrow){.kind = slice->has_app ? ARROW_CONTROL : ARROW_PLAIN,
                                         .from = sending ? at : end,
                                         .to = sending ? end : at,
                                         .sent_known = true,
                                         .delivered_known = true,
                                         .sent = sending ? here : there,
                                         .delivered = sending ? there : here};
}

/* --- the whole -------------------------------------------------------------------------------- */

void arrows_read(const struct slice *slice, const struct links *links, struct arrows *arrows)
{
    struct reading reading;
    struct members members = {0};
    struct drawing drawing = {.slice = slice, .arrows = arrows, .members = &members};
    *arrows = (struct arrows){.uncertain = links_are_uncertain(links)};
    reading_begin(&reading, slice->set, true);
    drawing.lives = &reading.lives;
    for (int i = 0; slice->has_app && i < slice->set->incarnations; i++) {
        drawing.incarnation = i;
        read_life(&reading, &drawing);
        reading_forget(&reading, i);
    }
    size_t own = arrows->count;
    for (size_t i = 0; i < slice->count; i++)
        read_wire(&drawing, links, i, own);
    meetings_finish(slice, links, &members, arrows);
    news_read(slice, &arrows->news);
    reading_end(&reading);
}

void arrows_release(struct arrows *arrows)
{
    for (size_t i = 0; i < arrows->meeting_count; i++)
        free(arrows->meeting[i].event);
    free(arrows->meeting);
    free(arrows->arrow);
    news_release(&arrows->news);
    *arrows = (struct arrows){0};
}
