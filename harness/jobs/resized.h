/* A job that is restarted on another number of ranks is compared with two runs without faults: one
 * on as many ranks as it begins with, and one on as many as it is restarted on, in `restart` of the
 * folder of the first. A result that is the same in both does not depend on the number of ranks;
 * others cannot be compared. */
#ifndef JOBS_RESIZED_H
#define JOBS_RESIZED_H

#include "run/run.h"

#include <signal.h>

/* The second of them, made in this process. True: it has finished, or none is needed. `mask` is the
 * signal mask for the job. */
bool resized_make(const struct run *reference, const sigset_t *mask);

/* Leaves of the results that *run has from `folder` those that are the same in both, and says in
 * `text` how many of how many. ERROR_IO, ERROR_FORMAT: there is no second run, or it cannot be
 * read; *run has no results then. */
enum error_code resized_keep_same(struct run *run, const char *folder, char *text, size_t bytes,
                                  struct error *error);

#endif
