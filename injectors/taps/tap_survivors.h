/* What is done in another way than the MPI library does it, where ranks live on when one dies and
 * the library (MPICH) knows nothing of deaths: MPI_Init, MPI_Comm_create_group and MPI_Finalize, in
 * which it would wait for the dead. Processes meet by way of the board instead. */
#ifndef INJECTORS_TAPS_TAP_SURVIVORS_H
#define INJECTORS_TAPS_TAP_SURVIVORS_H

#include "board/board.h"

#include <stdbool.h>

/* From now on:
 *  - MPI_Finalize waits until each process has come to it or has died, and leaves without the
 *    library's own. The process's parent takes leave of the launcher for it.
 *  - MPI_Comm_create_group makes the communicator at all members, or fails at all that live with
 *    MPIX_ERR_PROC_FAILED: one has died before all had come. What the library refuses to one member
 *    it refuses to that one, and fails at the others with MPI_ERR_OTHER.
 * This process is number `self` of the board, which must live on. After library_resolve. */
void survivors_open(struct board *board, int self);

/* Returns when the library's MPI_Init has returned in each process, or it has died: before that it
 * needs all of them. At once where there was no survivors_open. */
void survivors_begin(void);

/* There was a survivors_open. */
bool survivors_opened(void);
/* After it: each process has come to the lower MPI_Finalize or has died. Lets the library do what
 * others need of it. */
bool survivors_are_leaving(void);

#endif
