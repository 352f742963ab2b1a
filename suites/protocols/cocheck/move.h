/* Processes that are no rank: skeletons, before they take over a rank, and those that have migrated
 * away. And what goes from the one to the other. Must not know: when a rank migrates. */
#ifndef COCHECK_MOVE_H
#define COCHECK_MOVE_H

#include "cocheck/cocheck.h"

/* Collective over all processes: skeletons listen, and all learn where. */
void move_open(void);
void move_close(void);

/* This process hands its rank to the skeleton `process`, waits for the end of the job as nobody,
 * and exits. Phases: before-transfer, mid-transfer, after-transfer. */
_Noreturn void move_to(int process);

/* In MPI_Init of a skeleton: returns when this process is a rank. Where the job ends before, the
 * process exits. Phase: skeleton-waits. */
void move_wait(void);

/* In checkpoint_restore: the state of the rank that this process has become; false: it was started
 * as one. Phases: before-arrival, after-arrival. */
bool move_arrive(void);

#endif
