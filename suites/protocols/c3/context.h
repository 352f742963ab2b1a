/* What the protocol knows of a communicator: the library's handle, the hidden one for the messages
 * of collective calls, and who its ranks are in MPI_COMM_WORLD, by which messages are counted. Must
 * not know: how communicators outlive a restart. */
#ifndef C3_CONTEXT_H
#define C3_CONTEXT_H

#include "c3/c3.h"

struct context {
    MPI_Comm user;   /* the program's handle */
    MPI_Comm real;   /* the library's */
    MPI_Comm hidden; /* the same group, for the protocol's own messages; MPI_COMM_NULL: none */
    int rank;        /* of this process in it */
    int size;        /* ranks that destinations and sources number */
    int *world;      /* their ranks in MPI_COMM_WORLD; owned */
};

/* Collective over MPI_COMM_WORLD, after the control communicator is made. */
void context_open(void);
void context_close(void);

/* NULL for a handle that is no communicator's: the library is to complain about it. Valid until the
 * communicator is freed. */
struct context *context_of(MPI_Comm user);

/* World rank of a rank in it; the rank is one of the communicator's. */
static inline int context_world(const struct context *context, int rank)
{
    return context->world[rank];
}

#endif
