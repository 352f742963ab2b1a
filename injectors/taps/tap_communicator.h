/* Communicators: what the taps know of each, per level, and the ids that are the same on every
 * member. A handle means nothing outside its process; an id is mixed from the parent's id, the
 * world ranks of the members, and how many communicators of that parent and those members came
 * before.
 *
 * The library is asked at the wire level only, about a communicator that it has just returned. The
 * upper level takes what it says from there, by way of faultline_handle where a protocol hands out
 * handles of its own. Of a communicator that was never seen being made nothing is known: id 0,
 * peers PEER_UNKNOWN; the library is not asked, for it may be the one to complain about the handle.
 */
#ifndef INJECTORS_TAPS_TAP_COMMUNICATOR_H
#define INJECTORS_TAPS_TAP_COMMUNICATOR_H

#include "injectors/taps/tap.h"
#include "injectors/taps/tap_group.h"

struct communicator {
    struct communicator *next;
    _Atomic unsigned references; /* the table's, and one per request that is under way */
    bool permanent;
    bool handed_out; /* made by a library under test, which may give it to the program */
    bool freed;      /* by the program, while requests of it hold it */
    uint32_t id;     /* 0: unknown */
    int rank;        /* own, in the (local) group */
    uint64_t handle;
    MPI_Comm wire;             /* the library's handle */
    struct group *local;       /* never NULL */
    struct group *remote;      /* of an intercommunicator, else NULL */
    const struct group *peers; /* the one that destinations and sources number */
    int sources;               /* neighbours in the topology; see communicator_neighbours */
    int destinations;
    _Atomic unsigned spawned; /* calls of MPI_Comm_spawn on it */
};

/* Sizes as MPI gave them after Init. */
extern struct communicator communicator_world[2];
extern struct communicator communicator_self[2];

/* Forgets the last lookups of all threads when it changes. */
extern _Atomic unsigned communicator_changes[2];

struct communicator *communicator_lookup(enum level level, MPI_Comm comm);

/* Never NULL. Valid until the communicator is freed; communicator_hold keeps it longer. */
static inline struct communicator *communicator_find(enum level level, MPI_Comm comm)
{
    if (likely(comm == handles.COMM_WORLD))
        return &communicator_world[level];
    return communicator_lookup(level, comm);
}

/* World rank, or PEER_*, of a rank as this communicator numbers destinations. */
static inline int32_t communicator_peer(const struct communicator *c, int rank)
{
    const struct group *peers = c->peers;
    if (likely(rank >= 0)) {
        if (likely(peers->identity))
            return rank;
        return rank < peers->size ? peers->member[rank] : PEER_UNKNOWN;
    }
    if (rank == MPI_PROC_NULL)
        return PEER_NULL;
    return rank == MPI_ANY_SOURCE ? PEER_ANY : PEER_UNKNOWN;
}

/* World rank of this process as `c` sees it. */
int32_t communicator_own(const struct communicator *c);

/* It stays until it is dropped as often, although the program frees it. Returns `c`. */
struct communicator *communicator_hold(struct communicator *c);
void communicator_drop(struct communicator *c);

/* A communicator whose members and identity a protocol has noted, and that the call which makes it
 * has not handed to the application yet: its messages may come before that. NULL: none. Held once.
 */
struct communicator *communicator_ahead(MPI_Comm comm);

/* The newest of this handle that the application has freed, while requests hold it. NULL: none, or
 * a newer one has the handle. Held once. */
struct communicator *communicator_freed(MPI_Comm comm);

/* Sources and destinations of neighbourhood collectives; 0 and 0 without a topology. */
void communicator_neighbours(struct communicator *c, int *sources, int *destinations);

/* A communicator was returned at `level`: gives it its id, writes its COMM and GROUP records.
 * `parent` is 0 where the members have no common parent. Nothing happens for MPI_COMM_NULL. */
void communicator_made(enum level level, unsigned call, uint32_t parent, MPI_Comm made,
                       uint64_t mark);

/* The `mark` of a string, by which calls that several threads make at once are told apart. A tag is
 * its own mark; 0 where calls have an order. */
uint64_t communicator_mark(const char *text);

/* The id of a communicator whose identity a protocol has noted, whether or not it is known here. */
uint32_t communicator_of_identity(uint64_t identity);

/* The same in two steps, for MPI_Comm_idup: ids are given in the order of the calls. */
uint32_t communicator_duplicate_id(enum level level, const struct communicator *parent);
void communicator_made_as(enum level level, unsigned call, const struct communicator *parent,
                          uint32_t id, MPI_Comm made);

/* After MPI_Init, and before MPI_Finalize. This process is `rank` of `size` in MPI_COMM_WORLD, and
 * `number` among all. */
void communicator_open(int rank, int size, int number);
void communicator_close(void);

/* Roles COMM_MAKE, COMM_FREE. */
struct record *make_begin(enum level level, unsigned call, MPI_Comm parent);
void make_end(enum level level, struct record *r, MPI_Comm parent, const MPI_Comm *made,
              uint64_t mark, int result);
struct record *communicator_free_begin(enum level level, unsigned call, const MPI_Comm *comm,
                                       struct communicator **freed);
void communicator_free_end(enum level level, struct record *r, struct communicator *freed,
                           int result);

/* Role ACKED: the library has returned the group of those that it reports as failed. */
void failed_end(enum level level, struct record *r, const MPI_Group *failed, int result);

/* Role COMM_IMAKE: the communicator is known when the request is complete. */
struct record *imake_begin(enum level level, unsigned call, MPI_Comm parent);
void imake_end(enum level level, struct record *r, MPI_Comm parent, const MPI_Comm *made,
               const MPI_Request *request, int result);

/* A protocol's handle (enum faultline_handle) stands for one of the library's, or has an identity;
 * 0 forgets it. Any thread, any time. */
void tap_handle_alias(int what, uint64_t handle, uint64_t stands_for);

/* Members of a protocol's communicator that stands for none of the library's, MPI_COMM_WORLD and
 * MPI_COMM_SELF too: world ranks, of which the `rank`-th is this process. Any thread, any time; of
 * those two while no other thread is in MPI. */
void tap_handle_members(uint64_t handle, const int *world, int size, int rank);

/* What was noted for the handle. false: nothing was. */
bool tap_handle_find(int what, uint64_t handle, uint64_t *meant);

/* What `handle` stands for; itself if nothing was noted. */
uint64_t tap_handle_resolve(int what, uint64_t handle);

/* The identity of this handle was noted. If that was outside any call of the program, it is a
 * communicator of an earlier life that the program gets back: it is known and recorded from now on.
 */
void communicator_back(uint64_t handle);

#endif
