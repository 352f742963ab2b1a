/* The reports of `run` that other programs read (reports/results/results.h): one file for each form
 * asked for, written when everything is over, from what the jobs left in their folders. */
#ifndef SUITE_RESULTS_H
#define SUITE_RESULTS_H

#include "base/whole_file.h"
#include "cli/options.h"
#include "jobs/job.h"
#include "reports/results/results.h"
#include "system/status.h"

/* A form that is not asked for is not begun. Stays where it is until results_close. */
struct results {
    struct whole_file file[RESULTS_FORMS];
};

/* Begins the files beside their places, so that one that cannot be written is known before anything
 * runs, and takes away what an earlier run left there: a file under the name is of this run, and
 * whole. Owned by the caller, also after an error: results_close. */
enum error_code results_open(struct results *results, const struct options *options,
                             struct error *error);

/* All jobs but references, also those that were never started; then `more` cases. Says on stderr
 * what could not be written, and returns `status`, or what weighs more. */
enum exit_status results_write(struct results *results, struct job *const *jobs, size_t count,
                               const struct result_case *more, size_t more_count,
                               enum exit_status status);
void results_close(struct results *results);

#endif
