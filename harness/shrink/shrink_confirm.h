/* The result of a search on the step engine, repeated under mpiexec. Must not know: how it was
 * found. */
#ifndef SHRINK_SHRINK_CONFIRM_H
#define SHRINK_SHRINK_CONFIRM_H

#include "shrink/shrink_trial.h"
#include "verdict/outcome.h"

/* Repeats the run that the trial keeps up to `times` times (jobs/confirm.h), in its folder
 * `mpiexec`. *made is all 0 where there is nothing to repeat, or the user has interrupted. Nothing
 * else runs meanwhile. */
void shrink_confirm(struct trials *trials, const struct trial *trial, unsigned times,
                    struct confirmation *made);

#endif
