/* See arrows.h. The application's messages are matched life by life over effective histories, so
 * that what was sent before a recovery line and replayed behind it is one message. */
#include "reports/walk/arrows.h"

#include "oracles/matching/match.h"
#include "oracles/reading/lines.h"
#include "oracles/reading/told.h"
#include "reports/walk/meetings.h"

#include <stdlib.h>
#include <string.h>

/* A receive whose request was freed delivers its message at no time that anybody saw. */
#define FREED_UNSEEN (UINT64_MAX / 2)

const char *arrow_kind_text(enum arrow_kind kind)
{
    static const char *const texts[] = {
#define X(name, text) text,
        ARROW_KINDS(X)
#undef X
    };
    return texts[kind];
}

bool arrow_is_forward(const struct slice *slice, const struct arrow *arrow)
{
    return arrow->from != SLICE_NONE && arrow->to != SLICE_NONE &&
           slice->event[arrow->from].trace->incarnation <=
               slice->event[arrow->to].trace->incarnation;
}

/* One life of the job. */
struct reading {
    const struct slice *slice;
    struct arrows *arrows;
    int incarnation;
    struct lines lines;
    struct told_list told;
    struct match match;
    bool exhausted;
};

/* NULL without memory. */
static struct arrow *add_arrow(struct reading *reading)
{
    struct arrows *arrows = reading->arrows;
    if (arrows->count == arrows->room) {
        size_t room = arrows->room > 0 ? 2 * arrows->room : 256;
        struct arrow *grown = realloc(arrows->arrow, room * sizeof *grown);
        if (grown == NULL) {
            reading->exhausted = true;
            return NULL;
        }
        arrows->arrow = grown;
        arrows->room = room;
    }
    struct arrow *arrow = &arrows->arrow[arrows->count++];
    *arrow = (struct arrow){.from = SLICE_NONE, .to = SLICE_NONE};
    return arrow;
}

/* --- the application's messages --------------------------------------------------------------- */

static bool took_line(const struct rank_lines *rank)
{
    return rank->base > 0 || rank->count > 0;
}

static enum arrow_kind kind_by_epoch(const struct reading *reading, const struct sent *sent,
                                     const struct received *received)
{
    const struct rank_lines *from = &reading->lines.of[sent->event.rank];
    const struct rank_lines *to = &reading->lines.of[received->delivered.rank];
    if (sent->event.incarnation < received->delivered.incarnation)
        return ARROW_REPLAYED;
    if (sent->event.incarnation > received->delivered.incarnation)
        return ARROW_SUPPRESSED;
    if (!took_line(from) && !took_line(to))
        return ARROW_PLAIN;
    uint64_t before = lines_epoch(from, sent->leave), after = lines_epoch(to, received->leave);
    if (before == after)
        return ARROW_INTRA;
    return before < after ? ARROW_LATE : ARROW_EARLY;
}

/* What earlier lives saw was told when they were read. */
static void add_message(struct reading *reading, const struct sent *sent,
                        const struct received *received, bool strange)
{
    const struct event_ref *from = &sent->event, *to = &received->delivered;
    if (received->leave >= FREED_UNSEEN ||
        (from->incarnation < reading->incarnation && to->incarnation < reading->incarnation))
        return;
    size_t first = slice_find(reading->slice, from), second = slice_find(reading->slice, to);
    struct arrow *arrow = first != SLICE_NONE || second != SLICE_NONE ? add_arrow(reading) : NULL;
    if (arrow == NULL)
        return;
    *arrow = (struct arrow){.kind = kind_by_epoch(reading, sent, received),
                            .from = first,
                            .to = second,
                            .sent_known = true,
                            .delivered_known = true,
                            .sent = *from,
                            .delivered = *to,
                            .strange = strange};
}

static void on_pair(void *context, const struct channel *channel, const struct sent *sent,
                    const struct received *received)
{
    (void)channel;
    add_message(context, sent, received, false);
}

static void on_strange(void *context, enum strange strange, const struct channel *channel,
                       const struct sent *sent, const struct received *received,
                       const struct pair *other)
{
    struct reading *reading = context;
    (void)channel;
    (void)other;
    if (strange == STRANGE_UNDELIVERED || strange == STRANGE_EARLY_RETURN)
        return;
    if (strange != STRANGE_ORPHAN && sent != NULL && received != NULL)
        add_message(reading, sent, received, true);
    else
        reading->arrows->uncertain = true;
}

static void on_event(void *context, const struct stream_event *event)
{
    struct reading *reading = context;
    if (event->restarted) {
        reading->match.rank[event->rank].incarnation = event->trace->incarnation;
        match_restart(&reading->match, event->rank);
    }
    if (event->record->level == LEVEL_APP)
        match_record(&reading->match, event);
}

static enum error_code match_life(struct reading *reading, struct error *error)
{
    const struct trace_set *set = reading->slice->set;
    struct match_listener listener = {reading, on_pair, on_strange};
    struct histories histories;
    enum error_code code = histories_effective(set, reading->incarnation, &histories, error);
    if (code == OK)
        code = match_init(&reading->match, set->ranks, set->trace[0].header->ticks_per_second,
                          &listener, error);
    /* What is done again, suppressed, lies long behind the delivery that it belongs to. */
    reading->match.slack = UINT64_MAX / 4;
    reading->match.helper = histories.tenures.helper;
    reading->match.cut_off = reading->incarnation + 1 < set->incarnations;
    if (code == OK)
        code = stream_run(&histories, LEVEL_APP, on_event, reading, NULL, error);
    if (code == OK)
        match_finish(&reading->match);
    if (code == OK && (reading->exhausted || reading->match.exhausted))
        code = error_set(error, ERROR_MEMORY, "no memory for the messages of a diagram");
    match_release(&reading->match);
    histories_release(&histories);
    return code;
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
static void take_told(struct reading *reading, size_t at)
{
    const struct slice_event *event = &reading->slice->event[at];
    bool sending = event->record->kind == RECORD_SEND;
    if (event->record->level != LEVEL_APP || (!sending && !is_delivery(event->record)) ||
        event->trace->incarnation != reading->incarnation)
        return;
    unsigned wanted = sending ? TOLD_BIT(SUPPRESSED) : TOLD_BIT(REPLAYED);
    if (told_take(&reading->told, event->trace, event->index, wanted) == NULL)
        return;
    struct arrow *arrow = arrow_at(reading->arrows, at, sending);
    if (arrow == NULL && (arrow = add_arrow(reading)) != NULL) {
        *(sending ? &arrow->from : &arrow->to) = at;
        *(sending ? &arrow->sent : &arrow->delivered) = event_of(event->trace, event->index);
        *(sending ? &arrow->sent_known : &arrow->delivered_known) = true;
    }
    if (arrow != NULL)
        arrow->kind = sending ? ARROW_SUPPRESSED : ARROW_REPLAYED;
}

static enum error_code read_life(const struct slice *slice, int incarnation, struct arrows *arrows,
                                 struct error *error)
{
    struct reading reading = {.slice = slice, .arrows = arrows, .incarnation = incarnation};
    enum error_code code = lines_read(slice->set, incarnation, &reading.lines, error);
    if (code == OK)
        code = told_read(slice->set, incarnation, &reading.told, error);
    if (code == OK)
        code = match_life(&reading, error);
    for (size_t i = 0; code == OK && reading.told.count > 0 && i < slice->count; i++)
        take_told(&reading, i);
    if (code == OK && reading.exhausted)
        code = error_set(error, ERROR_MEMORY, "no memory for the messages of a diagram");
    lines_release(&reading.lines);
    told_release(&reading.told);
    return code;
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
static void read_wire(struct reading *reading, const struct links *links, size_t at, size_t own)
{
    const struct slice *slice = reading->slice;
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
        is_drawn(reading->arrows, own, sending ? at : end, sending ? end : at))
        return;
    if (!wire && end == SLICE_NONE)
        return;
    struct arrow *arrow = add_arrow(reading);
    if (arrow != NULL)
        *arrow = (struct arrow){.kind = slice->has_app ? ARROW_CONTROL : ARROW_PLAIN,
                                .from = sending ? at : end,
                                .to = sending ? end : at,
                                .sent_known = true,
                                .delivered_known = true,
                                .sent = sending ? here : there,
                                .delivered = sending ? there : here};
}

/* --- the whole -------------------------------------------------------------------------------- */

enum error_code arrows_read(const struct slice *slice, const struct links *links,
                            struct arrows *arrows, struct error *error)
{
    struct reading wire = {.slice = slice, .arrows = arrows};
    enum error_code code = OK;
    *arrows = (struct arrows){.uncertain = links->uncertain};
    for (int i = 0; code == OK && slice->has_app && i < slice->set->incarnations; i++)
        code = read_life(slice, i, arrows, error);
    size_t own = arrows->count;
    for (size_t i = 0; code == OK && i < slice->count; i++)
        read_wire(&wire, links, i, own);
    if (code == OK && wire.exhausted)
        code = error_set(error, ERROR_MEMORY, "no memory for the messages of a diagram");
    return code == OK ? meetings_read(slice, links, arrows, error) : code;
}

void arrows_release(struct arrows *arrows)
{
    for (size_t i = 0; i < arrows->meeting_count; i++)
        free(arrows->meeting[i].event);
    free(arrows->meeting);
    free(arrows->arrow);
    *arrows = (struct arrows){0};
}
