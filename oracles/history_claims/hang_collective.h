/* Of hang_analyse: what it knows of each rank, and whether a collective can end. */
#ifndef ORACLES_HISTORY_CLAIMS_HANG_COLLECTIVE_H
#define ORACLES_HISTORY_CLAIMS_HANG_COLLECTIVE_H

#include "oracles/matching/pass.h"
#include "oracles/oracle.h"

/* A standard send of at most this may be buffered, whatever the receiver does. */
#define EAGER_BYTES 8192u
#define HANG_THREADS 32
#define HANG_TARGETS 16

/* What a thread of a rank is inside of. */
struct inside {
    bool blocking;
    uint64_t number; /* of a collective: see collective.h; of a meeting, of its kind there */
    struct event_ref event;
    struct record record;
    bool sends; /* a sendrecv: its send too */
    struct event_ref send_event;
    struct record send;
};

struct rank_threads {
    unsigned count; /* highest thread seen, plus one */
    bool too_many;
    bool used[HANG_THREADS];
    struct inside inside[HANG_THREADS];
};

struct analysis {
    const struct trace_set *traces;
    const bool *alive;
    int alive_count; /* entries in alive */
    int ranks;
    int incarnation;
    struct pass pass;
    struct rank_threads *threads; /* by rank */
    struct table held;            /* see held.h */
    struct table meetings;        /* by communicator and call, rank: how many it has come to */
};

/* One that the rank waits for; once, and not the rank itself. */
void hang_add_target(struct wait_for *wait, int rank);

/* The rank is inside collective number `number` on `comm`, and somebody has not come to it on whom
 * it depends there: then *wait is filled. `root` is a rank of the world; waits_in: the call that it
 * waits in, for people. */
bool hang_in_collective(const struct analysis *analysis, int rank, uint32_t comm, uint64_t number,
                        unsigned call, int root, uint64_t bytes, const char *waits_in,
                        struct wait_for *wait);

/* A call of the members of a communicator that is no collective of H.collective, since it goes on
 * without the dead (MPIX_Comm_agree, MPIX_Comm_shrink) or makes processes (MPI_Comm_spawn). */
bool hang_is_meeting(const struct record *record);
/* The rank comes to it; returns its number, from 1. */
uint64_t hang_come_to_meeting(struct analysis *analysis, int rank, const struct record *record);
/* The rank is inside of it, and a member has not come: one that lives, or to MPI_Comm_spawn any. */
bool hang_in_meeting(const struct analysis *analysis, int rank, const struct inside *inside,
                     struct wait_for *wait);

#endif
