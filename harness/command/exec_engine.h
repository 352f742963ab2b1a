/* `faultline exec --engine step`: the command is an MPI program, and the engine starts its ranks.
 * Apart from the rest, which the parents of ranks are made of, too. */
#ifndef COMMAND_EXEC_ENGINE_H
#define COMMAND_EXEC_ENGINE_H

#include "system/path.h"

#include <stdint.h>

/* Runs command[] (NULL-terminated) with so many ranks in the folder `run`, which is made, without
 * any fault or limit of time; what ranks print is shown as it comes. Returns the exit status: that
 * of the first rank that failed, 122 of a job that is deadlocked, 2 where the engine does not do
 * what a rank asks for, 3 where the job could not be run. */
int exec_on_engine(const struct path *run, int ranks, uint64_t seed, char **command);

#endif
