/* The reports of `run` that other programs read (reports/results/results.h): one file for each form
 * asked for, written when everything is over, from what the jobs left in their folders. */
#ifndef SUITE_RESULTS_H
#define SUITE_RESULTS_H

#include "cli/options.h"
#include "jobs/job.h"
#include "reports/results/results.h"
#include "system/status.h"

/* NULL: not asked for. */
struct results {
    FILE *out[RESULTS_FORMS];
};

/* Makes the files, so that one that cannot be written is known before anything runs. Owned by the
 * caller, also after an error: results_close. */
enum error_code results_open(struct results *results, const struct options *options,
                             struct error *error);

/* All jobs but references, also those that were never started; then `more` cases. Says on stderr
 * what could not be written, and returns `status`, or what weighs more. */
enum exit_status results_write(struct results *results, const struct options *options,
                               struct job *const *jobs, size_t count,
                               const struct result_case *more, size_t more_count,
                               enum exit_status status);
void results_close(struct results *results);

#endif
