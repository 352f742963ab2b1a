/* Which events of a large run are shown: those of the witness, and before each of them the last of
 * what happened before it; without a witness the last of the run. Of columns.c. Must not know: how
 * they are printed. */
#ifndef REPORTS_TEXT_COLUMNS_SLICE_H
#define REPORTS_TEXT_COLUMNS_SLICE_H

#include "oracles/matching/walk.h"

struct columns_slice {
    uint64_t candidates; /* events of the run that could be shown */
    size_t count;
    uint64_t *ordinal; /* of those to be shown, among the candidates, ascending; owned */
};

/* Walks twice. candidates: `wanted` and `context` of a walk; `event` is not used. `most`: events,
 * shared among those of the witness; they count themselves. Owned by the caller. */
void columns_slice_choose(const struct links *links, const struct walk *candidates,
                          const struct event_ref *witness, size_t witness_count, uint64_t most,
                          struct columns_slice *slice);
void columns_slice_release(struct columns_slice *slice);

/* The event with this number in the walk belongs to the slice. */
bool columns_slice_holds(const struct columns_slice *slice, uint64_t ordinal);

#endif
