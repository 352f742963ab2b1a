/* Communicators. A handle is a real one of the MPI library, made of this process alone (so that
 * attributes, names, error handlers and info stay the library's); who is in it is ours. What all
 * members have in common lies in the mapping that all ranks share; the rest, a view, is in the
 * memory of each rank. Only whoever holds the token touches either. */
#ifndef ENGINE_COMMUNICATORS_COMMUNICATOR_H
#define ENGINE_COMMUNICATORS_COMMUNICATOR_H

#include "engine/core/core.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdint.h>

struct meeting;
struct members;
struct topology;

/* The common part. An intra-communicator has members on side 0 only. */
struct shared_communicator {
    uint32_t context; /* no other communicator of the run has it */
    int references;   /* views of it and meetings on it */
    bool revoked;     /* somebody has revoked it; who of the members knows is in their views */
    struct meeting *meetings;
    struct held *held; /* of a run that is explored: how many meetings of each kind there were */
    int count[2];
    int32_t process[]; /* of side 0, then of side 1 */
};

/* The view of one rank. */
struct comm_view {
    struct comm_view *next; /* in its bucket */
    int references;         /* the handle's, and one per pending operation */
    MPI_Comm handle;        /* MPI_COMM_NULL once it is freed */
    struct shared_communicator *shared;
    bool inter;
    bool has_handler; /* the program has given it, or what it was made of, an error handler */
    bool revoked;     /* this rank knows */
    int side;         /* on which this rank is */
    int rank;         /* of this rank among `local` */
    int persistent;   /* collectives that were made on it by this rank */
    int local_count;
    int peers_count;           /* how many the ranks of a send or receive may mean */
    const int32_t *local;      /* processes of this side */
    const int32_t *peers;      /* processes of the other side; of an intra-communicator: `local` */
    struct members *acked;     /* failures that this rank has acknowledged; NULL: none */
    struct topology *topology; /* NULL: none */
};

/* At MPI_Init of each rank: MPI_COMM_WORLD, of these processes, this one at `rank`, and
 * MPI_COMM_SELF. All processes of one world come with the same list. */
void communicators_open(const int32_t *world, int size, int rank);

/* At MPI_Finalize, first of all: the attributes of the two end. */
void communicators_close(void);

/* NULL: the handle is none of a communicator. */
struct comm_view *communicator_view(MPI_Comm handle);

/* Raises an error of a class at the error handler of a communicator (of MPI_COMM_WORLD if the
 * handle means none, or one that was never given a handler). Returns what the MPI call must return,
 * if the handler returns; the class MPI_SUCCESS is returned at once. */
int communicator_raise(MPI_Comm handle, int class);

/* What a call returns for a class, or a status says: of ULFM's classes another number than the
 * class, as with MPICH, so that who compares the two is found out. */
int error_code_of(int class);

/* The processes of a group of which this is the handle, in the order of their ranks, as numbers of
 * the engine. */
void group_processes(uint64_t group, int32_t *process);

/* An operation that is pending holds the view; it is gone with the last one. */
struct comm_view *view_hold(struct comm_view *view);
void view_drop(struct comm_view *view);

/* The view of a common part under a handle of the library; this rank is on `side`. */
struct comm_view *view_open(struct shared_communicator *shared, int side, MPI_Comm handle);

/* The handle means no communicator from now on. */
void view_close(struct comm_view *view);

/* This rank knows that the communicator is revoked. When it learns of it is a decision while it
 * does anything else, and certain when it waits (`waits`). */
bool view_revoked(struct comm_view *view, bool waits);

/* It is revoked, and this rank cannot wait any more for what it waits for. */
bool view_ends_waiting(const struct comm_view *view);
/* In a run that is explored: a wait of this rank that ends otherwise could have ended so. */
void view_could_be_revoked(const struct comm_view *view);

/* For all its members. */
void shared_revoke(struct shared_communicator *shared);

/* A new common part without views. `second` NULL: an intra-communicator. */
struct shared_communicator *shared_make(const struct members *first, const struct members *second);
struct shared_communicator *shared_hold(struct shared_communicator *shared);
void shared_drop(struct shared_communicator *shared);

/* Wakes all members but this one. */
void shared_wake(const struct shared_communicator *shared);

/* The members of one side as a new list: those of this rank, or (`other`) the peers. */
struct members *view_members(const struct comm_view *view, bool other);

#endif
