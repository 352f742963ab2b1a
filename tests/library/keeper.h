/* A checkpoint library as many are: the program calls it, and it calls MPI like any program. Ranks
 * 0 and 3 of MPI_COMM_WORLD are its own, its keepers: they hold the checkpoints of all others, and
 * come back to the program only when these have closed. */
#ifndef KEEPER_H
#define KEEPER_H

#include <mpi.h>

/* After MPI_Init, by all: the communicator of the program's own ranks. MPI_COMM_NULL at a keeper,
 * where all is over by then. */
MPI_Comm keeper_open(void);

/* Returns when all of the program's ranks are here. */
void keeper_meet(void);

/* Line 0: nothing was committed, and *state is as it was. */
int keeper_restore(void *state, int bytes);

/* No message of the program may be under way. */
void keeper_checkpoint(const void *state, int bytes);

void keeper_close(void);

#endif
