/* What the step engine has found, once more under mpiexec: a real MPI library makes the same
 * decisions, or it cannot. Must not know: TAP, pages, other runs. */
#ifndef JOBS_CONFIRM_H
#define JOBS_CONFIRM_H

#include "run/run.h"
#include "verdict/repetition.h"

#include <signal.h>

/* Whether there is something to confirm: the step engine has run it, and it could be run under
 * mpiexec, where no rank goes on when another has died. */
bool confirm_is_possible(const struct run *run);

/* Repeats the judged run in `folder` up to `times` times under mpiexec, its decisions imposed, in
 * its folder `mpiexec`, where the newest stays; once where it cannot be followed. Verdict and
 * decisions of the run are stored. `mask`: the signal mask of a job. Never fails: what goes wrong
 * is CONFIRMED_NOT. */
void confirm_make(const char *folder, unsigned times, const sigset_t *mask,
                  struct confirmation *made);

/* What a row of repetitions under mpiexec comes to: `same` of `runs` (not void) came to the same;
 * `other`: one that did not, all 0 where there is none. Fills all of *made but its time.
 * `folder`: of the run of the step engine, which is judged by I.legal where the others did not
 * come to the same; `again`: of the newest repetition. */
void confirm_conclude(const char *folder, const char *again, unsigned runs, unsigned same,
                      const struct replayed *other, struct confirmation *made);

#endif
