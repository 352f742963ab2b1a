/* `faultline run`: many runs, some at once, printed in order. */
#include "base/memory.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "jobs/job.h"
#include "jobs/pool.h"
#include "jobs/twice.h"
#include "reports/page/report.h"
#include "reports/results/tap.h"
#include "suite/coverage.h"
#include "suite/results.h"
#include "suite/select.h"
#include "system/process.h"
#include "system/progress.h"
#include "system/status.h"
#include "verdict/stored_verdict.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ID_BYTES 64
#define SLOWEST_SHOWN 10
#define OUTPUTS 2 /* standard output, --tap */

struct suite {
    const struct options *options;
    struct selection selection;
    struct path folder; /* OUT/<id> */
    struct job **job;   /* owned, each; references stand before the jobs that need them */
    size_t count, room;
    size_t started; /* jobs are started in order */
    size_t printed;
    int numbers, references; /* given so far */
    size_t vacuous;          /* runs */
    bool stopping;           /* start nothing more */
    struct pool pool;
    FILE *out[OUTPUTS];
    struct results results;
    struct suite_coverage coverage;
    enum exit_status worst;
    struct progress progress;
};

/* --- the list of jobs ---------------------------------------------------------------------- */

static struct job *add_job(struct suite *suite)
{
    suite->job = memory_room(suite->job, suite->count, &suite->room, sizeof(struct job *));
    return suite->job[suite->count++] = memory_new(1, sizeof(struct job));
}

/* Of a run without faults there is nothing to compare, unless the scenario says so. */
static bool needs_reference(const struct scenario *scenario)
{
    bool asks = false;
    for (size_t i = 0; i < scenario->claim_count; i++)
        asks |= claims_ask(scenario->claim[i], ASKS_REFERENCE);
    return asks && (scenario->plan.count > 0 || scenario->result != NULL);
}

static const struct job *find_reference(const struct suite *suite, const struct scenario *scenario,
                                        const struct path *program)
{
    for (size_t i = 0; i < suite->count; i++) {
        const struct job *job = suite->job[i];
        if (job_refers_to(job, scenario) && strcmp(job->program.text, program->text) == 0)
            return job;
    }
    return NULL;
}

static enum error_code add_reference(struct suite *suite, const struct scenario *scenario,
                                     const struct job **reference, struct error *error)
{
    struct path program;
    enum error_code code = path_program(scenario->program, scenario->file, &program, error);
    if (code != OK)
        return code;
    *reference = find_reference(suite, scenario, &program);
    if (*reference != NULL)
        return OK;
    struct job *job = add_job(suite);
    job_refer_to(job, scenario);
    job->program = program;
    job->number = ++suite->references;
    *reference = job;
    return path_format(&job->folder, error, "%s/reference/%d", suite->folder.text, job->number);
}

static enum error_code add_scenario(struct suite *suite, const struct scenario *scenario,
                                    uint64_t round, struct error *error)
{
    const struct job *reference = NULL;
    enum error_code code = OK;
    if (needs_reference(scenario))
        code = add_reference(suite, scenario, &reference, error);
    if (code != OK)
        return code;
    struct job *job = add_job(suite);
    job->scenario = scenario;
    job->reference = reference;
    job->number = ++suite->numbers;
    job->round = round;
    job->twice = job->number % TWICE_EVERY == 1;
    return path_format(&job->folder, error, "%s/%d", suite->folder.text, job->number);
}

/* Everything that was chosen, once more. */
static enum error_code add_round(struct suite *suite, uint64_t round, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < suite->selection.count; i++)
        code = add_scenario(suite, suite->selection.chosen[i], round, error);
    return code;
}

/* --- going on ------------------------------------------------------------------------------ */

static enum error_code start_some(struct suite *suite, struct error *error)
{
    enum error_code code = OK;
    while (code == OK && !suite->stopping && pool_has_room(&suite->pool) &&
           suite->started < suite->count) {
        struct job *job = suite->job[suite->started];
        if (job->reference != NULL && job->reference->state != JOB_DONE)
            break;
        code = pool_start(&suite->pool, job, error);
        suite->started += code == OK;
    }
    return code;
}

static bool is_vacuous(const struct job *job)
{
    struct stored_verdict stored;
    if (job->status != STATUS_UNDECIDED)
        return false;
    bool vacuous = stored_verdict_load(job->folder.text, &stored, NULL) == OK &&
                   stored.root != NULL && stored.verdict == VERDICT_VACUOUS;
    stored_verdict_release(&stored);
    return vacuous;
}

/* A vacuous run is no failure to stop at: in the next one the situation may arise. */
static void note_done(struct suite *suite, struct job *job)
{
    if (job->is_reference)
        return;
    bool vacuous = is_vacuous(job);
    job->cut_off = suite->pool.interrupted != 0 && job_was_cut_off(job);
    suite->progress.done++;
    suite->progress.failed += job->status != STATUS_PASS && !job->cut_off;
    suite->vacuous += vacuous;
    suite->worst = status_worst(suite->worst, (enum exit_status)job->status);
    if (suite->options->until_failure && job->status != STATUS_PASS && !vacuous)
        suite->stopping = true;
}

/* Whatever is done and has its turn. */
static void print_done(struct suite *suite)
{
    while (suite->printed < suite->started && suite->job[suite->printed]->state == JOB_DONE) {
        const struct job *job = suite->job[suite->printed];
        progress_hide(&suite->progress);
        if (!job->is_reference)
            job_print(job, suite->out, OUTPUTS);
        suite->printed++;
    }
}

static const char *running_name(const struct suite *suite)
{
    for (size_t i = suite->printed; i < suite->started; i++)
        if (suite->job[i]->state == JOB_RUNNING)
            return suite->job[i]->scenario->name;
    return "";
}

static enum error_code run_jobs(struct suite *suite, struct error *error)
{
    enum error_code code = start_some(suite, error);
    while (suite->pool.running > 0) {
        progress_show(&suite->progress, running_name(suite));
        struct job *job = pool_wait(&suite->pool, suite->progress.on ? PROGRESS_PERIOD_MS : -1);
        if (job != NULL)
            note_done(suite, job);
        print_done(suite);
        if (code == OK)
            code = start_some(suite, error);
    }
    print_done(suite);
    progress_hide(&suite->progress);
    return code;
}

/* --repeat and --until-failure: rounds of everything. --until-failure alone has no last round. */
static enum error_code run_rounds(struct suite *suite, struct error *error)
{
    const struct options *options = suite->options;
    bool endless = options->until_failure && !options->repeat_given;
    enum error_code code = OK;
    for (int round = 0; code == OK && !suite->stopping && suite->pool.interrupted == 0 &&
                        (endless || round < options->repeat);
         round++) {
        code = add_round(suite, (uint64_t)round, error);
        if (code == OK)
            code = run_jobs(suite, error);
    }
    return code;
}

/* --- what is said besides ------------------------------------------------------------------ */

static int slower(const void *a, const void *b)
{
    double left = (*(struct job *const *)a)->seconds, right = (*(struct job *const *)b)->seconds;
    return (left < right) - (left > right);
}

/* Sorts the jobs: last thing before the end. */
static void print_durations(struct suite *suite)
{
    qsort(suite->job, suite->started, sizeof(struct job *), slower);
    for (size_t i = 0; i < suite->started && i < SLOWEST_SHOWN; i++)
        for (int out = 0; out < OUTPUTS; out++)
            if (suite->out[out] != NULL)
                tap_comment(suite->out[out], "%.2f s  %s%s", suite->job[i]->seconds,
                            suite->job[i]->is_reference ? "reference for " : "",
                            suite->job[i]->scenario->name);
}

static enum error_code store_results(const struct suite *suite, struct error *error)
{
    struct selection_result *results = memory_new(suite->started, sizeof *results);
    size_t count = 0;
    for (size_t i = 0; i < suite->started; i++)
        if (!suite->job[i]->is_reference)
            results[count++] =
                (struct selection_result){suite->job[i]->scenario, suite->job[i]->status};
    enum error_code code = select_store_results(suite->folder.text, results, count, error);
    free(results);
    return code;
}

/* Whether what files promise can be judged: all was run. */
static bool is_complete(const struct suite *suite)
{
    return !suite->options->until_failure && suite->pool.interrupted == 0 &&
           suite->started == suite->count;
}

/* What was covered, and whether the promises were kept. */
static enum error_code report_coverage(struct suite *suite, struct error *error)
{
    struct suite_coverage *coverage = &suite->coverage;
    suite_coverage_collect(coverage, suite->job, suite->started);
    enum error_code code = suite_coverage_store(coverage, suite->folder.text, error);
    if (!is_complete(suite))
        coverage->promise_count = 0;
    for (size_t i = 0; i < coverage->promise_count; i++)
        if (coverage->promise[i].hole_count > 0)
            suite->worst = status_worst(suite->worst, STATUS_UNDECIDED);
    for (int i = 0; code == OK && i < OUTPUTS; i++)
        if (suite->out[i] != NULL) {
            suite_coverage_print_promises(suite->out[i], coverage, suite->numbers + 1);
            suite_coverage_print(suite->out[i], coverage);
        }
    return code;
}

/* The forms for other programs. */
static void write_results(struct suite *suite)
{
    size_t count = suite->coverage.promise_count;
    struct result_case *promises = memory_new(count, sizeof *promises);
    for (size_t i = 0; i < count; i++)
        promises[i] = promise_result(&suite->coverage.promise[i], suite->numbers + 1 + (int)i,
                                     suite->folder.text);
    suite->worst =
        results_write(&suite->results, suite->job, suite->count, promises, count, suite->worst);
    free(promises);
}

static void print_head(struct suite *suite)
{
    const struct options *options = suite->options;
    for (int i = 0; i < OUTPUTS; i++) {
        if (suite->out[i] == NULL)
            continue;
        tap_header(suite->out[i]);
        if (!options->until_failure)
            tap_plan(suite->out[i], suite->selection.count * (size_t)options->repeat +
                                        suite->coverage.promise_count);
        tap_comment(suite->out[i], "runs in %s, seed %llu", suite->folder.text,
                    (unsigned long long)options->seed);
        if (suite->selection.none_failed)
            tap_comment(suite->out[i], "nothing failed the last time: everything is run");
        fflush(suite->out[i]);
    }
}

/* failure: why not all was run, NULL: all was. */
static void print_foot(struct suite *suite, const char *failure)
{
    char text[ID_BYTES];
    if (suite->options->durations)
        print_durations(suite);
    if (suite->pool.interrupted != 0) {
        snprintf(text, sizeof text, "interrupted by SIG%s", sigabbrev_np(suite->pool.interrupted));
        failure = text;
    }
    for (int i = 0; i < OUTPUTS; i++) {
        if (suite->out[i] == NULL)
            continue;
        if (suite->options->until_failure)
            tap_comment(suite->out[i], "%zu of %zu runs were vacuous", suite->vacuous,
                        suite->progress.done);
        if (failure != NULL) {
            tap_bail_out(suite->out[i], failure);
        } else if (suite->options->until_failure) {
            tap_plan(suite->out[i], suite->progress.done);
        }
        fflush(suite->out[i]);
    }
}

/* --- the verb ------------------------------------------------------------------------------ */

static int dry_run(const struct selection *selection)
{
    tap_header(stdout);
    tap_plan(stdout, selection->count);
    for (size_t i = 0; i < selection->count; i++)
        tap_line(stdout, true, (int)i + 1, selection->chosen[i]->name, "SKIP dry run");
    return STATUS_PASS;
}

static int nothing_to_run(const struct options *options)
{
    tap_header(stdout);
    tap_bail_out(stdout, options->filter != NULL ? "nothing to run: no scenario matches the filter"
                                                 : "nothing to run: there is no scenario");
    return STATUS_USAGE;
}

static enum error_code open_outputs(struct suite *suite, struct error *error)
{
    suite->out[0] = stdout;
    enum error_code code = results_open(&suite->results, suite->options, error);
    if (code == OK && suite->options->html != NULL)
        code = path_make_folder(suite->options->html, error);
    if (code != OK || suite->options->tap == NULL)
        return code;
    suite->out[1] = fopen(suite->options->tap, "we");
    if (suite->out[1] == NULL)
        return error_set(error, ERROR_IO, "--tap %s: %s", suite->options->tap, strerror(errno));
    return OK;
}

static enum error_code run_suite(struct suite *suite, struct error *error)
{
    const struct options *options = suite->options;
    enum error_code code = open_outputs(suite, error);
    if (code == OK)
        code = path_make_output(options->out, &suite->folder, error);
    suite_coverage_begin(&suite->selection, &suite->coverage);
    if (code == OK)
        code = pool_open(&suite->pool, options, error);
    if (code != OK)
        return code;
    print_head(suite);
    progress_begin(&suite->progress,
                   options->until_failure ? 0 : suite->selection.count * (size_t)options->repeat);
    code = run_rounds(suite, error);
    pool_close(&suite->pool);
    if (code == OK)
        code = store_results(suite, error);
    if (code == OK)
        code = report_coverage(suite, error);
    write_results(suite);
    if (code == OK && options->html != NULL)
        report_folder_apart(suite->folder.text, options->html);
    print_foot(suite, code != OK ? error->text : NULL);
    if (suite->out[1] != NULL)
        suite->worst = status_of_output(suite->out[1], options->tap, suite->worst);
    return code;
}

static void suite_release(struct suite *suite)
{
    for (size_t i = 0; i < suite->count; i++)
        free(suite->job[i]);
    free(suite->job);
    if (suite->out[1] != NULL)
        fclose(suite->out[1]);
    results_close(&suite->results);
    suite_coverage_release(&suite->coverage);
    selection_release(&suite->selection);
}

static int run_selected(struct suite *suite)
{
    struct error error = {0};
    if (suite->selection.count == 0)
        return nothing_to_run(suite->options);
    int status = select_check(&suite->selection);
    if (status != STATUS_PASS)
        return status;
    if (suite->options->dry_run)
        return dry_run(&suite->selection);
    if (run_suite(suite, &error) != OK)
        return (int)status_worst(suite->worst, status_of_error(&error));
    return (int)suite->worst;
}

int verb_run(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...", "Runs scenarios, in a folder all its *.lua, and judges each. TAP on "
                               "standard output.\vExit status: 0 pass, 1 violation, 2 unknown or "
                               "vacuous, 3 harness error, 64 usage; the worst decides, in the "
                               "order 1, 3, 2, 0. Ctrl-C ends the jobs and still writes their "
                               "reports (then 128 + signal); a second one ends at once."};
    struct options options;
    struct suite suite = {.options = &options};
    struct error error = {0};
    options_parse(&options, FOR_RUN, &help, argc, argv);
    options.control = true;
    int status = select_scenarios(&options, &suite.selection, &error) != OK
                     ? (int)status_of_error(&error)
                     : run_selected(&suite);
    int interrupted = suite.pool.interrupted;
    suite_release(&suite);
    if (interrupted != 0)
        process_end_like(interrupted); /* a signal's number is its wait status */
    return status;
}
