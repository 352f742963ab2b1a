/* Happens-before within one incarnation, from the wire: order within a rank, a message's send
 * before its delivery, a collective's data flow. Control messages of a protocol count like any.
 * What is kept is not a clock but what it is for: for each rank, how far it can know the others to
 * be with the recovery lines; and which collectives of the wire belong together. Must not know:
 * claims.
 *
 * While the wire is passed over, each delivery keeps where its message came from; then the ranks
 * are gone through in causal order. Memory: 24 bytes for each message on the wire, until then; 16
 * for each rank of each collective; and the knowledge at each note. */
#ifndef ORACLES_MATCHING_CAUSAL_H
#define ORACLES_MATCHING_CAUSAL_H

#include "oracles/matching/pass.h"

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
    const struct known *known; /* by rank */
};

/* That a rank came to a collective of the wire. Both are numbers of records, plus one. */
struct attendance {
    uint64_t index; /* 0: it did not come */
    uint64_t above; /* of the application, the newest record before that; 0: none */
};

/* The number-th collective of each rank on a communicator of the wire: these belong together. */
struct meeting {
    uint32_t comm;
    uint64_t number;
    unsigned call; /* of the first that came; root and inter too */
    int32_t root;
    bool inter;
    struct attendance of[]; /* by world rank */
};

struct causal {
    int ranks;
    size_t note_count, note_room;
    struct causal_note *note;   /* by rank, then in order; owned, as all of it */
    const struct known **final; /* by rank: what it knew in the end; NULL: no trace */
    bool uncertain;             /* some message of the wire could not be matched: knowledge may be
                                 * missing */
    size_t meeting_count, meeting_room;
    struct meeting **meeting; /* in the order in which they began */
    /* Private. */
    void *blocks;
};

/* *causal is filled as the pass over the wire goes on, and complete at its end; to be released. */
void causal_listen(struct pass *pass, struct causal *causal);
void causal_release(struct causal *causal);

/* Data flows from world rank `from` to `to` in a collective: its call, root (world rank), and
 * communicator. Of scans on other communicators than the world: between any two. */
bool causal_flows(unsigned call, int32_t root, uint32_t comm, bool inter, int from, int to);

#endif
