/* What a death of the plan takes along from the checkpoint store, between two incarnations. */
#ifndef RUN_LOSE_H
#define RUN_LOSE_H

#include "board/board.h"
#include "run/run.h"

/* Puts the store of the run back to what was on stable storage, as far as the kills of the
 * incarnation that has just ended say so. No rank may run. To be called after each incarnation,
 * also if nothing is lost: see loss_apply. Errors are those of store/loss.h. */
enum error_code lose_unsynced(const struct run *run, const struct board *board,
                              struct error *error);

#endif
