/* Where ranks live on when one dies: the parent of a rank that has ended stays in its place until
 * all have ended, so that the launcher, which would end the job, does not learn of it. */
#ifndef LAUNCH_STAY_H
#define LAUNCH_STAY_H

#include "board/board.h"

#define STAY_LOOK_MS 5       /* between two looks at whether all have ended */
#define STAY_ANSWER_MS 30000 /* a launcher that is alive answers at once */

/* Each process of the incarnation has ended. */
bool stay_is_over(const struct board *board);

/* The launcher is one that does not let ranks live on by itself: it talks PMI. */
bool stay_is_meant(void);

/* The process of `slot`, which has ended, can be kept from the launcher: its MPI library has
 * returned from MPI_Init, in which each process needs all others. */
bool stay_is_possible(const struct board_slot *slot);

/* Tells the launcher that this process has done with MPI, as the library does in MPI_Finalize: a
 * process that ends without would make it end the others. Waits for the answer, limit_ms at most.
 * false: none came, because there is no launcher that talks PMI, or it has ended, or does not
 * answer. */
bool stay_take_leave(int limit_ms);

#endif
