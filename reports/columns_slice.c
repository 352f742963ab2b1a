/* See columns_slice.h. The first walk finds the clocks of the witness, the second what they hold.
 */
#include "reports/columns_slice.h"

#include <stdlib.h>
#include <string.h>

#define WITNESS_MOST 64

struct choosing {
    const struct walk *candidates;
    const struct event_ref *witness;
    size_t witness_count;
    size_t places; /* traces: entries of a clock */
    size_t found;
    uint64_t at[WITNESS_MOST]; /* ordinals of the witness */
    uint64_t *clock;           /* of all of the witness together, by place */
    uint64_t *ring;            /* ordinals of what happened before: the last `most` */
    uint64_t most, past;       /* past: how many there were in all */
};

bool columns_is_witness(const struct event_ref *witness, size_t count,
                        const struct walk_event *event)
{
    for (size_t i = 0; i < count; i++)
        if (witness[i].rank == event->trace->rank &&
            witness[i].incarnation == event->trace->incarnation && witness[i].index == event->index)
            return true;
    return false;
}

static bool is_candidate(void *context, const struct walk_event *event)
{
    const struct walk *candidates = ((struct choosing *)context)->candidates;
    return candidates->wanted == NULL || candidates->wanted(candidates->context, event);
}

static enum error_code find_witness(void *context, const struct walk_event *event,
                                    struct error *error)
{
    struct choosing *choosing = context;
    (void)error;
    if (choosing->found == WITNESS_MOST ||
        !columns_is_witness(choosing->witness, choosing->witness_count, event))
        return OK;
    choosing->at[choosing->found++] = event->ordinal;
    for (size_t i = 0; i < choosing->places; i++)
        if (event->clock[i] > choosing->clock[i])
            choosing->clock[i] = event->clock[i];
    return OK;
}

/* Without a witness all is past. */
static enum error_code find_past(void *context, const struct walk_event *event, struct error *error)
{
    struct choosing *choosing = context;
    (void)error;
    if (choosing->found == 0 || choosing->clock[event->place] >= event->clock[event->place])
        choosing->ring[choosing->past++ % choosing->most] = event->ordinal;
    return OK;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

/* The witness and the ring, each once, ascending. */
static enum error_code collect(const struct choosing *choosing, struct columns_slice *slice,
                               struct error *error)
{
    uint64_t past = choosing->past < choosing->most ? choosing->past : choosing->most;
    size_t count = 0;
    slice->ordinal = calloc(choosing->found + past + 1, sizeof *slice->ordinal);
    if (slice->ordinal == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    memcpy(slice->ordinal, choosing->at, choosing->found * sizeof *slice->ordinal);
    memcpy(slice->ordinal + choosing->found, choosing->ring, past * sizeof *slice->ordinal);
    count = choosing->found + past;
    qsort(slice->ordinal, count, sizeof *slice->ordinal, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || slice->ordinal[i] != slice->ordinal[i - 1])
            slice->ordinal[slice->count++] = slice->ordinal[i];
    return OK;
}

enum error_code columns_slice_choose(const struct links *links, const struct walk *candidates,
                                     const struct event_ref *witness, size_t witness_count,
                                     uint64_t most, struct columns_slice *slice,
                                     struct error *error)
{
    struct choosing choosing = {.candidates = candidates,
                                .witness = witness,
                                .witness_count = witness_count,
                                .places = links->set->count,
                                .most = most};
    struct walk walk = {&choosing, is_candidate, find_witness};
    struct walk_seen seen = {0};
    enum error_code code = OK;
    *slice = (struct columns_slice){0};
    choosing.clock = calloc(choosing.places + 1, sizeof *choosing.clock);
    choosing.ring = calloc(most, sizeof *choosing.ring);
    if (choosing.clock == NULL || choosing.ring == NULL)
        code = error_set(error, ERROR_MEMORY, "out of memory");
    if (code == OK)
        code = walk_run(links, &walk, &seen, error);
    slice->candidates = seen.told;
    walk.event = find_past;
    if (code == OK)
        code = walk_run(links, &walk, NULL, error);
    if (code == OK)
        code = collect(&choosing, slice, error);
    free(choosing.clock);
    free(choosing.ring);
    return code;
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
