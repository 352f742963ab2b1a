/* The collectives of the wire in one incarnation: who came to which, and when. Must not know: what
 * data flows in them, claims. */
#ifndef ORACLES_MATCHING_MEETINGS_H
#define ORACLES_MATCHING_MEETINGS_H

#include "oracles/matching/pass.h"

/* That a rank came to a collective of the wire. Both are numbers of records, plus one. */
struct attendance {
    uint64_t index; /* 0: it did not come */
    uint64_t above; /* of the application, the newest record before that; 0: none */
};

/* The number-th collective of each rank on a communicator of the wire: these belong together. */
struct meeting {
    uint32_t comm;
    struct attendance of[]; /* by world rank */
};

struct meetings {
    int ranks;
    size_t count, room;
    struct meeting **meeting; /* in the order in which they began; owned, as all of them */
};

/* *meetings is complete when the pass over the wire has ended. Owned by the caller:
 * meetings_release, also before the pass has been read. */
void meetings_listen(struct pass *pass, struct meetings *meetings);
void meetings_release(struct meetings *meetings);

#endif
