/* Collectives, all in one way. A member brings what it contributes, packed, to a meeting of all
 * members, and is done when the deposits that it needs are there; then it unpacks, or combines, by
 * itself. A blocking call is a request that is waited for at once; a persistent one is begun anew
 * at each MPI_Start. */
#ifndef ENGINE_COLLECTIVES_COLLECTIVE_H
#define ENGINE_COLLECTIVES_COLLECTIVE_H

#include "engine/communicators/communicator.h"
#include "engine/communicators/meeting.h"
#include "engine/communicators/topology.h"
#include "engine/library.h"

#include <mpi.h>

enum operation {
    COLLECTIVE_BARRIER,
    COLLECTIVE_BCAST,
    COLLECTIVE_GATHER,
    COLLECTIVE_GATHERV,
    COLLECTIVE_SCATTER,
    COLLECTIVE_SCATTERV,
    COLLECTIVE_ALLGATHER,
    COLLECTIVE_ALLGATHERV,
    COLLECTIVE_ALLTOALL,
    COLLECTIVE_ALLTOALLV,
    COLLECTIVE_ALLTOALLW,
    COLLECTIVE_REDUCE,
    COLLECTIVE_ALLREDUCE,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_REDUCE_SCATTER_BLOCK,
    COLLECTIVE_SCAN,
    COLLECTIVE_EXSCAN,
    COLLECTIVE_NEIGHBOR_ALLGATHER,
    COLLECTIVE_NEIGHBOR_ALLGATHERV,
    COLLECTIVE_NEIGHBOR_ALLTOALL,
    COLLECTIVE_NEIGHBOR_ALLTOALLV,
    COLLECTIVE_NEIGHBOR_ALLTOALLW,
    COLLECTIVE_OPERATIONS
};

/* One side of a call: where its blocks are, of how many elements, of which type. */
struct blocks {
    const void *buffer;        /* the program's; the receiving side's is written to */
    MPI_Count count;           /* of each block, without `counts` */
    const void *counts;        /* int, or MPI_Count if `wide` */
    const void *displacements; /* int, or MPI_Aint if `wide` or `aints`; NULL: block by block */
    MPI_Datatype type;         /* without `types` */
    const MPI_Datatype *types; /* then displacements are bytes */
    bool wide, aints;
};

/* As the program has called it. */
struct call {
    enum operation operation;
    struct blocks send, receive;
    MPI_Op op;
    int root; /* 0 where there is none */
    MPI_Comm comm;
};

/* What of an operation differs from the others. */
enum need { NEED_ALL, NEED_ROOT, NEED_LOWER, NEED_SOURCES };
struct traits {
    const char *name; /* MPI_X */
    bool rooted;
    bool root_sends; /* the root's blocks go to the others; else, if rooted, theirs to it */
    bool per_peer;   /* what is sent has a block for each peer, or each destination */
    bool reduces;
    bool neighbours;
    enum need need; /* whose deposits somebody needs who receives */
};
extern const struct traits traits_of[COLLECTIVE_OPERATIONS];

/* A call that has been looked at, and begun. */
struct collective {
    struct call call; /* in place: the sending side has been set to what is meant */
    const struct traits *traits;
    struct comm_view *view;
    struct meeting_key key;
    struct meeting *meeting; /* NULL: not begun */
    struct neighbours neighbours;
    int peers;          /* how many take part on the other side (intra: all) */
    bool is_root, idle; /* idle: MPI_PROC_NULL as root, nothing to do */
    bool skip_own;      /* in place: this rank's own block stays where it is */
    bool waits_for_all; /* though it could leave earlier: a decision */
    bool keeps_types;   /* the types are this collective's own */
    MPI_Count total;    /* elements of a reduction that is scattered, in all */
};

/* What the arguments are: error class. */
int arguments_check(const struct call *call, const struct comm_view *view);

/* Fills all but the meeting; the call has been checked. */
void collective_prepare(struct collective *collective);

/* --- blocks.c ---- */
MPI_Count blocks_count(const struct blocks *blocks, int which);
MPI_Datatype blocks_type(const struct blocks *blocks, int which);
void *blocks_address(const struct blocks *blocks, int which);
/* How many blocks this member sends; of reductions one, of all elements. */
int blocks_sent(const struct collective *collective);
/* How many it gets; of reductions one. */
int blocks_received(const struct collective *collective);
/* The packed blocks that this member sends. */
struct deposit *blocks_pack(const struct collective *collective);
/* Unpacks what has come for this member. Returns the error class. */
int blocks_unpack(const struct collective *collective);
/* Of `bytes` packed bytes into a block of the receiving side; MPI_ERR_TRUNCATE if it is smaller. */
int block_fill(const struct blocks *blocks, int which, const void *packed, size_t bytes);

/* The place in the meeting of a peer, by rank. */
int collective_place(const struct collective *collective, int peer);

/* --- reduce.c ---- */
/* Combines what has come and puts it into the receive buffer. Returns the error class. */
int reduce_take(const struct collective *collective);

/* The forms of a call. */
int collective_run(const struct call *call);
int collective_join(const struct call *call, MPI_Request *request);
int collective_init(const struct call *call, MPI_Request *request);

/* --- kept.c ---- */
/* MPI_Op_free waits for reductions that are pending. */
void operation_hold(MPI_Op op);
void operation_drop(MPI_Op op);
void operations_fill(struct library *table);
/* The types of a prepared collective become copies of its own; and their end. */
void types_keep(struct collective *collective);
void types_drop(struct collective *collective);

#endif
