/* keep: a small library that a program calls to have its state kept on the disks of the nodes. Each
 * rank writes its state on its own node, and a copy goes to a partner rank, which should be on
 * another one. The last rank is the warden: it belongs to the library, and remembers on the
 * parallel file system which line is whole. */
#ifndef KEEP_H
#define KEEP_H

#include <mpi.h>

/* After MPI_Init, by all ranks; conf is the path of the configuration:
 *     partner 2    the copy of rank r goes to rank r + 2
 *     sync yes     what is written is synced before it counts
 *     verify yes   what is read must have the sum that was written
 * Returns the communicator of the program's ranks. The warden does not return: it serves until
 * keep_finish, calls MPI_Finalize and exits. */
MPI_Comm keep_init(const char *conf);

/* Names the memory that is saved and restored. Call it once; all ranks give the same size. The
 * memory stays the caller's. */
void keep_protect(void *state, int bytes);

/* The newest line that is whole is back in the state: its number. 0: there is none, nothing is
 * changed. Aborts the job where a state is nowhere to be had. */
int keep_restart(void);

/* Collective; no message of the program may be under way. 1: the line is kept. 0: it could not be
 * written, and the one before is the newest. */
int keep_checkpoint(void);

void keep_finish(void);

#endif
