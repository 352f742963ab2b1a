/* See meetings.h. */
#include "reports/walk/meetings.h"

#include "oracles/reading/collective.h"
#include "oracles/reading/history.h"
#include "oracles/reading/pool.h"
#include "oracles/reading/table.h"

#include <stdlib.h>

/* An event and the collective it is a call of. */
struct member {
    size_t event;
    int level, incarnation;
    uint64_t comm, number; /* of the wire: 0, and a record of its ring */
};

struct collecting {
    const struct slice *slice;
    const struct links *links;
    size_t count;
    struct member *member; /* owned */
};

static bool is_shown_collective(const struct slice_event *event, unsigned level)
{
    return event->record->level == level && collective_comm(event->record) != 0;
}

/* --- the application's ------------------------------------------------------------------------ */

/* Numbers the calls of one rank, communicator by communicator: `number` holds how many came. */
static bool count_piece(struct collecting *collecting, const struct piece *piece, int incarnation,
                        struct table *number, struct pool *pool)
{
    for (uint64_t at = piece->from; at < piece->to; at++) {
        const struct record *record = &piece->trace->record[at];
        uint32_t comm = record->level == LEVEL_APP ? collective_comm(record) : 0;
        if (comm == 0)
            continue;
        uint64_t *count = table_get(number, comm, 0);
        if (count == NULL) {
            count = pool_take(pool);
            if (count == NULL || !table_put(number, comm, 0, count))
                return false;
            *count = 0;
        }
        ++*count;
        struct event_ref event = event_of(piece->trace, at);
        size_t shown =
            event.incarnation == incarnation ? slice_find(collecting->slice, &event) : SLICE_NONE;
        if (shown != SLICE_NONE && collecting->slice->event[shown].index == at)
            collecting->member[collecting->count++] =
                (struct member){shown, LEVEL_APP, incarnation, comm, *count};
    }
    return true;
}

static bool count_rank(struct collecting *collecting, const struct history *history,
                       int incarnation)
{
    struct table number = {0};
    struct pool pool = {.bytes = sizeof(uint64_t)};
    bool good = true;
    for (size_t i = 0; good && i < history->piece_count; i++)
        good = count_piece(collecting, &history->piece[i], incarnation, &number, &pool);
    table_release(&number);
    pool_release(&pool);
    return good;
}

static enum error_code collect_app(struct collecting *collecting, struct error *error)
{
    const struct trace_set *set = collecting->slice->set;
    enum error_code code = OK;
    for (int i = 0; code == OK && i < set->incarnations; i++) {
        struct histories histories;
        code = histories_effective(set, i, &histories, error);
        for (int rank = 0; code == OK && rank < histories.ranks; rank++)
            if (!count_rank(collecting, &histories.of[rank], i))
                code = error_set(error, ERROR_MEMORY, "no memory for the collectives of a diagram");
        histories_release(&histories);
    }
    return code;
}

/* --- the wire's ------------------------------------------------------------------------------- */

/* The least record of the ring names it. */
static void collect_wire(struct collecting *collecting, size_t at)
{
    const struct slice_event *event = &collecting->slice->event[at];
    const struct links *links = collecting->links;
    uint64_t own = links->base[event->place] + event->index, least = own, index;
    struct link link = links_of(links, event->place, event->index);
    if (link.kind != LINK_JOINED)
        return;
    for (uint64_t member = link.at; member != own;) {
        least = member < least ? member : least;
        size_t place = links_place(links, member, &index);
        member = links_of(links, place, index).at;
    }
    collecting->member[collecting->count++] = (struct member){at, LEVEL_WIRE, 0, 0, least};
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

static bool add_meeting(struct arrows *arrows, const struct member *first, size_t count)
{
    struct meeting *meeting = &arrows->meeting[arrows->meeting_count];
    meeting->event = calloc(count, sizeof *meeting->event);
    if (meeting->event == NULL)
        return false;
    arrows->meeting_count++;
    for (meeting->count = 0; meeting->count < count; meeting->count++)
        meeting->event[meeting->count] = first[meeting->count].event;
    return true;
}

static bool group(struct collecting *collecting, struct arrows *arrows)
{
    struct member *member = collecting->member;
    arrows->meeting = calloc(collecting->count + 1, sizeof *arrows->meeting);
    if (arrows->meeting == NULL)
        return false;
    if (collecting->count > 1)
        qsort(member, collecting->count, sizeof *member, by_meeting);
    for (size_t first = 0, end; first < collecting->count; first = end) {
        for (end = first + 1; end < collecting->count; end++)
            if (!is_same_meeting(&member[first], &member[end]))
                break;
        if (end - first > 1 && !add_meeting(arrows, &member[first], end - first))
            return false;
    }
    return true;
}

enum error_code meetings_read(const struct slice *slice, const struct links *links,
                              struct arrows *arrows, struct error *error)
{
    struct collecting collecting = {.slice = slice, .links = links};
    size_t shown = 0;
    for (size_t i = 0; i < slice->count; i++)
        shown += is_shown_collective(&slice->event[i], LEVEL_APP);
    collecting.member = calloc(slice->count + 1, sizeof *collecting.member);
    if (collecting.member == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for the collectives of a diagram");
    enum error_code code = shown > 0 ? collect_app(&collecting, error) : OK;
    for (size_t i = 0; i < slice->count; i++)
        if (is_shown_collective(&slice->event[i], LEVEL_WIRE))
            collect_wire(&collecting, i);
    if (code == OK && !group(&collecting, arrows))
        code = error_set(error, ERROR_MEMORY, "no memory for the collectives of a diagram");
    free(collecting.member);
    return code;
}
