/* The numbering of collectives: the k-th call of each member on a communicator belongs together,
 * whatever it is. Making a communicator from another is a collective on that other one. Whoever
 * listens to what members do with each other has their calls compared as well, as instances. Works
 * on either level; told of records in the order of a stream. Memory: communicators times ranks, and
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
    bool came;  /* somebody came to a collective before that: they stay unknown */
    bool inter;
    unsigned size;
    bool *member;             /* by world rank; owned */
    int *place;               /* by world rank: its rank here, valid if member; owned */
    uint64_t *joined;         /* by world rank: instances joined so far; owned */
    struct event_ref *newest; /* by world rank: its last call here; owned */
    struct instance *under_way;
    struct instance *last;
    uint64_t begun;  /* number of the newest instance */
    uint64_t raised; /* number of the first at which, or ahead of which, a member's call failed;
                      * UINT64_MAX: none. From then on nobody knows which calls belong together */
    struct gathering *next;
};

enum discord {
    DISCORD_OPERATION, /* other members call something else */
    DISCORD_ROOT,
    DISCORD_SIZE,
    DISCORD_RESULT,
    DISCORD_MISSING, /* at the end: members that never came */
};

/* A collective that is started only: who has it open. */
struct collective_request {
    struct gathering *gathering;
    uint64_t number;
    uint64_t began;            /* record of the same trace */
    uint64_t seen;             /* when MPI_Request_get_status first said that it is complete; 0: it
                                * has not */
    struct instance *instance; /* NULL: nothing is compared */
};

/* Any function may be NULL. */
struct collective_listener {
    void *context;
    /* The rank of the event came to number `number` of the communicator; whether its members are
     * known or not. */
    void (*joined)(void *context, const struct stream_event *event,
                   const struct gathering *gathering, uint64_t number);
    /* The event completes one that was only started. */
    void (*left)(void *context, const struct stream_event *event,
                 const struct collective_request *request);
    /* All members have joined, and every result is known that will be. */
    void (*complete)(void *context, const struct instance *instance);
    /* `with` is what `against` does not fit; both NULL for DISCORD_MISSING. Once per instance. */
    void (*discord)(void *context, enum discord discord, const struct instance *instance,
                    const struct contribution *with, const struct contribution *against);
};

struct collectives {
    const struct lives *lives; /* borrowed */
    int ranks;
    bool
        of_application; /* members are ranks of the application, helpers are none; not: processes */
    struct collective_listener listener;
    bool compares;           /* instances are made */
    struct table gatherings; /* by communicator */
    struct gathering *first;
    struct table requests; /* (rank, incarnation; number) to struct collective_request */
    struct pool instance_pool, request_pool;
};

/* Owned by the caller: collectives_release. */
void collectives_init(struct collectives *collectives, const struct lives *lives, enum level level,
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

/* NULL if its members are not known. */
const struct gathering *collectives_find(const struct collectives *collectives, uint32_t comm);

/* That is not complete, or NULL. */
const struct collective_request *collectives_request(const struct collectives *collectives,
                                                     int rank, int incarnation, uint32_t request);

#endif
