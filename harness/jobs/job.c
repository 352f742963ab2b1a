/* See job.h. */
#include "jobs/job.h"

#include "base/mix.h"
#include "base/regular_file.h"
#include "base/whole_file.h"
#include "jobs/confirm.h"
#include "jobs/control.h"
#include "jobs/outcome_print.h"
#include "jobs/rerun.h"
#include "jobs/resized.h"
#include "jobs/run_folder.h"
#include "jobs/twice.h"
#include "reports/page/report.h"
#include "reports/results/tap.h"
#include "run/keep.h"
#include "run/printed.h"
#include "run/run.h"
#include "stacks/kept_stacks.h"
#include "system/process.h"
#include "system/status.h"
#include "trace/clock.h"
#include "verdict/outcome.h"
#include "verdict/stored_verdict.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define REFERENCE_PROTOCOL "null"
#define COPY_BYTES 4096
#define TEXT_BYTES 256

/* Whether the protocol alone makes helpers of ranks: without it they would be ranks of the program.
 * Those of a library that the program loads itself are there in the run without faults as well. */
static bool protocol_has_helpers(const struct scenario *scenario)
{
    char file[PATH_MAX];
    const char *slash = strrchr(scenario->protocol, '/');
    if (slash != NULL)
        snprintf(file, sizeof file, "%s", slash + 1);
    else
        snprintf(file, sizeof file, "lib%s.so", scenario->protocol);
    return scenario->helpers != NULL && strcmp(scenario->protocol, REFERENCE_PROTOCOL) != 0 &&
           (scenario->library == NULL || strcmp(scenario->library, file) == 0);
}

/* Which rank of the job the program's rank is, where helpers are not the program's to count. */
static int rank_among_helpers(const struct scenario *scenario, int rank)
{
    int process = -1;
    for (int left = rank; left >= 0; process++)
        left -= !scenario_is_helper(scenario, process + 1);
    return process;
}

/* The job without its protocol: what the program itself is. */
static struct scenario without_protocol(const struct scenario *scenario)
{
    struct scenario bare = *scenario;
    bare.ranks -= bare.reserve;
    bare.reserve = 0;
    if (protocol_has_helpers(scenario)) {
        bare.ranks -= scenario_helpers(scenario);
        if (bare.restart_ranks > 0)
            bare.restart_ranks -= scenario_helpers(scenario);
        bare.helpers = bare.library = NULL;
    }
    return bare;
}

void job_refer_to(struct job *job, const struct scenario *scenario)
{
    static char protocol[] = REFERENCE_PROTOCOL;
    job->bare = without_protocol(scenario);
    job->bare.protocol = protocol;
    job->bare.violates = NULL;
    job->bare.cover_count = 0;
    plan_init(&job->bare.plan);
    job->scenario = &job->bare;
    job->is_reference = true;
}

bool job_refers_to(const struct job *job, const struct scenario *scenario)
{
    struct scenario bare = without_protocol(scenario);
    return job->is_reference && scenario_same_call(job->scenario, &bare);
}

/* Prints what the run without faults shows, also that the program leaves messages unreceived. */
static void print_reference(struct run *run, size_t results, const char *folder, const char *same)
{
    run->reference_failed = false;
    char left[TEXT_BYTES] = "";
    uint64_t messages = 0;
    for (size_t i = 0; i < run->unreceived_count; i++)
        messages += run->unreceived[i].messages;
    if (messages > 0)
        snprintf(left, sizeof left,
                 "; the program leaves %" PRIu64 " messages unreceived, the first of them on "
                 "m(%d→%d, tag %d)",
                 messages, run->unreceived->source, run->unreceived->destination,
                 run->unreceived->tag);
    snprintf(run->reference_text, sizeof run->reference_text, "%zu results of %s%s%s", results,
             folder, same, left);
}

/* The run without faults had the program's ranks alone. */
static void renumber_reference(const struct scenario *scenario, struct run *run)
{
    if (!protocol_has_helpers(scenario))
        return;
    for (size_t i = 0; i < run->reference_count; i++)
        run->references[i].rank = rank_among_helpers(scenario, run->references[i].rank);
    for (size_t i = 0; i < run->unreceived_count; i++) {
        struct unreceived *channel = &run->unreceived[i];
        channel->source = rank_among_helpers(scenario, channel->source);
        channel->destination = rank_among_helpers(scenario, channel->destination);
    }
}

static enum error_code read_reference(const struct job *job, struct run *run, struct error *error)
{
    const char *folder = job->reference->folder.text;
    char same[TEXT_BYTES] = "";
    enum error_code code = run_results(folder, &run->references, &run->reference_count, error);
    size_t results = run->reference_count;
    if (code == OK)
        code = run_take_unreceived(run, folder, error);
    if (code == OK && job->scenario->restart_ranks > 0)
        code = resized_keep_same(run, folder, same, sizeof same, error);
    if (code == OK)
        print_reference(run, results, folder, same);
    return code;
}

/* The results of the run without faults, or why there are none. */
static void take_reference(const struct job *job, struct run *run)
{
    struct error error = {0};
    if (job->reference == NULL)
        return;
    run->reference_failed = true;
    if (job->reference->status != STATUS_PASS)
        snprintf(run->reference_text, sizeof run->reference_text,
                 "the run without faults did not finish: faultline check %s",
                 job->reference->folder.text);
    else if (read_reference(job, run, &error) != OK)
        snprintf(run->reference_text, sizeof run->reference_text, "%s", error.text);
    renumber_reference(job->scenario, run);
}

/* What each of its ranks printed without faults: helpers belong to what is under test. */
static enum error_code keep_printed(const struct job *job, const struct run *run,
                                    struct error *error)
{
    const struct scenario *scenario = run->scenario;
    enum error_code code = OK;
    for (int rank = 0; code == OK && rank < job->reference->scenario->ranks; rank++) {
        struct path path;
        int own = protocol_has_helpers(scenario) ? rank_among_helpers(scenario, rank) : rank;
        code = path_format(&path, error, "%s/output/r%d.0.out", job->reference->folder.text, rank);
        if (code == OK && !scenario_is_helper(scenario, own))
            code = printed_keep(run, own, path.text, error);
    }
    return code;
}

/* Without it what the ranks print is not compared. */
static void take_printed(const struct job *job, struct run *run)
{
    struct error error = {0};
    enum error_code code = OK;
    if (run->scenario->result == NULL)
        return;
    if (job->followed != NULL)
        code = printed_keep_of(run, job->followed, &error);
    else if (job->reference != NULL && !run->reference_failed)
        code = keep_printed(job, run, &error);
    if (code != OK) {
        run->reference_failed = true;
        snprintf(run->reference_text, sizeof run->reference_text, "%s", error.text);
    }
}

enum exit_status status_of_reference(const struct run *run)
{
    return run->end == RUN_FINISHED ? STATUS_PASS : STATUS_HARNESS;
}

/* What did not pass has its page, and with --html everything. It is there before the TAP, which
 * says where; whether it can be drawn changes nothing else. */
static void draw(const struct run *run, enum exit_status status, const struct options *options)
{
    struct path page;
    if (run->followed[0] != '\0')
        return; /* it is the page of the run that it follows */
    if (status != STATUS_PASS && !options->no_pages)
        report_run_apart(run->shown.text, NULL);
    if (options->html != NULL &&
        path_format(&page, NULL, "%s/%d.html", options->html, run->number) == OK)
        report_run_apart(run->shown.text, page.text);
}

/* So that it can be repeated. Of what is no run of its own, or void, nothing is kept. */
static void keep_decisions(const struct run *run)
{
    struct error error = {0};
    if (run->followed[0] != '\0' || run->end == RUN_VOID || run->end == RUN_INTERRUPTED ||
        run_keep_decisions(run, &error) == OK)
        return;
    fprintf(stderr, "faultline: %s: the run cannot be replayed: %s\n", run->shown.text, error.text);
}

/* Without its faults, too, where the user looks at single runs. */
static void make_control(const struct run *run, const struct options *options, const sigset_t *mask,
                         struct outcome *outcome)
{
    const struct finding *finding = outcome_finding(outcome);
    if (options->control && !options->no_control && outcome->verdict == VERDICT_VIOLATION &&
        control_is_possible(run->scenario))
        control_make(run, finding != NULL ? finding->claim->id : outcome->remark, mask,
                     &outcome->control);
}

/* What the step engine has found is found on a real MPI library, too, or not. The decisions of the
 * run are kept. */
static void confirm(const struct run *run, const struct options *options, const sigset_t *mask,
                    struct outcome *outcome)
{
    struct error error = {0};
    if (options->confirm == 0 || outcome->verdict != VERDICT_VIOLATION ||
        outcome_finding(outcome) == NULL || run->followed[0] != '\0' || !confirm_is_possible(run))
        return;
    confirm_make(run->shown.text, (unsigned)options->confirm, mask, &outcome->confirmation);
    if (outcome_store(run, outcome, &error) != OK)
        status_of_error(&error);
}

/* Its piece of the TAP, for the driver to print in its turn. */
static enum exit_status report_outcome(const struct run *run, const struct outcome *outcome,
                                       const struct options *options)
{
    struct path path;
    struct error error = {0};
    struct whole_file file;
    enum error_code code = path_format(&path, &error, "%s/tap", run->folder.text);
    if (code == OK)
        code = whole_file_begin(&file, path.text, WHOLE_OURS, &error);
    if (code != OK)
        return status_of_error(&error);
    outcome_print(file.out, run, outcome, options->verbose);
    return whole_file_end(&file, OK, &error) == OK ? STATUS_PASS : status_of_error(&error);
}

static enum exit_status judge_and_print(const struct job *job, const struct run *run,
                                        const struct options *options, const sigset_t *mask)
{
    struct outcome outcome;
    struct error error = {0};
    outcome_judge(run, NULL, 0, &outcome);
    make_control(run, options, mask, &outcome);
    if (job->twice && run->followed[0] == '\0')
        outcome.compared = twice_make(run, mask, outcome.differs, sizeof outcome.differs);
    enum exit_status status = status_of_verdict(outcome.verdict);
    if (outcome_store(run, &outcome, &error) != OK)
        status = status_worst(status, status_of_error(&error));
    enum exit_status shown = status;
    if (job->takes_vacuous && outcome.verdict == VERDICT_VACUOUS)
        shown = STATUS_PASS;
    if (shown != STATUS_PASS || options->keep)
        keep_decisions(run);
    if (shown != STATUS_PASS || options->keep)
        kept_stacks_of_kills(run->folder.text);
    if (shown == STATUS_VIOLATION && run->followed[0] == '\0' && !options->no_stacks)
        rerun_for_stacks(run, &outcome, mask);
    confirm(run, options, mask, &outcome);
    if (shown != STATUS_PASS)
        stored_verdict_add_stacks(run->folder.text);
    draw(run, shown, options);
    status = status_worst(status, report_outcome(run, &outcome, options));
    outcome_release(&outcome);
    return status;
}

static uint64_t seed_of(const struct job *job, const struct options *options)
{
    return job->round > 0 && job->scenario->engine != NULL ? mix_two(options->seed, job->round)
                                                           : options->seed;
}

static void execute(const struct job *job, struct run *run, struct error *error)
{
    int asked_mb = run->trace_mb;
    if (run_folder_is_in_memory(job->folder.text) && (asked_mb == 0 || asked_mb > RUN_FOLDER_MB))
        run->trace_mb = RUN_FOLDER_MB;
    run_execute(run, error);
    run->trace_mb = asked_mb;
}

static enum exit_status live(const struct job *job, const struct options *options,
                             const sigset_t *mask)
{
    struct run run;
    struct error error = {0};
    run_init(&run, job->scenario);
    run.number = job->number;
    run.seed = seed_of(job, options);
    run.capture = !options->no_capture;
    run.shown = job->folder;
    if (options->timeout_s > 0)
        run.timeout_s = options->timeout_s;
    if (options->trace_mb > 0)
        run.trace_mb = options->trace_mb;
    if (job->scenario->timeout_s > 0)
        run.timeout_s = job->scenario->timeout_s;
    enum exit_status status = STATUS_HARNESS;
    if (job->followed != NULL)
        run_follow(&run, job->followed);
    if (job->explored != NULL) {
        run.explored = options->polls;
        snprintf(run.given, sizeof run.given, "%s", job->explored);
    }
    snprintf(run.policy, sizeof run.policy, "%s", job->policy);
    run.wanted = job->wanted;
    execute(job, &run, &error);
    take_reference(job, &run);
    take_printed(job, &run);
    if (run_store(&run, &error) != OK)
        status_of_error(&error);
    else if (!job->is_reference)
        status = judge_and_print(job, &run, options, mask);
    else if (resized_make(&run, mask))
        status = status_of_reference(&run);
    run_release(&run);
    return status;
}

/* SIGTERM when the driver ends, whatever ends it: there is time to clear up then. The group of its
 * own keeps the terminal's signals away: the driver decides. */
_Noreturn static void become_job(const struct job *job, const struct options *options,
                                 const sigset_t *mask, pid_t driver)
{
    setpgid(0, 0);
    process_reset_signals(mask);
    signal(SIGXFSZ, SIG_IGN); /* a file that may not grow (ulimit -f) is an error with a text */
    if (!process_die_with(driver, SIGTERM))
        _exit(STATUS_HARNESS);
    dup2(STDERR_FILENO, STDOUT_FILENO);
    enum exit_status status = live(job, options, mask);
    struct error error;
    if (!job->leaves_memory && status == STATUS_PASS &&
        run_folder_keep(job->folder.text, &error) != OK)
        status = status_worst(status, status_of_error(&error));
    _exit((int)status);
}

enum error_code job_start(struct job *job, const struct options *options, const sigset_t *mask,
                          struct error *error)
{
    pid_t driver = getpid();
    fflush(NULL);
    job->start_ns = clock_monotonic_ns();
    job->pid = fork();
    if (job->pid == 0)
        become_job(job, options, mask, driver);
    if (job->pid < 0)
        return error_set(error, ERROR_LAUNCH, "cannot fork: %s", strerror(errno));
    setpgid(job->pid, job->pid);
    job->state = JOB_RUNNING;
    return OK;
}

bool job_was_cut_off(const struct job *job)
{
    struct run run;
    struct scenario_list owner;
    bool cut_off =
        run_load(job->folder.text, &run, &owner, NULL) == OK && run.end == RUN_INTERRUPTED;
    run_release(&run);
    scenario_list_release(&owner);
    return cut_off;
}

static void print_lost(const struct job *job, FILE *out)
{
    char text[TEXT_BYTES];
    int wait_status = job->wait_status;
    if (WIFSIGNALED(wait_status))
        snprintf(text, sizeof text, "the process that ran it was ended by SIG%s",
                 sigabbrev_np(WTERMSIG(wait_status)));
    else
        snprintf(text, sizeof text,
                 "the process that ran it exited with status %d and left nothing to tell; standard "
                 "error may say why",
                 WEXITSTATUS(wait_status));
    tap_line(out, false, job->number, job->scenario->name, verdict_text(VERDICT_HARNESS_ERROR));
    tap_block_begin(out);
    tap_string(out, "verdict", verdict_text(VERDICT_HARNESS_ERROR));
    tap_list(out, "why");
    tap_item(out, text);
    tap_block_end(out);
}

void job_print(const struct job *job, FILE *const *out, size_t out_count)
{
    struct path path;
    char text[COPY_BYTES];
    FILE *piece = path_format(&path, NULL, "%s/tap", job->folder.text) == OK
                      ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                      : NULL;
    size_t length, total = 0;
    while (piece != NULL && (length = fread(text, 1, sizeof text, piece)) > 0) {
        total += length;
        for (size_t i = 0; i < out_count; i++)
            if (out[i] != NULL)
                fwrite(text, 1, length, out[i]);
    }
    if (piece != NULL)
        fclose(piece);
    for (size_t i = 0; i < out_count; i++)
        if (out[i] != NULL) {
            if (total == 0)
                print_lost(job, out[i]);
            fflush(out[i]);
        }
}
