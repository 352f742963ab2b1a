/* The program's communicators. They exist in this layer alone: members, and an identity that goes
 * into every packet. The library has none of them, so nothing is to be made again after a restart,
 * and a process in reserve is in none. Must not know: packets, requests. */
#ifndef COMMON_MESSAGES_COMMS_H
#define COMMON_MESSAGES_COMMS_H

#include "common/base/bytes.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stdint.h>

struct comm {
    struct comm *next; /* of all */
    MPI_Comm user;     /* the program's handle */
    uint64_t id;       /* the same on every member and in every incarnation; no other has it */
    int rank;          /* of this process in it */
    int size;
    int *world;          /* ranks of its members in MPI_COMM_WORLD; owned */
    uint64_t made;       /* communicators made of it so far */
    uint64_t numbered;   /* calls on it so far that go along trees */
    uint64_t multicasts; /* of this rank */
    bool freed;          /* by the program: its handle is gone */
    unsigned holds;      /* by requests, and by a protocol */
};

#define COMM_ID_WORLD 1
#define COMM_ID_SELF 2

/* MPI_COMM_WORLD and MPI_COMM_SELF, of an application of `ranks` ranks of which this is `rank`. */
void comms_open(int rank, int ranks);
void comms_close(void);
/* This process is another rank: of MPI_COMM_WORLD and MPI_COMM_SELF. The others are to be read. */
void comms_become(int rank);

/* NULL: none of the program's. */
struct comm *comm_of(MPI_Comm user);
struct comm *comm_by_id(uint64_t id);

/* Made of `parent` by all its members in the same order; `which` tells apart what one call makes.
 * `world` is owned by the communicator. Every member of the parent calls comm_count once per call,
 * ahead of it. */
uint64_t comm_count(struct comm *parent);
struct comm *comm_make(const struct comm *parent, uint64_t count, uint64_t which, int *world,
                       int size);

/* The program has no handle any more; it goes with the last hold. */
void comm_free(struct comm *comm);
void comm_hold(struct comm *comm);
void comm_drop(struct comm *comm);

/* As bytes in a saved state. comms_read puts them in place of those that are there. */
void comms_write(struct bytes *out);
void comms_read(struct reader in);
/* When all that holds one has been read: those that the program had freed go. */
void comms_remove_unused(void);

#endif
