/* See identical.h. */
#include "decisions/identical.h"

#include "decisions/decisions.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define EVENT_BYTES 200

/* Of one rank in one incarnation; NULL: it left no trace. */
struct both {
    const struct trace *then, *now;
};

/* Where two traces differ first; `ticks`: when. */
struct place {
    struct both both;
    uint64_t event; /* the record itself, or the one that it belongs to */
    uint64_t ticks;
};

static uint64_t count_of(const struct trace *trace)
{
    return trace != NULL ? trace->count : 0;
}

static const struct record *event_of(const struct trace *trace, uint64_t event)
{
    return event < count_of(trace) ? &trace->record[event] : NULL;
}

/* The record that has a time: groups and texts belong to one before them. */
static uint64_t owner_of(const struct trace *trace, uint64_t index)
{
    while (index > 0 && index < trace->count && !record_is_event(&trace->record[index]))
        index--;
    return index;
}

static bool is_in_progress(const struct record *record)
{
    return record_is_event(record) && atomic_load(&record->leave) == 0;
}

/* cut: one of the runs was ended anywhere, maybe within this call of the program, and those below.
 */
static bool same_records(const struct both *both, uint64_t index, bool cut)
{
    const struct record *then = &both->then->record[index], *now = &both->now->record[index];
    if (cut && (is_in_progress(then) || is_in_progress(now)))
        return then->kind == now->kind && then->call == now->call && then->enter == now->enter;
    return memcmp(then, now, sizeof *then) == 0;
}

/* The last event of a run that was ended anywhere may have been in progress. */
static uint64_t compared(const struct both *both, bool cut)
{
    uint64_t then = count_of(both->then), now = count_of(both->now);
    const struct trace *shorter = then < now ? both->then : both->now;
    uint64_t least = count_of(shorter);
    return cut && least > 0 ? owner_of(shorter, least - 1) : least;
}

/* They were made alike, and one came back at another time. */
static bool only_return_differs(const struct record *then, const struct record *now)
{
    struct record with_its_return = *then;
    atomic_store(&with_its_return.leave, atomic_load(&now->leave));
    return memcmp(&with_its_return, now, sizeof *now) == 0;
}

/* 0: neither has come back. */
static uint64_t first_return(const struct record *then, const struct record *now)
{
    uint64_t a = atomic_load(&then->leave), b = atomic_load(&now->leave);
    return a != 0 && (b == 0 || a < b) ? a : b;
}

/* What a call gets differs when it returns, all else when it is made. */
static bool differs_on_return(const struct record *then, const struct record *now)
{
    unsigned kind = then->kind;
    if (then->enter != now->enter || first_return(then, now) == 0)
        return false;
    return only_return_differs(then, now) ||
           (kind == RECORD_RECV || kind == RECORD_PROBE || kind == RECORD_COMPLETE ||
            (kind == RECORD_COLLECTIVE && then->hash == now->hash));
}

static uint64_t differs_at(const struct record *then, const struct record *now)
{
    if (then == NULL || now == NULL)
        return then != NULL ? then->enter : now->enter;
    return differs_on_return(then, now) ? first_return(then, now) : then->enter;
}

/* false: there is none. */
static bool find_place(const struct both *both, bool cut, struct place *place)
{
    uint64_t count = compared(both, cut), index = 0;
    while (index < count && same_records(both, index, cut))
        index++;
    if (index == count && (cut || count_of(both->then) == count_of(both->now)))
        return false;
    const struct trace *longer =
        count_of(both->then) >= count_of(both->now) ? both->then : both->now;
    *place = (struct place){*both, owner_of(longer, index), 0};
    place->ticks =
        differs_at(event_of(both->then, place->event), event_of(both->now, place->event));
    return true;
}

/* --- words ------------------------------------------------------------------------------------ */

static void write_event(const struct trace *trace, uint64_t index, char text[EVENT_BYTES])
{
    const struct record *record = event_of(trace, index);
    struct decision_shape shape;
    char file[EVENT_BYTES];
    if (record == NULL) {
        snprintf(text, EVENT_BYTES, "nothing more");
    } else if (decision_is_event(record)) {
        decision_shape_of(record, atomic_load(&record->leave) != 0, &shape);
        trace_text(trace, index, file, sizeof file);
        decision_text(&shape, decision_request_of(record),
                      record->kind == RECORD_STORAGE ? file : NULL, text, EVENT_BYTES);
    } else if (record->kind == RECORD_FAULT) {
        snprintf(text, EVENT_BYTES, "the fault \"%s\"", fault_kind_text(record->comm));
    } else {
        snprintf(text, EVENT_BYTES, "\"%s\"", record_kind_text(record->kind));
    }
}

/* What is different of two that read alike. */
static const char *how_they_differ(const struct record *then, const struct record *now)
{
    if (then == NULL || now == NULL)
        return "";
    if (then->hash != now->hash || then->result_hash != now->result_hash)
        return ", with other data";
    return then->enter != now->enter || atomic_load(&then->leave) != atomic_load(&now->leave)
               ? ", at another time"
               : ", with another outcome";
}

static void write_place(const struct place *place, char *text, size_t bytes)
{
    char then[EVENT_BYTES], now[EVENT_BYTES];
    const struct both *both = &place->both;
    const struct trace *any = both->then != NULL ? both->then : both->now;
    write_event(both->then, place->event, then);
    write_event(both->now, place->event, now);
    bool alike = strcmp(then, now) == 0;
    snprintf(text, bytes, "r%d#%d: event %" PRIu64 ": expected %s; got %s%s", any->rank,
             any->incarnation, place->event, then, now,
             alike ? how_they_differ(event_of(both->then, place->event),
                                     event_of(both->now, place->event))
                   : "");
}

/* --- all -------------------------------------------------------------------------------------- */

static bool take_earlier(const struct both *both, bool cut, bool found, struct place *first)
{
    struct place place;
    if (!find_place(both, cut, &place))
        return found;
    if (!found || place.ticks < first->ticks) /* time goes on from incarnation to incarnation */
        *first = place;
    return true;
}

bool traces_differ(const struct trace_set *then, const struct trace_set *now, bool cut, char *text,
                   size_t bytes)
{
    struct place first = {0};
    bool found = false;
    for (size_t i = 0; i < then->count; i++) {
        const struct trace *trace = &then->trace[i];
        struct both both = {trace, trace_set_find(now, trace->rank, trace->incarnation)};
        found = take_earlier(&both, cut, found, &first);
    }
    for (size_t i = 0; i < now->count; i++) {
        const struct trace *trace = &now->trace[i];
        struct both both = {trace_set_find(then, trace->rank, trace->incarnation), trace};
        if (both.then == NULL)
            found = take_earlier(&both, cut, found, &first);
    }
    if (found)
        write_place(&first, text, bytes);
    return found;
}
