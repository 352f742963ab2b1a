/* `faultline explore`: every schedule of a scenario, with deaths at every place, on the step
 * engine. */
#include "cli/options.h"
#include "cli/verb.h"
#include "explore/search.h"
#include "reports/results/tap.h"
#include "suite/select.h"
#include "system/process.h"
#include "system/status.h"
#include "trace/clock.h"
#include "verdict/outcome.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define ID_BYTES 64
#define TEXT_BYTES 1024
#define OPEN_MOST 10 /* parts that are named */

/* --- what is printed -------------------------------------------------------------------------- */

/* A claim of which nothing arises in one run may arise in another. */
static enum exit_status worst_of(const struct search *search)
{
    enum exit_status worst = search->complete ? STATUS_PASS : STATUS_UNDECIDED;
    bool passed = false;
    for (size_t i = 0; i < search->outcomes.count; i++)
        passed |= search->outcomes.alike[i].verdict == VERDICT_PASS;
    for (size_t i = 0; i < search->outcomes.count; i++) {
        enum verdict verdict = search->outcomes.alike[i].verdict;
        if (verdict != VERDICT_VACUOUS || !passed)
            worst = status_worst(worst, status_of_verdict(verdict));
    }
    return worst;
}

static void print_outcomes(const struct search *search)
{
    char text[TEXT_BYTES];
    tap_list(stdout, "outcomes");
    for (size_t i = 0; i < search->outcomes.count; i++) {
        const struct alike *alike = &search->outcomes.alike[i];
        bool passed = alike->verdict == VERDICT_PASS;
        snprintf(text, sizeof text, "%" PRIu64 " runs: %s%s%s, results %016" PRIx64 "%s%.200s",
                 alike->runs, verdict_text(alike->verdict),
                 alike->fingerprint[0] != '\0' ? " " : "", alike->fingerprint, alike->results,
                 passed ? "" : ": faultline report ", passed ? "" : alike->folder.text);
        tap_item(stdout, text);
    }
}

/* "", " with at most 2 crashes" ... */
static void describe_limits(const struct search *search, char *text, size_t bytes)
{
    const struct options *o = &search->options;
    size_t used = 0;
    text[0] = '\0';
    if (o->crashes > 0)
        used = (size_t)snprintf(text, bytes, " with at most %d crash%s more, at %zu places%s",
                                o->crashes, o->crashes == 1 ? "" : "es",
                                search->count > 0 ? search->count - 1 : 0,
                                o->losses ? " (each loss a place)" : "");
    if (o->preemptions >= 0)
        snprintf(text + used, bytes - used, ", with at most %d preemption%s", o->preemptions,
                 o->preemptions == 1 ? "" : "s");
}

static void print_explored(const struct search *search)
{
    char text[TEXT_BYTES], limits[TEXT_BYTES / 2];
    struct exploration_counts counts = exploration_counts(search);
    describe_limits(search, limits, sizeof limits);
    if (search->complete)
        snprintf(text, sizeof text,
                 "complete: every schedule of %d ranks%s, %" PRIu64 " runs, %" PRIu64
                 " of them cut short",
                 search->scenario->ranks, limits, counts.runs, counts.redundant);
    else
        snprintf(text, sizeof text,
                 "not complete: %" PRIu64 " runs%s, %" PRIu64
                 " of them cut short; about %.3g %% of the schedules are done",
                 counts.runs, limits, counts.redundant, 100 * counts.done);
    tap_string(stdout, "explored", text);
    snprintf(text, sizeof text, "%" PRIu64 " transitions in the longest run, %" PRIu64 " races",
             counts.turns, counts.races);
    tap_string(stdout, "size", text);
    if (search->options.crashes > 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " runs began a life with a store that was known, %" PRIu64
                 " did not come to their crash; %zu stores",
                 counts.known, counts.idle, search->states.count);
        tap_string(stdout, "crashes", text);
    }
}

/* What the answer does not speak of. */
static void print_left_out(const struct search *search)
{
    char text[TEXT_BYTES];
    struct exploration_counts counts = exploration_counts(search);
    const struct options *o = &search->options;
    tap_list(stdout, "left out");
    snprintf(text, sizeof text, "more than %d crash%s%s", o->crashes, o->crashes == 1 ? "" : "es",
             o->crashes > 0 ? ", and deaths inside a call" : "");
    tap_item(stdout, text);
    if (o->crashes > 0 && !o->losses)
        tap_item(stdout, "loss of what was not synced");
    snprintf(text, sizeof text,
             "more than %d poll%s in vain for the same by a rank that does nothing else meanwhile",
             o->polls, o->polls == 1 ? "" : "s");
    tap_item(stdout, text);
    if (counts.known > 0)
        tap_item(stdout,
                 "other schedules of a life whose store another life before had left alike: "
                 "they do the same, but messages of both lives are compared for one alone");
    if (counts.left_out > 0) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " choices with more than %d preemption%s, and "
                 "what comes after them",
                 counts.left_out, o->preemptions, o->preemptions == 1 ? "" : "s");
        tap_item(stdout, text);
    }
    tap_item(stdout, "what is fixed: see EXPLORING in faultline-engine(7)");
}

static void print_open(const struct search *search)
{
    char text[TEXT_BYTES], name[TEXT_BYTES / 2];
    size_t named = 0, open = exploration_counts(search).open;
    tap_list(stdout, "open");
    for (size_t i = 0; i < search->count && named < OPEN_MOST; i++) {
        const struct part *part = &search->part[i];
        if (part->over)
            continue;
        snprintf(name, sizeof name, "no crash");
        if (part->deaths > 0)
            place_describe(&part->death, name, sizeof name);
        snprintf(text, sizeof text, "%s%s: %" PRIu64 " runs, about %.3g %% done",
                 part->deaths > 1 ? "after another crash, " : "", name, part->counts.runs,
                 100 * part->counts.done);
        tap_item(stdout, text);
        named++;
    }
    if (open > named) {
        snprintf(text, sizeof text, "and %zu more", open - named);
        tap_item(stdout, text);
    }
}

static void print(const struct search *search, int number, enum exit_status status,
                  const struct error *error)
{
    tap_line(stdout, status == STATUS_PASS, number, search->scenario->name,
             search->complete ? NULL : "not exhausted");
    tap_block_begin(stdout);
    if (error->code != OK)
        tap_string(stdout, "error", error->text);
    if (search->count > 0) { /* it began */
        print_explored(search);
        print_outcomes(search);
        if (!search->complete)
            print_open(search);
        print_left_out(search);
    }
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

/* What a death loses of the store is no step that others' calls on the store could be exchanged
 * with: it is not known where others go on. */
static bool may_lose(const struct options *options, const struct scenario *scenario)
{
    bool loses = options->losses;
    for (size_t i = 0; i < scenario->plan.count; i++)
        loses |= scenario->plan.steps[i].lose != LOSE_NOTHING;
    return loses;
}

static enum error_code check(const struct options *options, const struct scenario *scenario,
                             struct error *error)
{
    if (options->losses && scenario->nodes != NULL)
        return error_set(error, ERROR_USAGE,
                         "%s:%d: explore --losses takes no scenario with nodes: \"%s\"",
                         scenario->file, scenario->line, scenario->name);
    if (scenario->survivors && may_lose(options, scenario))
        return error_set(error, ERROR_USAGE,
                         "%s:%d: explore loses nothing where others survive (no --losses, and no "
                         "kill with lose): \"%s\"",
                         scenario->file, scenario->line, scenario->name);
    for (size_t i = 0; i < scenario->plan.count; i++)
        if (!can_be_explored(&scenario->plan, i))
            return error_set(error, ERROR_USAGE,
                             "%s:%d: explore takes plans in which ranks are killed at events of "
                             "their own, and nothing else: step %zu of \"%s\" is another one",
                             scenario->file, scenario->line, i + 1, scenario->name);
    return OK;
}

/* Of several scenarios some may not have had their turn when the search was cut off. */
static bool has_begun(const struct search *search)
{
    struct path path;
    return path_format(&path, NULL, "%s/" STATE_FILE, search->folder.text) != OK ||
           path_exists(path.text);
}

/* interrupted: the signal that ended it, or 0. */
static enum exit_status explore(const struct options *options, const struct scenario *scenario,
                                const char *out, int number, int *interrupted)
{
    struct error error = {0};
    struct search search = {.options = *options, .scenario = scenario};
    search.options.no_pages = search.options.no_stacks = search.options.no_control = true;
    if (options->budget_s > 0)
        search.deadline_ns = clock_monotonic_ns() + (uint64_t)(options->budget_s * 1e9);
    enum error_code code = path_format(&search.folder, &error, "%s/%d", out, number);
    if (code == OK)
        code = path_make_folder(search.folder.text, &error);
    if (code == OK && options->resume != NULL && (number == 1 || has_begun(&search)))
        code = state_load(&search, &error);
    if (code == OK)
        code = exploration_run(&search, &error);
    enum exit_status status = worst_of(&search);
    if (code != OK)
        status = code == ERROR_USAGE ? STATUS_USAGE : status_worst(status, STATUS_HARNESS);
    print(&search, number, status, &error);
    *interrupted = search.pool.interrupted;
    exploration_release(&search);
    return status;
}

static enum exit_status explore_all(const struct options *options,
                                    const struct selection *selection, int *interrupted,
                                    struct error *error)
{
    struct path out;
    enum exit_status worst = STATUS_PASS;
    for (size_t i = 0; i < selection->count; i++)
        if (check(options, selection->chosen[i], error) != OK)
            return status_of_error(error);
    if ((options->resume != NULL ? path_format(&out, error, "%s", options->resume)
                                 : path_make_output(options->out, &out, error)) != OK)
        return status_of_error(error);
    tap_header(stdout);
    tap_plan(stdout, selection->count);
    tap_comment(stdout, "runs in %s", out.text);
    for (size_t i = 0; i < selection->count && *interrupted == 0; i++)
        worst = status_worst(
            worst, explore(options, selection->chosen[i], out.text, (int)i + 1, interrupted));
    if (*interrupted != 0) {
        char text[TEXT_BYTES];
        snprintf(text, sizeof text, "interrupted by SIG%s", sigabbrev_np(*interrupted));
        tap_bail_out(stdout, text);
    }
    return status_of_output(stdout, "standard output", worst);
}

int verb_explore(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...",
        "Runs every schedule of the scenarios on the step engine: all orders in which ranks go on "
        "and messages arrive, but for those that differ only in the order of what commutes. With "
        "--crashes also with deaths at every place."};
    struct options options;
    struct selection selection;
    struct error error = {0};
    options_parse(&options, FOR_EXPLORE, &help, argc, argv);
    options.engine = "step";
    int status, interrupted = 0;
    if (options.resume != NULL && options.path_count == 0) {
        error_set(&error, ERROR_USAGE,
                  "--resume goes on with the scenarios that it began with: name them, too");
        return (int)status_of_error(&error);
    }
    if (select_scenarios(&options, &selection, &error) != OK)
        status = (int)status_of_error(&error);
    else if ((status = select_check(&selection)) == STATUS_PASS)
        status = (int)explore_all(&options, &selection, &interrupted, &error);
    selection_release(&selection);
    if (interrupted != 0)
        process_end_like(interrupted); /* a signal's number is its wait status */
    return status;
}
