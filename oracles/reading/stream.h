/* The records of all ranks as one stream, merged by the time of entry, each rank in its own order.
 * Memory: a cursor per rank. Pages of the trace files that were read are given back, so that what
 * is resident does not grow with their length. */
#ifndef ORACLES_READING_STREAM_H
#define ORACLES_READING_STREAM_H

#include "oracles/reading/history.h"

struct stream_event {
    int rank;
    const struct trace *trace;
    uint64_t index;
    const struct record *record;
    bool in_progress; /* had not returned by the end of its piece: unknown */
    bool at_cut;      /* ... which was a checkpoint: the program goes on from before it */
    bool again;       /* the rank was restored inside this call: one that was under way at the
                       * checkpoint and is done again */
    bool restarted;   /* a new life of this rank begins; the record may be of kind NONE */
    bool anew;        /* see struct piece */
    bool takes_over;  /* see struct piece */
    bool replica;     /* see struct piece */
    uint64_t born;    /* ticks when the life began that did this; 0: the first of its rank */
};

typedef void stream_visit(void *context, const struct stream_event *event);

/* Times of one thread may be out of order by less than this: clocks of processors differ. */
#define STREAM_CLOCK_SLACK_S 1e-3
#define STREAM_THREADS 64 /* whose times are looked at */

/* What passing over a trace shows besides its events; by rank. */
struct stream_seen {
    unsigned threads;       /* highest number seen, plus one */
    uint64_t hole_runs;     /* holes next to each other count once */
    uint64_t first_hole;    /* valid if hole_runs > 0 */
    bool hole_before_event; /* something was written after a hole */
    uint64_t foreign; /* records of a kind or level that does not exist; they are not visited */
    uint64_t first_foreign; /* valid if foreign > 0 */
    uint64_t backwards;     /* records that ended before one above them of the same thread began */
    uint64_t first_backwards;
    uint64_t newest[STREAM_THREADS]; /* latest time of entry, by thread */
};

/* Visits every record of `level` and of LEVEL_SELF; GROUP and TEXT records belong to the one before
 * them and are not visited. seen (histories->ranks entries, zeroed by the caller) may be NULL. */
void stream_run(const struct histories *histories, enum level level, stream_visit *visit,
                void *context, struct stream_seen *seen);

#endif
