/* See shrink_past.h. A walk over the run (walk.h) in whose vector clocks only faults and the events
 * of the witness count. Each fault is remembered with its number among those of its trace; the
 * clock at an event of the witness says how many of each trace happened before it.
 *
 *     rank 0:  e3 fault   e7 send --+
 *     rank 1:                       +--> e4 recv    e9 witness     e12 fault
 *
 * The fault at e3 counts, the one at e12 does not. Where the order is in doubt more is taken to be
 * before rather than less: if the walk had to go on without a cause, all; and of an incarnation
 * that was restarted from, everything. */
#include "shrink/shrink_past.h"

#include "base/memory.h"
#include "oracles/matching/walk.h"

#include <stdlib.h>

struct deed {
    size_t step;
    size_t place;
    uint64_t number; /* in the clock */
};

struct past {
    const struct finding *finding;
    size_t steps;
    size_t places;
    size_t count, room;
    struct deed *deed;
    int incarnation; /* of the witness, the newest */
    uint64_t *clock; /* of all events of the witness together */
};

static bool is_deed(const struct past *past, const struct record *record)
{
    return record->kind == RECORD_FAULT && record->tag >= 0 && (size_t)record->tag < past->steps;
}

static bool is_witness(const struct past *past, const struct walk_event *event)
{
    return walk_event_is_of(event, past->finding->witness, past->finding->witness_count);
}

static bool wants(void *context, const struct walk_event *event)
{
    return is_deed(context, event->record) || is_witness(context, event);
}

static bool look_at(void *context, const struct walk_event *event)
{
    struct past *past = context;
    if (is_deed(past, event->record)) {
        past->deed = memory_room(past->deed, past->count, &past->room, sizeof *past->deed);
        past->deed[past->count++] =
            (struct deed){(size_t)event->record->tag, event->place, event->clock[event->place]};
    }
    if (!is_witness(past, event))
        return true;
    if (event->trace->incarnation > past->incarnation)
        past->incarnation = event->trace->incarnation;
    for (size_t i = 0; i < past->places; i++)
        if (event->clock[i] > past->clock[i])
            past->clock[i] = event->clock[i];
    return true;
}

enum error_code past_steps(const struct trace_set *traces, const struct finding *finding,
                           bool *before, size_t steps, struct error *error)
{
    struct links links = {0};
    enum error_code code = links_read(traces, &links, error);
    if (code == OK) {
        struct past past = {.finding = finding,
                            .steps = steps,
                            .places = traces->count,
                            .clock = memory_new(traces->count, sizeof *past.clock)};
        struct walk walk = {.context = &past, .wanted = wants, .event = look_at};
        bool all = walk_run(&links, &walk).forced > 0 || finding->witness_count == 0;
        for (size_t i = 0; i < past.count; i++) {
            const struct deed *deed = &past.deed[i];
            if (all || deed->number <= past.clock[deed->place] ||
                traces->trace[deed->place].incarnation < past.incarnation)
                before[deed->step] = true;
        }
        free(past.deed);
        free(past.clock);
    }
    links_release(&links);
    return code;
}
