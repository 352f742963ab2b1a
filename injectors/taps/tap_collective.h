/* Collectives: what a rank contributes and what it gets, by operation. The generated wrappers fill
 * struct collective from the parameters (functions.lua says which goes where); what of it counts
 * for this rank (root, MPI_IN_PLACE, side of an intercommunicator) is decided here. Buffers that
 * MPI says are not significant at this rank are not touched. */
#ifndef INJECTORS_TAPS_TAP_COLLECTIVE_H
#define INJECTORS_TAPS_TAP_COLLECTIVE_H

#include "injectors/taps/tap_communicator.h"

/* One side as the program gave it. Arrays stay the program's; MPI lets us read them until the
 * operation is complete. */
struct side {
    const void *buffer;
    MPI_Count count;
    MPI_Datatype type;
    const void *counts;        /* int[] or, with wide_counts, MPI_Count[]; NULL: `count` each */
    const void *displacements; /* int[] or, with wide, MPI_Aint[] */
    const MPI_Datatype *types; /* one per block, displacements are then in bytes */
    bool wide;
};

struct collective {
    enum call_operation operation;
    int root;
    bool wide_counts;
    struct side send;
    struct side recv;
    struct communicator *communicator; /* set when the call is recorded */
    bool types_gone; /* the program's arrays of datatypes, and the types in them, may be no more:
                        of an Alltoallw that goes on after its call nothing is hashed */
};

/* Fills what of a COLLECTIVE record is known on entry. */
void collective_fill(struct record *r, const struct collective *collective);

/* Hash of what this rank got, 0 if it got nothing; *hashed as payload_hash says. */
uint64_t collective_result_hash(const struct collective *collective, bool *hashed);

/* Around a blocking collective, a non-blocking one, and one that makes a persistent request. _begin
 * publishes the record and fills in collective->communicator; _end adds what this rank got, of a
 * non-blocking one what the request is. */
struct record *collective_begin(enum level level, unsigned call, struct collective *collective,
                                MPI_Comm comm);
void collective_end(struct record *r, const struct collective *collective, int result);

struct record *icollective_begin(enum level level, unsigned call, struct collective *collective,
                                 MPI_Comm comm);
void icollective_end(enum level level, struct record *r, const struct collective *collective,
                     const MPI_Request *request, int result);
void collective_init_end(enum level level, struct record *r, struct collective *collective,
                         MPI_Comm comm, const MPI_Request *request, int result);

#endif
