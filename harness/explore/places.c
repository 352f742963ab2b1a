/* See places.h. */
#include "explore/places.h"

#include "base/memory.h"
#include "strategy/steps.h"
#include "trace/calls.h"
#include "trace/reader.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TURN_TICKS 1000 /* that a call takes at least which takes a turn: CALL_NS of the engine */

/* Calls that took a turn at least once. */
struct turning {
    size_t count, room;
    const char **name; /* owned, its texts are not */
};

static bool has_name(const struct turning *turning, const char *name)
{
    for (size_t i = 0; i < turning->count; i++)
        if (strcmp(turning->name[i], name) == 0)
            return true;
    return false;
}

static bool takes_turn(const struct record *r)
{
    uint64_t leave = atomic_load(&r->leave);
    return record_is_event(r) && r->level == LEVEL_WIRE && r->call != CALL_NONE &&
           (leave == 0 || leave - r->enter >= TURN_TICKS);
}

static void find_turning(const struct trace *trace, struct turning *turning)
{
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct record *r = &trace->record[i];
        if (!takes_turn(r) || has_name(turning, call_name(r->call)))
            continue;
        turning->name =
            memory_room(turning->name, turning->count, &turning->room, sizeof *turning->name);
        turning->name[turning->count++] = call_name(r->call);
    }
}

static bool is_place(const struct survey_point *point, const struct turning *turning)
{
    if (point->kind == SURVEY_STORE)
        return true;
    return (point->kind == SURVEY_CALL || point->kind == SURVEY_POLL) &&
           point->condition.level == LEVEL_WIRE && has_name(turning, point->condition.call);
}

/* The same event in the same life; other fields of the condition are at their default. */
static bool is_same(const struct plan_condition *a, const struct plan_condition *b)
{
    return a->rank == b->rank && a->incarnation == b->incarnation && a->event == b->event &&
           a->level == b->level && strcmp(a->call, b->call) == 0 && strcmp(a->file, b->file) == 0;
}

static bool merge(struct places *places, const struct survey_point *point, int life)
{
    struct plan_condition when = point->condition;
    when.incarnation = life;
    places->can_lose |= point->kind == SURVEY_STORE;
    for (size_t i = 0; i < places->count; i++) {
        struct place *place = &places->place[i];
        if (!is_same(&place->when, &when))
            continue;
        bool more = point->seen > place->seen;
        place->seen = more ? point->seen : place->seen;
        return more;
    }
    places->place = memory_room(places->place, places->count, &places->room, sizeof *places->place);
    places->place[places->count++] = (struct place){when, point->seen};
    return true;
}

enum error_code places_add(struct places *places, const char *folder, int life, bool *grown,
                           struct error *error)
{
    static const struct plan none;
    struct trace_set traces, lived;
    struct survey survey;
    struct turning turning = {0};
    *grown = false;
    enum error_code code = trace_set_open_run(folder, &traces, error);
    if (code != OK)
        return code;
    lived = traces;
    lived.count = 0;
    lived.trace = memory_new(traces.count + 1, sizeof *lived.trace);
    for (size_t i = 0; i < traces.count; i++)
        if (traces.trace[i].incarnation == life)
            lived.trace[lived.count++] = traces.trace[i];
    for (size_t i = 0; i < lived.count; i++)
        find_turning(&lived.trace[i], &turning);
    survey_of(&lived, &none, &survey);
    for (size_t i = 0; i < survey.count; i++)
        if (is_place(&survey.point[i], &turning))
            *grown |= merge(places, &survey.point[i], life);
    survey_release(&survey);
    free(turning.name);
    free(lived.trace);
    trace_set_release(&traces);
    return OK;
}

void places_release(struct places *places)
{
    free(places->place);
    *places = (struct places){0};
}

struct plan_step place_death(const struct place *place, uint64_t nth, enum plan_lose lose)
{
    struct plan_step step = steps_fault(ACTION_KILL);
    step.when = place->when;
    step.when.nth = nth;
    step.lose = (uint8_t)lose;
    steps_victim(&step, place->when.rank);
    return step;
}

bool place_same_death(const struct plan_step *a, const struct plan_step *b)
{
    return is_same(&a->when, &b->when) && a->when.nth == b->when.nth && a->lose == b->lose;
}

void place_describe(const struct plan_step *death, char *text, size_t bytes)
{
    static const char *const lost[] = {"", ", and loses what it did not sync",
                                       ", and what nobody synced is lost"};
    const struct plan_condition *when = &death->when;
    bool of_store = when->file[0] != '\0';
    snprintf(text, bytes, "rank %d before %s%s%s no. %" PRIu64 "%s", when->rank,
             of_store ? plan_event_text(when->event) : when->call, of_store ? " of " : "",
             when->file, when->nth, lost[death->lose]);
}
