/* Happens-before within one incarnation, from the wire: order within a rank, a message's send
 * before its delivery, a collective's data flow. Control messages of a protocol count like any.
 * What is kept is not a clock but what it is for: for each rank, how far it can know the others to
 * be with the recovery lines. Must not know: claims.
 *
 * Two readings: first the messages of the wire are matched and each delivery keeps where its
 * message came from; then the ranks are gone through in causal order. Memory: 24 bytes for each
 * message on the wire, and the knowledge at each note. */
#ifndef ORACLES_READING_CAUSAL_H
#define ORACLES_READING_CAUSAL_H

#include "oracles/reading/history.h"

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

struct causal {
    int ranks;
    size_t note_count;
    struct causal_note *note;   /* by rank, then in order */
    const struct known **final; /* by rank: what it knew in the end; NULL: no trace */
    bool uncertain;             /* some message of the wire could not be matched: knowledge may be
                                 * missing */
    /* Private. */
    void *blocks;
};

/* Owned by the caller, also after an error (ERROR_MEMORY). */
enum error_code causal_read(const struct trace_set *traces, int incarnation, struct causal *causal,
                            struct error *error);
void causal_release(struct causal *causal);

/* Data flows from world rank `from` to `to` in a collective: its call, root (world rank), and
 * communicator. Of scans on other communicators than the world: between any two. */
bool causal_flows(unsigned call, int32_t root, uint32_t comm, bool inter, int from, int to);

#endif
