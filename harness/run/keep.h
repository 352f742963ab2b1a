/* The decisions of a run that is over, kept so that they can be imposed on another one, with what
 * the run was made of. */
#ifndef RUN_KEEP_H
#define RUN_KEEP_H

#include "decisions/decisions.h"
#include "run/run.h"

/* Version and hashes of Faultline, protocol and program as they are now; the MPI library is left
 * out. A hash is 0 where the file cannot be read. */
void run_identify(const struct scenario *scenario, struct decisions_identity *identity);

/* The MPI library that the ranks of the run in `folder` had in their processes, as they noted on
 * the board; nothing is changed where they did not. */
void run_identify_mpi(const char *folder, struct decisions_identity *identity);

/* The decisions of a run that is over, from its traces. Owned by the caller, also after an error:
 * decisions_release. followed: those of the run that this one has followed; NULL: none. ERROR_LIMIT
 * and ERROR_FORMAT: such a run has none, *error says why. */
enum error_code run_decisions(const struct run *run, const struct decisions *followed,
                              struct decisions *decisions, struct error *error);

/* The same into the file `decisions` of its folder. */
enum error_code run_keep_decisions(const struct run *run, struct error *error);

#endif
