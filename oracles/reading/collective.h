/* Instances of collectives: the k-th call of each member on a communicator belongs together,
 * whatever it is. Making a communicator from another is a collective on that other one. Works on
 * either level; told of records in the order of a stream. Memory: communicators times ranks, and
 * instances that are under way. */
#ifndef ORACLES_READING_COLLECTIVE_H
#define ORACLES_READING_COLLECTIVE_H

#include "oracles/reading/pool.h"
#include "oracles/reading/stream.h"
#include "oracles/reading/table.h"

#define COLLECTIVE_NAMED 16 /* members of an instance whose events are kept for a witness */

/* What one member did. */
struct contribution {
    struct event_ref event;
    unsigned call;
    int32_t root;
    uint64_t bytes;
};

struct instance {
    struct instance *next;
    struct gathering *gathering;
    uint64_t number;            /* k, from 1 */
    struct contribution first;  /* what the others are compared with */
    struct contribution sized;  /* first whose size counts; event.rank < 0: none yet */
    struct contribution result; /* first whose result is known; the same */
    uint64_t result_hash;
    unsigned joined;
    unsigned outstanding; /* members that joined but whose request is not complete */
    bool told;            /* something is wrong with it and was said */
    struct event_ref named[COLLECTIVE_NAMED];
};

/* A communicator. */
struct gathering {
    uint32_t comm;
    bool known; /* its members are */
    bool inter;
    unsigned size;
    bool *member;             /* by world rank; owned */
    int *place;               /* by world rank: its rank here, valid if member; owned */
    uint64_t *joined;         /* by world rank: instances joined so far; owned */
    struct event_ref *newest; /* by world rank: its last call here; owned */
    struct instance *under_way;
    struct instance *last;
    uint64_t begun; /* number of the newest instance */
    struct gathering *next;
};

enum discord {
    DISCORD_OPERATION, /* other members call something else */
    DISCORD_ROOT,
    DISCORD_SIZE,
    DISCORD_RESULT,
    DISCORD_MISSING, /* at the end: members that never came */
};

struct collective_listener {
    void *context;
    /* All members have joined, and every result is known that will be. */
    void (*complete)(void *context, const struct instance *instance);
    /* `with` is what `against` does not fit; both NULL for DISCORD_MISSING. Once per instance. */
    void (*discord)(void *context, enum discord discord, const struct instance *instance,
                    const struct contribution *with, const struct contribution *against);
};

struct collectives {
    int ranks;
    struct collective_listener listener;
    const bool *helper; /* to be set, of the application's level: by rank, no members of any
                           communicator. NULL: there are none. Borrowed */
    bool exhausted;
    struct table gatherings; /* by communicator */
    struct gathering *first;
    struct table requests; /* (rank, incarnation; number) to instance */
    struct pool instance_pool;
};

/* Owned by the caller: collectives_release. */
void collectives_init(struct collectives *collectives, int ranks,
                      const struct collective_listener *listener);
void collectives_release(struct collectives *collectives);

/* A process of the world that is no rank of the application: it is in reserve, or a helper. Before
 * any record. */
void collectives_leave_out(struct collectives *collectives, int rank);

/* Any record of the level; those that are no collectives cost next to nothing. */
void collectives_record(struct collectives *collectives, const struct stream_event *event);

/* Communicators are made before a restart's `restored` note, which is in no effective history:
 * learns of all that `trace` made at `level` below record `to`. */
void collectives_learn(struct collectives *collectives, const struct trace *trace, enum level level,
                       uint64_t to);

/* Nothing more will come. */
void collectives_finish(struct collectives *collectives);

/* Which communicator this record is a collective on, 0 if it is none. */
uint32_t collective_comm(const struct record *record);

/* NULL if nothing is known of it. */
const struct gathering *collectives_find(const struct collectives *collectives, uint32_t comm);

/* Of a request that is not complete, or NULL. */
const struct instance *collectives_request(const struct collectives *collectives, int rank,
                                           int incarnation, uint32_t request);

#endif
