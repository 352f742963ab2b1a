/* One run in some of the step engine is made twice with the same decisions: a program that is
 * deterministic leaves the same traces, byte by byte. Must not know: TAP, pages, other runs. */
#ifndef JOBS_TWICE_H
#define JOBS_TWICE_H

#include "run/run.h"

#include <signal.h>

#define TWICE_EVERY 20 /* runs */

/* Makes the run, which is over, once more in its folder `twice`, which stays where the two differ:
 * then `text` (bytes long) describes the first event that does; else it is empty. `mask`: the
 * signal mask of a job. false: there was nothing to compare (another engine, a run that came to no
 * end of its own, an error). */
bool twice_make(const struct run *run, const sigset_t *mask, char *text, size_t bytes);

#endif
