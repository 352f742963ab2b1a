/* The control run: what a violation is worth is seen from the same scenario without its faults.
 * Must not know: TAP, pages, other runs. */
#ifndef JOBS_CONTROL_H
#define JOBS_CONTROL_H

#include "run/run.h"

#include <signal.h>

#define CONTROL_TEXT_BYTES 256

enum control_result {
    CONTROL_NONE,      /* there was no such run */
    CONTROL_PASSES,    /* the faults are needed */
    CONTROL_FAILS,     /* it is violated without them, too */
    CONTROL_UNDECIDED, /* unknown, or an error of the harness */
    CONTROL_RESULTS
};

struct control {
    enum control_result result;
    char claim[64];                /* violated without faults; empty: none */
    char text[CONTROL_TEXT_BYTES]; /* "passes without faults"; empty: no control run */
    double seconds;
};

/* The word that verdict.json has for it. */
const char *control_word(enum control_result result);

/* Whether the scenario has faults that can be left out. */
bool control_is_possible(const struct scenario *scenario);

/* Runs the scenario of `run`, which is over and violates `claim`, without its faults, in its folder
 * `control`, with the same time limit, and judges it by the same claims and the same reference.
 * `mask`: the signal mask of a job. Never fails: what goes wrong is CONTROL_UNDECIDED. */
void control_make(const struct run *run, const char *claim, const sigset_t *mask,
                  struct control *control);

/* What the verdict.json of `folder` says of the control run of that run. */
void control_load(const char *folder, struct control *control);

#endif
