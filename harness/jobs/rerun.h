/* A run that is over, once more with the same decisions, to see where its ranks stand at the events
 * of its witness: to keep that in every run, for every event, would cost too much. */
#ifndef JOBS_RERUN_H
#define JOBS_RERUN_H

#include "run/run.h"
#include "verdict/outcome.h"

/* The witness of what decided, into stacks.txt of the run folder; what cannot be had is said there.
 * Nothing where nothing was found, and of a job that hung, whose stacks are there. In the process
 * of the run, whose decisions are kept; takes as long as the run did, and is ended when it takes
 * much longer. `mask`: the signal mask of a job. */
void rerun_for_stacks(const struct run *run, const struct outcome *outcome, const sigset_t *mask);

#endif
