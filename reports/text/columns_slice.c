/* See columns_slice.h. The first walk finds the clocks of the witness, the second what they hold.
 */
#include "reports/text/columns_slice.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define WITNESS_MOST 64

/* The last of what happened before an event of the witness, itself included. */
struct past {
    uint64_t *clock; /* of that event, by place; NULL: everything is before it */
    uint64_t *ring;  /* ordinals */
    uint64_t count;  /* of all that were put into the ring */
};

struct choosing {
    const struct walk *candidates;
    const struct event_ref *witness;
    size_t witness_count;
    size_t places;                  /* traces: entries of a clock */
    size_t found;                   /* of the witness; without one there is a past all the same */
    struct past past[WITNESS_MOST]; /* owned */
    uint64_t room;                  /* of a ring */
};

static bool is_candidate(void *context, const struct walk_event *event)
{
    const struct walk *candidates = ((struct choosing *)context)->candidates;
    return candidates->wanted == NULL || candidates->wanted(candidates->context, event);
}

static bool find_witness(void *context, const struct walk_event *event)
{
    struct choosing *choosing = context;
    if (choosing->found == WITNESS_MOST ||
        !walk_event_is_of(event, choosing->witness, choosing->witness_count))
        return true;
    size_t bytes = choosing->places * sizeof *event->clock;
    struct past *past = &choosing->past[choosing->found++];
    past->clock = memory_new(1, bytes);
    memcpy(past->clock, event->clock, bytes);
    return true;
}

static bool find_past(void *context, const struct walk_event *event)
{
    struct choosing *choosing = context;
    for (size_t i = 0; i < WITNESS_MOST && choosing->past[i].ring != NULL; i++) {
        struct past *past = &choosing->past[i];
        if (past->clock == NULL || past->clock[event->place] >= event->clock[event->place])
            past->ring[past->count++ % choosing->room] = event->ordinal;
    }
    return true;
}

/* A ring for each event of the witness, or one for the whole run. */
static void make_rings(struct choosing *choosing, uint64_t most)
{
    size_t rings = choosing->found > 0 ? choosing->found : 1;
    choosing->room = (most + rings - 1) / rings;
    for (size_t i = 0; i < rings; i++)
        choosing->past[i].ring = memory_new(choosing->room, sizeof(uint64_t));
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* What is in the rings, each once, ascending. */
static void collect(const struct choosing *choosing, struct columns_slice *slice)
{
    size_t count = 0;
    slice->ordinal = memory_new(choosing->room * WITNESS_MOST, sizeof *slice->ordinal);
    for (size_t i = 0; i < WITNESS_MOST && choosing->past[i].ring != NULL; i++) {
        const struct past *past = &choosing->past[i];
        uint64_t held = past->count < choosing->room ? past->count : choosing->room;
        memcpy(slice->ordinal + count, past->ring, held * sizeof *slice->ordinal);
        count += held;
    }
    qsort(slice->ordinal, count, sizeof *slice->ordinal, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || slice->ordinal[i] != slice->ordinal[i - 1])
            slice->ordinal[slice->count++] = slice->ordinal[i];
}

static void release(struct choosing *choosing)
{
    for (size_t i = 0; i < WITNESS_MOST; i++) {
        free(choosing->past[i].clock);
        free(choosing->past[i].ring);
    }
}

void columns_slice_choose(const struct links *links, const struct walk *candidates,
                          const struct event_ref *witness, size_t witness_count, uint64_t most,
                          struct columns_slice *slice)
{
    struct choosing choosing = {.candidates = candidates,
                                .witness = witness,
                                .witness_count = witness_count,
                                .places = links->set->count};
    struct walk walk = {.context = &choosing, .wanted = is_candidate, .event = find_witness};
    *slice = (struct columns_slice){.candidates = walk_run(links, &walk).told};
    walk.event = find_past;
    make_rings(&choosing, most);
    (void)walk_run(links, &walk);
    collect(&choosing, slice);
    release(&choosing);
}

void columns_slice_release(struct columns_slice *slice)
{
    free(slice->ordinal);
    *slice = (struct columns_slice){0};
}

bool columns_slice_holds(const struct columns_slice *slice, uint64_t ordinal)
{
    return bsearch(&ordinal, slice->ordinal, slice->count, sizeof ordinal, by_number) != NULL;
}
