/* One run of a scenario that is tried. Only for shrink_trial.c. */
#ifndef SHRINK_SHRINK_ATTEMPT_H
#define SHRINK_SHRINK_ATTEMPT_H

#include "shrink/shrink_trial.h"

/* A run without faults, for claims that are judged against one; made once for each program,
 * arguments, ranks and environment. */
struct reference;

/* Starts one run of the trial, or the run without faults that it needs first (then or while that
 * goes on, the trial is started as often as it is asked for after it). Starts nothing, and says
 * OK, where all is over, also when that comes meanwhile: whoever calls it in a loop asks
 * trials_over. There must be room in the pool. */
enum error_code attempt_start(struct trials *trials, struct trial *trial, struct error *error);

/* Waits until a run is done and has been counted, or for a while: there may be something else to
 * look at then. */
void attempts_wait(struct trials *trials);

/* Ends all that runs; none of it is counted. */
void attempts_end(struct trials *trials);

/* Releases the runs without faults that the trials were compared with, and removes their folders.
 */
void references_release(struct trials *trials);

#endif
