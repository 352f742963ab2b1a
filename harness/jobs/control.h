/* The control run: what a violation is worth is seen from the same scenario without its faults.
 * Must not know: TAP, pages, other runs. */
#ifndef JOBS_CONTROL_H
#define JOBS_CONTROL_H

#include "run/run.h"
#include "verdict/outcome.h"

#include <signal.h>

/* Whether the scenario has faults that can be left out. */
bool control_is_possible(const struct scenario *scenario);

/* Runs the scenario of `run`, which is over and violates `claim`, without its faults, in its folder
 * `control`, with the same time limit, and judges it by the same claims and the same reference.
 * `mask`: the signal mask of a job. Never fails: what goes wrong is CONTROL_UNDECIDED. */
void control_make(const struct run *run, const char *claim, const sigset_t *mask,
                  struct control *control);

#endif
