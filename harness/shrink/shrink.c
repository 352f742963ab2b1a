/* `faultline shrink`: from a run that failed to a smallest scenario that fails in the same way. */
#include "base/memory.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "launch/launcher.h"
#include "reports/page/report.h"
#include "reports/results/tap.h"
#include "script/list.h"
#include "shrink/shrink_confirm.h"
#include "shrink/shrink_past.h"
#include "shrink/shrink_result.h"
#include "shrink/shrink_search.h"
#include "system/process.h"
#include "system/status.h"
#include "trace/clock.h"
#include "verdict/fingerprint.h"

#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 512
#define STOPPED_BYTES 64
#define BUDGET_DEFAULT_S 120.0
#define PASSING_TRIES 3 /* runs of a scenario that mostly passes, until one does */
#define NS_PER_S 1e9
/* Of a run that is tried, the time that the failing one took. Too much only makes a hang dear: one
 * in which nothing can happen any more is ended at once. */
#define LIMIT_FACTOR 5.0
#define LIMIT_LEAST_S 10.0

struct shrink {
    struct options options;
    struct run run; /* that was given */
    struct scenario_list owner;
    struct trace_set traces; /* of that run */
    struct outcome outcome;
    const struct finding *finding;
    struct scenario base; /* what is tried first: the run's, as it is judged here */
    struct trials trials;
    struct search search;
    struct shrink_result result;
};

/* --- the run that was given ------------------------------------------------------------------- */

/* The violation that decided; else the first, though the run is vacuous for something else. NULL:
 * there is none. */
static const struct finding *violation_of(const struct outcome *outcome)
{
    const struct judgement *judgement = &outcome->judgement;
    const struct finding *finding = outcome_finding(outcome);
    if (finding != NULL && finding->verdict == VERDICT_VIOLATION)
        return finding;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_VIOLATION)
            return &judgement->findings[i];
    return NULL;
}

static enum error_code load(struct shrink *shrink, struct error *error)
{
    const char *folder = shrink->options.path[0];
    struct trials *trials = &shrink->trials;
    enum error_code code = run_load(folder, &shrink->run, &shrink->owner, error);
    if (code == OK)
        code = trace_set_open_run(shrink->run.folder.text, &shrink->traces, error);
    if (code != OK)
        return code;
    outcome_judge(&shrink->run, NULL, 0, &shrink->outcome);
    shrink->finding = violation_of(&shrink->outcome);
    if (shrink->finding == NULL)
        return error_set(error, ERROR_USAGE,
                         "%s: there is nothing to shrink: its verdict is %s, and no claim is found "
                         "violated%s%.300s",
                         folder, verdict_text(shrink->outcome.verdict),
                         shrink->outcome.why[0] != '\0' ? ": " : "", shrink->outcome.why);
    struct run_facts facts = run_facts_of(&shrink->run);
    fingerprint_make(&shrink->traces, &facts, shrink->finding, &trials->wanted);
    snprintf(trials->claim, sizeof trials->claim, "%s", shrink->finding->claim->id);
    return OK;
}

/* A name of ours stays; a path means the same file from everywhere. */
static void make_absolute(char **name, const struct path *path)
{
    if (strchr(*name, '/') == NULL)
        return;
    free(*name);
    *name = memory_text(path->text);
}

static void release_texts(char **texts, size_t *count)
{
    for (size_t i = 0; i < *count; i++)
        free(texts[i]);
    *count = 0;
}

/* Judged by the one claim alone, and nothing is expected. */
static void judge_by_claim(struct scenario *base, const char *claim)
{
    release_texts(base->cover, &base->cover_count);
    release_texts(base->claim, &base->claim_count);
    free(base->violates);
    base->violates = NULL;
    base->timeout_s = 0;
    if (base->claim == NULL)
        base->claim = memory_new(1, sizeof *base->claim);
    base->claim[base->claim_count++] = memory_text(claim);
}

static enum error_code make_base(struct shrink *shrink, struct error *error)
{
    const struct scenario *given = shrink->run.scenario;
    const struct launcher *launcher = launcher_of(given->engine);
    struct path protocol, program, command;
    enum error_code code = path_protocol(given->protocol, given->file, &protocol, error);
    if (code == OK)
        code = path_program(given->program, given->file, &program, error);
    if (code == OK)
        code = launcher->find(launcher, &command, error);
    if (code != OK)
        return code;
    scenario_copy(given, &shrink->base);
    make_absolute(&shrink->base.protocol, &protocol);
    make_absolute(&shrink->base.program, &program);
    judge_by_claim(&shrink->base, shrink->trials.claim);
    return OK;
}

static enum error_code find_past(struct shrink *shrink, struct error *error)
{
    size_t steps = shrink->base.plan.count;
    for (size_t i = 0; i < steps; i++)
        shrink->search.done[i] = shrink->run.steps[i].done;
    return past_steps(&shrink->traces, shrink->finding, shrink->search.before, steps, error);
}

/* --- the search ------------------------------------------------------------------------------- */

/* In the time that the failing run took, and some more. */
static double limit_of(const struct shrink *shrink)
{
    const struct run *run = &shrink->run;
    double limit = LIMIT_FACTOR * run->seconds;
    if (shrink->options.timeout_s > 0)
        return shrink->options.timeout_s;
    if (run->end == RUN_TIME_LIMIT)
        return run->seconds;
    return limit > LIMIT_LEAST_S ? limit : LIMIT_LEAST_S;
}

static void set_limits(struct shrink *shrink)
{
    struct trials *trials = &shrink->trials;
    double budget = shrink->options.budget_s > 0 ? shrink->options.budget_s : BUDGET_DEFAULT_S;
    shrink->options.budget_s = budget;
    trials->options = shrink->options;
    trials->options.timeout_s = limit_of(shrink);
    trials->options.trace_mb = shrink->run.trace_mb;
    trials->options.seed = shrink->run.seed;
    trials->options.verbose = false;
    trials->options.confirm = 0; /* of the result alone */
    trials->deadline_ns = clock_monotonic_ns() + (uint64_t)(budget * NS_PER_S);
}

static enum error_code search(struct shrink *shrink, struct error *error)
{
    struct trials *trials = &shrink->trials;
    shrink->search.trials = trials;
    set_limits(shrink);
    enum error_code code = trials_open(trials, error);
    if (code == OK)
        code = trials_find(trials, &shrink->base, &shrink->search.original, error);
    if (code == OK && trial_scenario(shrink->search.original) == NULL)
        code = error_set(error, ERROR_FORMAT, "%s: its plan cannot be said in a scenario",
                         shrink->run.shown.text);
    return code == OK ? search_run(&shrink->search, error) : code;
}

/* --- printing --------------------------------------------------------------------------------- */

/* NULL: nothing. */
static const char *what_stopped(const struct shrink *shrink, char text[STOPPED_BYTES])
{
    enum search_end end = shrink->search.end;
    if (end != SEARCH_STOPPED && end != SEARCH_VOID)
        return NULL;
    if (shrink->trials.pool.interrupted != 0)
        snprintf(text, STOPPED_BYTES, "SIG%s", sigabbrev_np(shrink->trials.pool.interrupted));
    else if (end == SEARCH_STOPPED)
        snprintf(text, STOPPED_BYTES, "the budget of %g s", shrink->options.budget_s);
    else
        snprintf(text, STOPPED_BYTES, "a harness error, in run after run,");
    return text;
}

/* It did not fail again. */
static enum exit_status report_no_failure(const struct shrink *shrink, const char *stopped)
{
    char text[TEXT_BYTES];
    const struct trial *original = shrink->search.original;
    struct rate_count count = trial_count(&shrink->trials, original);
    tap_line(stdout, false, 1, shrink->run.scenario->name, verdict_text(VERDICT_UNKNOWN));
    tap_block_begin(stdout);
    tap_string(stdout, "fingerprint", shrink->trials.wanted.text);
    tap_list(stdout, "why");
    snprintf(text, sizeof text,
             "it failed so in 0 of %u runs: %u passed, %u saw too little, "
             "%u failed otherwise, %u came to nothing",
             count.runs, original->ends[TRIAL_PASSED], original->ends[TRIAL_VACUOUS],
             original->ends[TRIAL_OTHER], original->ends[TRIAL_VOID]);
    tap_item(stdout, text);
    if (original->seen[0] != '\0') {
        snprintf(text, sizeof text, "another failure: %s", original->seen);
        tap_item(stdout, text);
    }
    if (stopped != NULL) {
        snprintf(text, sizeof text, "it was not run more often: %s ended the search", stopped);
        tap_item(stdout, text);
    }
    tap_block_end(stdout);
    bool void_only = count.runs == 0 && original->ends[TRIAL_VOID] > 0;
    return void_only ? STATUS_HARNESS : STATUS_UNDECIDED;
}

/* One run of the nearest scenario that passes is kept, if there is time for it: for the page that
 * shows both. */
static enum error_code have_passing(struct shrink *shrink, struct error *error)
{
    struct trials *trials = &shrink->trials;
    bool nothing_seen;
    size_t nearest = search_nearest(&shrink->search, &nothing_seen);
    enum error_code code = OK;
    if (nearest == shrink->search.items.count || nothing_seen)
        return OK;
    struct trial *trial = shrink->search.tried[nearest];
    trials->keeps_passed = trial;
    for (int i = 0; code == OK && i < PASSING_TRIES && trial->passed.text[0] == '\0'; i++)
        code = trials_repeat(trials, trial, trial_count(trials, trial).runs + 1, error);
    return code;
}

/* A page that cannot be drawn changes nothing. */
static void draw_both(const struct shrink *shrink)
{
    struct error error = {0};
    const struct shrink_result *result = &shrink->result;
    const struct search *search = &shrink->search;
    if (search->best->shown.text[0] == '\0')
        return;
    const struct trial *nearest =
        result->nearest < search->items.count ? search->tried[result->nearest] : NULL;
    const char *beside =
        nearest != NULL && nearest->passed.text[0] != '\0' ? nearest->passed.text : NULL;
    if (report_run(search->best->shown.text, beside, NULL, &error) != OK)
        fprintf(stderr, "faultline: %s\n", error.text);
}

static enum error_code report_result(struct shrink *shrink, uint64_t start_ns,
                                     enum exit_status *status, struct error *error)
{
    char text[STOPPED_BYTES];
    const char *stopped = what_stopped(shrink, text);
    if (trial_count_any(shrink->search.original).failures == 0) {
        progress_hide(&shrink->trials.progress);
        *status = report_no_failure(shrink, stopped);
        return OK;
    }
    enum error_code code = have_passing(shrink, error);
    progress_hide(&shrink->trials.progress);
    if (code != OK)
        return code;
    shrink->result = (struct shrink_result){
        .search = &shrink->search,
        .run = &shrink->run,
        .stopped = stopped,
        .seconds = (double)(clock_monotonic_ns() - start_ns) / NS_PER_S,
    };
    shrink_confirm(&shrink->trials, shrink->search.best, (unsigned)shrink->options.confirm,
                   &shrink->result.confirmation);
    code = shrink_result_write(&shrink->result, error);
    if (code == OK)
        draw_both(shrink);
    if (code == OK)
        shrink_result_print(stdout, &shrink->result);
    return code;
}

/* --- the verb --------------------------------------------------------------------------------- */

static enum error_code shrink_run(struct shrink *shrink, enum exit_status *status,
                                  struct error *error)
{
    uint64_t start_ns = clock_monotonic_ns();
    enum error_code code = load(shrink, error);
    if (code == OK)
        code = make_base(shrink, error);
    if (code == OK)
        code = find_past(shrink, error);
    if (code == OK)
        code = path_new_output(shrink->options.out, &shrink->trials.folder, error);
    if (code != OK)
        return code;
    tap_header(stdout);
    tap_plan(stdout, 1);
    tap_comment(stdout, "%s fails as \"%s\"", shrink->run.shown.text, shrink->trials.wanted.text);
    fflush(stdout);
    code = search(shrink, error);
    if (code == OK)
        code = report_result(shrink, start_ns, status, error);
    if (code != OK)
        tap_bail_out(stdout, error->text);
    return code;
}

static void shrink_release(struct shrink *shrink)
{
    shrink_result_release(&shrink->result);
    search_release(&shrink->search);
    trials_close(&shrink->trials, shrink->search.best);
    scenario_release(&shrink->base);
    outcome_release(&shrink->outcome);
    trace_set_release(&shrink->traces);
    run_release(&shrink->run);
    scenario_list_release(&shrink->owner);
}

int verb_shrink(int argc, char **argv)
{
    static const struct options_help help = {
        "RUN",
        "Finds a smallest scenario that fails in the same way as the run RUN "
        "(OUT/<run-id>/<number>) "
        "did: with fewer steps, fewer conditions, fewer ranks, lower numbers. Leaves shrunk.lua, a "
        "scenario that expects the violation, the nearest scenario that passes, and shrink.json in "
        "a folder of its own, and a page with a run of both.\vWhat fails only sometimes is tried "
        "often enough. Exit status: 0 it "
        "was shrunk (or could not be made smaller), 2 RUN does not fail any more, 3 harness error, "
        "64 usage, also where RUN did not fail. Ctrl-C ends the search and leaves the best so far "
        "(then 128 + signal)."};
    struct shrink *shrink = memory_new(1, sizeof *shrink);
    struct error error = {0};
    enum exit_status status = STATUS_PASS;
    options_parse(&shrink->options, FOR_SHRINK, &help, argc, argv);
    shrink->options.no_pages = shrink->options.no_stacks = true;
    enum error_code code =
        shrink->options.path_count == 1
            ? shrink_run(shrink, &status, &error)
            : error_set(&error, ERROR_USAGE, "shrink: one run is expected, not %zu",
                        shrink->options.path_count);
    int interrupted = shrink->trials.pool.interrupted;
    shrink_release(shrink);
    free(shrink);
    if (code != OK)
        status = status_worst(status, status_of_error(&error));
    if (interrupted != 0) {
        fflush(stdout);
        process_end_like(interrupted); /* a signal's number is its wait status */
    }
    return (int)status;
}
