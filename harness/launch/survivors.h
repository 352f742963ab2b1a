/* What became of the ranks of an incarnation in which the others went on when one died. */
#ifndef LAUNCH_SURVIVORS_H
#define LAUNCH_SURVIVORS_H

#include "board/board.h"
#include "launch/ends.h"
#include "launch/launch.h"

/* Of an incarnation whose processes have all ended, and none badly but by the plan, or by leaving
 * after that. It finished when the newest life of each rank of the application did, or died by the
 * plan in MPI_Finalize, or the job went on without the rank (note `without`). text: which rank did
 * not finish, one that the plan killed if there is one. */
enum launch_end survivors_classify(const struct survivors *survivors, const struct board *board,
                                   const struct rank_end *ends, char *text, size_t bytes);

#endif
