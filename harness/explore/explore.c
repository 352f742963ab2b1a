/* `faultline explore`: every schedule of a scenario, on the step engine. */
#include "cli/options.h"
#include "cli/verb.h"
#include "explore/outcomes.h"
#include "explore/tree.h"
#include "jobs/pool.h"
#include "reports/results/tap.h"
#include "suite/select.h"
#include "system/progress.h"
#include "system/status.h"
#include "trace/clock.h"
#include "verdict/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_BYTES 64
#define TEXT_BYTES 512

struct exploration {
    struct options options; /* of the runs */
    const struct scenario *scenario;
    struct path folder, given; /* OUT/<id>/N, and what the next run follows */
    struct tree *tree;
    struct outcomes outcomes;
    struct pool pool;
    struct progress progress;
    uint64_t deadline_ns; /* 0: none */
    bool complete;
};

/* --- one run ---------------------------------------------------------------------------------- */

static enum error_code run_next(struct exploration *x, struct job *job, struct error *error)
{
    *job = (struct job){.scenario = x->scenario, .number = 1, .explored = x->given.text};
    enum error_code code = path_format(&job->folder, error, "%s/%" PRIu64, x->folder.text,
                                       tree_counts(x->tree).runs + 1);
    if (code == OK)
        code = pool_start(&x->pool, job, error);
    while (code == OK && x->pool.running > 0) {
        progress_show(&x->progress, x->scenario->name);
        pool_wait(&x->pool, x->progress.on ? PROGRESS_PERIOD_MS : -1);
    }
    return code;
}

/* What came of it: the folder is kept where it is the first of its kind and did not pass. */
static enum error_code take(struct exploration *x, const struct job *job, struct error *error)
{
    bool is_new = false;
    enum error_code code = tree_take(x->tree, job->folder.text, error);
    if (code == OK && !tree_was_redundant(x->tree))
        code = outcomes_add(&x->outcomes, job->folder.text, &is_new, error);
    x->progress.done++;
    if (code == OK && is_new && x->outcomes.alike[x->outcomes.count - 1].verdict != VERDICT_PASS)
        x->progress.failed++;
    else if (code == OK && !x->options.keep)
        code = path_remove(job->folder.text, error);
    return code;
}

static bool is_over(const struct exploration *x)
{
    uint64_t runs = tree_counts(x->tree).runs;
    return x->pool.interrupted != 0 ||
           (x->deadline_ns != 0 && clock_monotonic_ns() >= x->deadline_ns) ||
           (x->options.runs > 0 && runs >= (uint64_t)x->options.runs);
}

static enum error_code run_all(struct exploration *x, struct error *error)
{
    enum error_code code = OK;
    while (code == OK && !is_over(x)) {
        struct job job;
        if (!tree_next(x->tree, x->given.text, error)) {
            x->complete = error->code == OK;
            return error->code;
        }
        code = run_next(x, &job, error);
        if (code == OK && x->pool.interrupted == 0)
            code = take(x, &job, error);
    }
    return code;
}

/* --- what is printed -------------------------------------------------------------------------- */

static enum exit_status worst_of(const struct exploration *x)
{
    enum exit_status worst = x->complete ? STATUS_PASS : STATUS_UNDECIDED;
    for (size_t i = 0; i < x->outcomes.count; i++)
        worst = status_worst(worst, status_of_verdict(x->outcomes.alike[i].verdict));
    return worst;
}

static void print_outcomes(const struct exploration *x)
{
    char text[TEXT_BYTES];
    tap_list(stdout, "outcomes");
    for (size_t i = 0; i < x->outcomes.count; i++) {
        const struct alike *alike = &x->outcomes.alike[i];
        bool passed = alike->verdict == VERDICT_PASS;
        snprintf(text, sizeof text, "%" PRIu64 " runs: %s%s%s, results %016" PRIx64 "%s%.200s",
                 alike->runs, verdict_text(alike->verdict),
                 alike->fingerprint[0] != '\0' ? " " : "", alike->fingerprint, alike->results,
                 passed ? "" : ": faultline report ", passed ? "" : alike->folder.text);
        tap_item(stdout, text);
    }
}

static void print(const struct exploration *x, int number, enum exit_status status,
                  const struct error *error)
{
    char text[TEXT_BYTES];
    struct tree_counts counts = tree_counts(x->tree);
    progress_hide((struct progress *)&x->progress);
    tap_line(stdout, status == STATUS_PASS, number, x->scenario->name,
             x->complete ? NULL : "not exhausted");
    tap_block_begin(stdout);
    if (x->complete)
        snprintf(text, sizeof text,
                 "complete: every schedule of %d ranks, %" PRIu64 " runs, %" PRIu64
                 " of them cut short",
                 x->scenario->ranks, counts.runs, counts.redundant);
    else
        snprintf(text, sizeof text,
                 "not complete: %" PRIu64 " runs, %" PRIu64
                 " of them cut short; about %.3g %% of the schedules are done",
                 counts.runs, counts.redundant, 100 * counts.done);
    tap_string(stdout, "explored", text);
    if (error->code != OK)
        tap_string(stdout, "error", error->text);
    snprintf(text, sizeof text, "%" PRIu64 " transitions in the longest run, %" PRIu64 " races",
             counts.turns, counts.races);
    tap_string(stdout, "size", text);
    print_outcomes(x);
    tap_block_end(stdout);
    fflush(stdout);
}

/* --- the verb --------------------------------------------------------------------------------- */

/* What one rank does to another by what a third one does cannot be exchanged with anything. */
static bool can_be_explored(const struct plan *plan, size_t step)
{
    const struct plan_step *s = &plan->steps[step];
    return s->action == ACTION_KILL && s->when.position != POSITION_INSIDE && s->victims == 1 &&
           s->victim[0] == s->when.rank &&
           (step == 0 || s->after == PLAN_AFTER_START || s->when.rank == plan->steps[0].when.rank);
}

static enum error_code check(const struct scenario *scenario, struct error *error)
{
    if (scenario->survivors)
        return error_set(error, ERROR_USAGE,
                         "%s:%d: explore does not take scenarios with survivors yet: \"%s\"",
                         scenario->file, scenario->line, scenario->name);
    for (size_t i = 0; i < scenario->plan.count; i++)
        if (!can_be_explored(&scenario->plan, i))
            return error_set(error, ERROR_USAGE,
                             "%s:%d: explore takes plans in which ranks are killed at events of "
                             "their own, and nothing else: step %zu of \"%s\" is another one",
                             scenario->file, scenario->line, i + 1, scenario->name);
    return OK;
}

static enum exit_status explore(const struct options *options, const struct scenario *scenario,
                                const char *out, int number)
{
    struct error error = {0};
    struct exploration x = {.options = *options, .scenario = scenario};
    x.options.jobs = 1;
    x.options.no_pages = x.options.no_stacks = x.options.no_control = true;
    if (options->budget_s > 0)
        x.deadline_ns = clock_monotonic_ns() + (uint64_t)(options->budget_s * 1e9);
    x.tree = tree_new(!options->all_orders);
    enum error_code code = path_format(&x.folder, &error, "%s/%d", out, number);
    if (code == OK)
        code = path_format(&x.given, &error, "%s/%d/next", out, number);
    if (code == OK)
        code = path_make_folder(x.given.text, &error);
    if (code == OK)
        code = pool_open(&x.pool, &x.options, &error);
    progress_begin(&x.progress, 0);
    if (code == OK)
        code = run_all(&x, &error);
    pool_close(&x.pool);
    enum exit_status status = worst_of(&x);
    if (code != OK)
        status = status_worst(status, STATUS_HARNESS);
    print(&x, number, status, &error);
    outcomes_release(&x.outcomes);
    tree_release(x.tree);
    return status;
}

static enum exit_status explore_all(const struct options *options,
                                    const struct selection *selection, struct error *error)
{
    struct path out;
    enum exit_status worst = STATUS_PASS;
    for (size_t i = 0; i < selection->count; i++)
        if (check(selection->chosen[i], error) != OK)
            return status_of_error(error);
    if (path_make_output(options->out, &out, error) != OK)
        return status_of_error(error);
    tap_header(stdout);
    tap_plan(stdout, selection->count);
    tap_comment(stdout, "runs in %s", out.text);
    for (size_t i = 0; i < selection->count; i++)
        worst = status_worst(worst, explore(options, selection->chosen[i], out.text, (int)i + 1));
    return status_of_output(stdout, "standard output", worst);
}

int verb_explore(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...",
        "Runs every schedule of the scenarios on the step engine: all orders in which ranks go on "
        "and messages arrive, but for those that differ only in the order of what commutes."};
    struct options options;
    struct selection selection;
    struct error error = {0};
    options_parse(&options, FOR_EXPLORE, &help, argc, argv);
    options.engine = "step";
    int status;
    if (select_scenarios(&options, &selection, &error) != OK)
        status = (int)status_of_error(&error);
    else if ((status = select_check(&selection)) == STATUS_PASS)
        status = (int)explore_all(&options, &selection, &error);
    selection_release(&selection);
    return status;
}
