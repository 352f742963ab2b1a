/* See meetings.h. */
#include "reports/walk/meetings.h"

#include "base/memory.h"

#include <stdlib.h>

static void add(struct members *members, const struct member *member)
{
    members->member = memory_room(members->member, members->count, &members->room, sizeof *member);
    members->member[members->count++] = *member;
}

void meetings_joined(const struct slice *slice, int incarnation, const struct stream_event *event,
                     const struct gathering *gathering, uint64_t number, struct members *members)
{
    struct event_ref own = event_of(event->trace, event->index);
    size_t shown = own.incarnation == incarnation ? slice_find(slice, &own) : SLICE_NONE;
    if (shown != SLICE_NONE && slice->event[shown].index == event->index)
        add(members, &(struct member){shown, LEVEL_APP, incarnation, gathering->comm, number});
}

/* The least record of the ring names it. */
static void add_wire(struct members *members, const struct slice *slice, const struct links *links,
                     size_t at)
{
    const struct slice_event *event = &slice->event[at];
    uint64_t own = links->base[event->place] + event->index, least = own;
    size_t place;
    if (links_of(links, event->place, event->index).kind != LINK_JOINED)
        return;
    for (uint64_t member = links_next_member(links, own, &place); member != own;
         member = links_next_member(links, member, &place))
        least = member < least ? member : least;
    add(members, &(struct member){at, LEVEL_WIRE, 0, 0, least});
}

/* --- together --------------------------------------------------------------------------------- */

static int by_meeting(const void *left, const void *right)
{
    const struct member *a = left, *b = right;
    if (a->level != b->level)
        return a->level - b->level;
    if (a->incarnation != b->incarnation)
        return a->incarnation - b->incarnation;
    if (a->comm != b->comm)
        return a->comm < b->comm ? -1 : 1;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return (a->event > b->event) - (a->event < b->event);
}

static bool is_same_meeting(const struct member *a, const struct member *b)
{
    return a->level == b->level && a->incarnation == b->incarnation && a->comm == b->comm &&
           a->number == b->number;
}

static void add_meeting(struct arrows *arrows, const struct member *first, size_t count)
{
    struct meeting *meeting = &arrows->meeting[arrows->meeting_count++];
    meeting->event = memory_new(count, sizeof *meeting->event);
    for (meeting->count = 0; meeting->count < count; meeting->count++)
        meeting->event[meeting->count] = first[meeting->count].event;
}

void meetings_finish(const struct slice *slice, const struct links *links, struct members *members,
                     struct arrows *arrows)
{
    for (size_t i = 0; i < slice->count; i++)
        if (slice->event[i].record->level == LEVEL_WIRE &&
            collective_comm(slice->event[i].record) != 0)
            add_wire(members, slice, links, i);
    struct member *member = members->member;
    arrows->meeting = memory_new(members->count, sizeof *arrows->meeting);
    if (members->count > 1)
        qsort(member, members->count, sizeof *member, by_meeting);
    for (size_t first = 0, end; first < members->count; first = end) {
        for (end = first + 1; end < members->count; end++)
            if (!is_same_meeting(&member[first], &member[end]))
                break;
        if (end - first > 1)
            add_meeting(arrows, &member[first], end - first);
    }
    free(member);
}
