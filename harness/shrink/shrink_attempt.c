/* See shrink_attempt.h. */
#include "shrink/shrink_attempt.h"

#include "base/memory.h"
#include "jobs/run_folder.h"
#include "trace/clock.h"
#include "verdict/stored_verdict.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS 1000000

struct attempt {
    struct job job; /* first: the pool hands it back */
    struct trial *trial;
};

struct reference {
    struct job job; /* first, likewise */
    struct reference *next;
};

/* --- what came of a run ----------------------------------------------------------------------- */

/* Nothing but the claim is violated, and all of the plan was done: as `expect` wants it. */
static bool is_clean(const struct stored_verdict *stored, const char *claim)
{
    for (size_t i = 0; i < stored->result_count; i++) {
        const struct stored_result *result = &stored->result[i];
        if (strcmp(result->verdict, verdict_text(VERDICT_HARNESS_ERROR)) == 0 ||
            (strcmp(result->verdict, verdict_text(VERDICT_VIOLATION)) == 0 &&
             strcmp(result->claim, claim) != 0))
            return false;
    }
    for (size_t i = 0; i < stored->finding_count; i++)
        if (strcmp(stored->finding[i].verdict, verdict_text(VERDICT_VACUOUS)) == 0 &&
            strcmp(stored->finding[i].claim, "I.installed") == 0)
            return false;
    return true;
}

/* Any of its findings: which of several comes first is a matter of time. */
static bool is_same(const struct stored_verdict *stored, const char *fingerprint)
{
    bool same = strcmp(stored->fingerprint, fingerprint) == 0;
    for (size_t i = 0; i < stored->finding_count; i++)
        same |= strcmp(stored->finding[i].fingerprint, fingerprint) == 0;
    return same;
}

static enum trial_end end_of(const struct trials *trials, struct trial *trial,
                             const struct stored_verdict *stored)
{
    if (stored->fingerprint == NULL || stored->verdict == VERDICT_HARNESS_ERROR)
        return TRIAL_VOID;
    if (is_same(stored, trials->wanted.text))
        return is_clean(stored, trials->claim) ? TRIAL_SAME : TRIAL_UNCLEAN;
    if (stored->verdict == VERDICT_PASS)
        return TRIAL_PASSED;
    if (stored->verdict != VERDICT_VIOLATION)
        return TRIAL_VACUOUS;
    snprintf(trial->seen, sizeof trial->seen, "%s", stored->fingerprint);
    return TRIAL_OTHER;
}

static enum trial_end read_end(const struct trials *trials, struct trial *trial, const char *folder)
{
    struct stored_verdict stored;
    bool read = stored_verdict_load(folder, &stored, NULL) == OK;
    enum trial_end end = read ? end_of(trials, trial, &stored) : TRIAL_VOID;
    stored_verdict_release(&stored);
    return end;
}

/* --- counting --------------------------------------------------------------------------------- */

static bool shows(const struct trials *trials, enum trial_end end)
{
    return end == TRIAL_SAME || (end == TRIAL_UNCLEAN && !trials->clean);
}

/* `counts` false: it was ended, and shows nothing. */
static void finish(struct trials *trials, struct job *job, bool counts)
{
    if (job->is_reference)
        return; /* its owner looks at its state */
    struct attempt *attempt = (struct attempt *)job;
    struct trial *trial = attempt->trial;
    trial->running--;
    bool keep = false, keep_passed = false;
    if (counts) {
        enum trial_end end = read_end(trials, trial, job->folder.text);
        trial->ends[end]++;
        trials->runs++;
        trials->progress.done++;
        trials->progress.failed += end != TRIAL_PASSED;
        keep = shows(trials, end) && trial->shown.text[0] == '\0';
        keep_passed =
            end == TRIAL_PASSED && trial == trials->keeps_passed && trial->passed.text[0] == '\0';
    }
    struct error error;
    if ((keep || keep_passed) && run_folder_keep(job->folder.text, &error) != OK)
        status_of_error(&error);
    else if (keep)
        trial->shown = job->folder;
    else if (keep_passed)
        trial->passed = job->folder;
    else
        run_folder_remove(job->folder.text, NULL);
    free(attempt);
}

/* How long there may be nothing to do; -1: as long as it takes. */
static int patience_ms(const struct trials *trials)
{
    uint64_t now = clock_monotonic_ns();
    uint64_t left_ns = now < trials->deadline_ns ? trials->deadline_ns - now : 0;
    uint64_t left_ms = left_ns / NS_PER_MS + 1;
    return trials->progress.on || left_ms > PROGRESS_PERIOD_MS ? PROGRESS_PERIOD_MS : (int)left_ms;
}

void attempts_wait(struct trials *trials)
{
    progress_show(&trials->progress, trials->doing != NULL ? trials->doing : "");
    struct job *job = pool_wait(&trials->pool, patience_ms(trials));
    if (job != NULL)
        finish(trials, job, trials->pool.interrupted == 0);
}

void attempts_end(struct trials *trials)
{
    struct pool *pool = &trials->pool;
    for (int i = 0; i < pool->running; i++)
        if (pool->job[i]->state == JOB_RUNNING)
            kill(pool->job[i]->pid, SIGTERM);
    while (pool->running > 0) {
        struct job *job = pool_wait(pool, -1);
        if (job != NULL)
            finish(trials, job, false);
    }
}

/* --- references ------------------------------------------------------------------------------- */

static bool needs_reference(const struct scenario *scenario, const char *claim)
{
    return (scenario->plan.count > 0 || scenario->result != NULL) &&
           claims_ask(claim, ASKS_REFERENCE);
}

static enum error_code new_reference(struct trials *trials, const struct scenario *scenario,
                                     struct reference **made, struct error *error)
{
    struct reference *reference = memory_new(1, sizeof *reference);
    struct job *job = &reference->job;
    job_refer_to(job, scenario);
    job->number = ++trials->numbers;
    job->leaves_memory = true;
    reference->next = trials->references;
    trials->references = *made = reference;
    return path_format(&job->folder, error, "%s/runs/%d", trials->folder.text, job->number);
}

/* That of the scenario, done; or not, because all is over: then it may still run. Other runs that
 * end meanwhile are counted. */
static enum error_code need_reference(struct trials *trials, const struct scenario *scenario,
                                      struct reference **reference, struct error *error)
{
    enum error_code code = OK;
    for (*reference = trials->references; *reference != NULL; *reference = (*reference)->next)
        /* The program is the same in all that is tried. */
        if (job_refers_to(&(*reference)->job, scenario))
            break;
    if (*reference == NULL)
        code = new_reference(trials, scenario, reference, error);
    if (code == OK && (*reference)->job.state == JOB_WAITING)
        code = pool_start(&trials->pool, &(*reference)->job, error);
    while (code == OK && (*reference)->job.state == JOB_RUNNING && !trials_over(trials))
        attempts_wait(trials);
    return code;
}

void references_release(struct trials *trials)
{
    while (trials->references != NULL) {
        struct reference *reference = trials->references;
        trials->references = reference->next;
        run_folder_remove(reference->job.folder.text, NULL);
        free(reference);
    }
}

/* --- starting --------------------------------------------------------------------------------- */

enum error_code attempt_start(struct trials *trials, struct trial *trial, struct error *error)
{
    const struct scenario *scenario = trial_scenario(trial);
    struct reference *reference = NULL;
    enum error_code code = OK;
    if (needs_reference(scenario, trials->claim))
        code = need_reference(trials, scenario, &reference, error);
    if (code != OK || trials_over(trials))
        return code;
    struct attempt *attempt = memory_new(1, sizeof *attempt);
    attempt->trial = trial;
    attempt->job.scenario = scenario;
    attempt->job.reference = reference != NULL ? &reference->job : NULL;
    attempt->job.number = ++trials->numbers;
    attempt->job.leaves_memory = true;
    attempt->job.round = trial->begun++;
    code = path_format(&attempt->job.folder, error, "%s/runs/%d", trials->folder.text,
                       attempt->job.number);
    if (code == OK)
        code = pool_start(&trials->pool, &attempt->job, error);
    if (code == OK)
        trial->running++;
    else
        free(attempt);
    return code;
}
