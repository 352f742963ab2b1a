/* Meetings: how the members of a communicator do something together. Each comes with what it
 * contributes, and goes on when those are there whom it needs. All of it lies in the mapping that
 * the ranks share.
 *
 * Meetings of one communicator that are alike follow each other in the same order at every member,
 * as MPI asks of collectives: so the meeting that a member means is the first one to which it has
 * not come yet. */
#ifndef ENGINE_COMMUNICATORS_MEETING_H
#define ENGINE_COMMUNICATORS_MEETING_H

#include "engine/communicators/communicator.h"

#include <stddef.h>

enum meeting_kind {
    MEETING_COLLECTIVE, /* collectives in all forms, and what makes communicators of all members */
    MEETING_PERSISTENT, /* a persistent collective: `tag` says the how many-th of its communicator,
                         * since they may be started in another order at each member */
    MEETING_GROUP,      /* MPI_Comm_create_group: of a part of the members, by tag */
    MEETING_LEADERS,    /* MPI_Intercomm_create: two members, by tag */
    MEETING_AGREE,      /* beside the others, since these go on after errors */
    MEETING_SHRINK,
};

/* Which meetings are alike. */
struct meeting_key {
    enum meeting_kind kind;
    int tag;
    uint64_t who; /* 0: all members; else a hash of who */
};

/* What one participant brings: parts that lie one after another. */
struct deposit {
    int parts;
    size_t start[]; /* parts + 1, from the first byte after this array; then the bytes */
};

struct meeting {
    struct meeting *next, *previous;
    struct shared_communicator *of;
    struct meeting_key key;
    uint64_t object;        /* transition.h */
    const int32_t *process; /* of the participants */
    bool own_list;          /* `process` is this meeting's */
    const char *name;  /* of the MPI function, as the first one said: at one address in all ranks */
    int size;          /* participants */
    int arrived, left; /* so many of them */
    bool decided;      /* what it is about has been worked out, once for all: `made`, `answer` */
    int failed;        /* error with which a participant came; MPI_SUCCESS */
    int answer;        /* of an agreement */
    struct shared_communicator **made; /* per participant, or NULL; the meeting holds each */
    struct deposit **deposit;          /* per participant; NULL: has not come */
};

/* A deposit with room for `parts` parts of these lengths in bytes; the caller fills the bytes. */
struct deposit *deposit_new(int parts, const size_t *bytes);
/* Without a byte. */
struct deposit *deposit_none(void);
/* One part, copied. */
struct deposit *deposit_of(const void *bytes, size_t length);
void *deposit_part(struct deposit *deposit, int part);
size_t deposit_bytes(const struct deposit *deposit, int part);

/* The communicator is gone, and with it what it has counted. */
void meetings_forget(struct shared_communicator *of);

/* The beginning of a call that members make together: others may run first. Returns
 * MPIX_ERR_REVOKED if this rank knows the communicator to be revoked: then it must not come to a
 * meeting. */
int meeting_enter(struct comm_view *view);

/* Comes to the meeting as participant `mine` of these processes; takes the deposit over. `name` is
 * the MPI function. Those who can run with it are woken. */
struct meeting *meeting_join(struct shared_communicator *of, const struct meeting_key *key,
                             const char *name, const struct members *participants, int mine,
                             struct deposit *deposit);

/* The same of all members of the communicator. */
struct meeting *meeting_of_all(struct comm_view *view, const struct meeting_key *key,
                               const char *name, struct deposit *deposit);

/* Is what this participant needs there? Looks at deposits only. */
typedef bool meeting_ready(void *data);

/* A meeting_ready, of a meeting: all have come. */
bool meeting_is_full(void *meeting);

/* Waits until ready(data). Returns MPI_SUCCESS, MPIX_ERR_REVOKED or MPIX_ERR_PROC_FAILED; the
 * latter if this rank knows of the death of a participant that has not come, and may be (a
 * decision) if it has. */
int meeting_await(struct comm_view *view, struct meeting *meeting, meeting_ready *ready,
                  void *data);

/* What meeting_await returns when it has waited, or when a request on the meeting completes, which
 * gives the token to nobody. `waited`: so a revocation is known by now. */
int meeting_outcome(struct comm_view *view, const struct meeting *meeting, meeting_ready *ready,
                    void *data, bool waited);

/* This process sees that the participant has come: it waited for that, or could have polled. */
void meeting_see_joined(const struct meeting *meeting, int participant);

/* meeting_await would not wait now. Decides nothing. */
bool meeting_settled(const struct comm_view *view, struct meeting *meeting, meeting_ready *ready,
                     void *data);

/* This participant needs nothing of it any more. */
void meeting_leave(struct meeting *meeting);

/* Place of a member in a meeting of all members: side 0 comes first. */
int meeting_place(const struct shared_communicator *of, int side, int rank);
int meeting_size(const struct shared_communicator *of);

#endif
