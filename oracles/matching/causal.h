/* What each rank can know, at each note that it makes, of how far the others are with the recovery
 * lines: what they noted before it happened. Must not know: claims. */
#ifndef ORACLES_MATCHING_CAUSAL_H
#define ORACLES_MATCHING_CAUSAL_H

#include "oracles/matching/links.h"

/* Of one rank, as far as somebody knows: the newest lines it noted. 0: none in this incarnation. */
struct known {
    uint64_t checkpoint;
    uint64_t saved;
    uint64_t commit;
};

/* What a rank knows as of a note (the note itself included). */
struct causal_note {
    struct event_ref event;
    unsigned kind; /* enum note_kind: CHECKPOINT, SAVED, COMMIT, STOP_LOG, INITIATED */
    uint64_t line;
    uint64_t ticks;
    struct known *known; /* by rank */
};

/* One incarnation. */
struct causal {
    int ranks;
    size_t note_count, note_room;
    struct causal_note *note; /* by rank, then in order; owned, as all of it */
    struct known **final;     /* by rank: what it knew in the end; NULL: no trace */
    bool uncertain;           /* some message of the wire could not be matched: knowledge may be
                               * missing */
};

/* Of each incarnation of the run, from the links of all. Owned by the caller, as each of them is
 * (causal_release). */
struct causal *causal_read(const struct links *links);
void causal_release(struct causal *causal);

#endif
