/* What the runs of one command have covered: how often the situation of each claim arose, the
 * regions, the faults by phase and role; and whether each file brought about what it promises by
 * `cover { ... }`. From the verdict.json of the runs. Must not know: how runs are made. */
#ifndef SUITE_COVERAGE_H
#define SUITE_COVERAGE_H

#include "jobs/job.h"
#include "reports/page/report_coverage.h"
#include "reports/results/results.h"
#include "suite/select.h"
#include "verdict/fault_places.h"

#define HOLES_MOST 256

/* Of one file that says `cover`, all scenarios of which are run. */
struct promise {
    const char *file; /* borrowed from the selection */
    int line;         /* of the first thing promised */
    size_t hole_count;
    const char *hole[HOLES_MOST]; /* ids of claims, or what was said of faults; borrowed */
    char *name;                   /* of the test; owned */
};

/* All owned: suite_coverage_release. */
struct suite_coverage {
    const struct scenario_list *list; /* borrowed */
    size_t promise_count;
    struct promise *promise;
    uint64_t runs;        /* that were judged */
    struct coverage *all; /* claim_count of them */
    struct fault_places faults;
};

/* Who promises something, and is run as a whole. */
void suite_coverage_begin(const struct selection *selection, struct suite_coverage *coverage);

/* Adds up what the jobs left, and finds the holes. */
void suite_coverage_collect(struct suite_coverage *coverage, struct job *const *jobs, size_t count);

/* As comments; then a test for each promise, the first with `number`. */
void suite_coverage_print(FILE *out, const struct suite_coverage *coverage);
void suite_coverage_print_promises(FILE *out, const struct suite_coverage *coverage, int number);

/* A promise as the other forms show it. `numbers`: scenarios before it. Borrows from both. */
struct result_case promise_result(const struct promise *promise, int number, const char *folder);

/* coverage.json of the folder of all runs. ERROR_IO. */
enum error_code suite_coverage_store(const struct suite_coverage *coverage, const char *folder,
                                     struct error *error);
void suite_coverage_release(struct suite_coverage *coverage);

/* Whether what a scenario file promises is a claim, a family, a table of cells or a fault.
 * ERROR_USAGE names the nearest. */
enum error_code covered_check(const struct covered *covered, struct error *error);

#endif
