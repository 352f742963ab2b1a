/* What a death of the plan takes along from the checkpoint store, between two incarnations. */
#ifndef RUN_STORE_ROLLBACK_H
#define RUN_STORE_ROLLBACK_H

#include "board/board.h"
#include "run/run.h"

/* Puts the store of the run back to what was on stable storage, as far as the kills of the
 * incarnation that has just ended say so. No rank may run. To be called after each incarnation,
 * also if nothing is lost: see power_failure_apply. Errors are those of store/power_failure.h. */
enum error_code store_roll_back(const struct run *run, const struct board *board,
                                struct error *error);

/* The folders of nodes and of stores that have names, as far as they are not there. */
enum error_code store_make_folders(const struct run *run, struct error *error);

#endif
