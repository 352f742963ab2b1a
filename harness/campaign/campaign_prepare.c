/* What a campaign does once, before its plans: references, surveys, canaries; see campaign.h. */
#include "campaign/campaign.h"

#include "base/regular_file.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define TURN_LINE_BYTES 64

/* --- taken from an earlier session ------------------------------------------------------------ */

static enum exit_status judged_status(const struct job *job)
{
    struct campaign_record record = {0};
    campaign_record_take(job->folder.text, &record);
    enum exit_status status = status_of_verdict(record.verdict);
    campaign_record_release(&record);
    return status;
}

/* An earlier session may have made it: a reference has its facts, all others were judged. What came
 * to a harness error is made again: a full disk may have done that. */
static void take_finished(struct job *job)
{
    struct run run;
    struct scenario_list owner;
    bool is_there = run_load(job->folder.text, &run, &owner, NULL) == OK;
    enum exit_status status = !is_there           ? STATUS_HARNESS
                              : job->is_reference ? status_of_reference(&run)
                                                  : judged_status(job);
    if (status != STATUS_HARNESS && run.end != RUN_INTERRUPTED) {
        job->state = JOB_DONE;
        job->seconds = run.seconds;
        job->status = (int)status;
    }
    run_release(&run);
    scenario_list_release(&owner);
}

/* The plans of an earlier session were drawn from this survey, so no other may take its place,
 * whatever its verdict is. */
static enum error_code keep_survey(const struct campaign *campaign, const struct subject *subject,
                                   struct error *error)
{
    struct run run;
    struct scenario_list owner;
    struct job *job = subject->survey_job;
    if (subject->runs == 0 || job->state == JOB_DONE)
        return OK;
    bool finished = run_load(job->folder.text, &run, &owner, NULL) == OK && run.end == RUN_FINISHED;
    if (finished) {
        job->state = JOB_DONE;
        job->seconds = run.seconds;
        job->status = (int)judged_status(job);
    }
    run_release(&run);
    scenario_list_release(&owner);
    if (finished)
        return OK;
    return error_set(error, ERROR_USAGE,
                     "%s: %s is gone or damaged, and the plans of %" PRIu64
                     " runs were drawn from it; another survey would number them anew: begin a new "
                     "campaign",
                     campaign->folder.text, job->folder.text, subject->runs);
}

enum error_code campaign_take_jobs(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < campaign->job_count; i++)
        take_finished(campaign->job[i]);
    for (size_t i = 0; code == OK && i < campaign->subject_count; i++)
        code = keep_survey(campaign, &campaign->subject[i], error);
    return code;
}

/* Of the runs without faults only those of the first subject are begun after the budget. */
static bool is_too_late(const struct campaign *campaign, const struct job *job)
{
    bool needed = job == campaign->subject->survey_job || job == campaign->subject->reference;
    for (size_t i = 0; i < campaign->canary_count; i++)
        needed |= job == campaign->canary[i].job || job == campaign->canary[i].job->reference;
    return !needed && campaign_budget_is_spent(campaign);
}

static enum error_code start_jobs(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < campaign->job_count; i++) {
        struct job *job = campaign->job[i];
        if (job->state != JOB_WAITING || !pool_has_room(&campaign->pool) ||
            (job->reference != NULL && job->reference->state != JOB_DONE) ||
            is_too_late(campaign, job))
            continue;
        code = path_remove(job->folder.text, error); /* half of one, of a session that was killed */
        if (code == OK)
            code = pool_start(&campaign->pool, job, error);
    }
    return code;
}

/* A canary that this schedule does not show is run under another one. */
static void retry(struct campaign *campaign, const struct job *done)
{
    for (size_t i = 0; i < campaign->canary_count; i++) {
        struct canary *canary = &campaign->canary[i];
        if (canary->job == done && canary->engine != NULL && !canary_failed_as_expected(canary) &&
            done->status != STATUS_HARNESS && campaign->pool.interrupted == 0 &&
            canary->job->round + 1 < CANARY_SEEDS) {
            canary->job->round++;
            canary->job->state = JOB_WAITING;
        }
    }
}

static enum error_code run_jobs(struct campaign *campaign, struct error *error)
{
    enum error_code code = start_jobs(campaign, error);
    while (campaign->pool.running > 0) {
        campaign_show(campaign);
        const struct job *done =
            pool_wait(&campaign->pool, campaign->progress.on ? PROGRESS_PERIOD_MS : -1);
        retry(campaign, done);
        if (code == OK)
            code = start_jobs(campaign, error);
    }
    if (campaign->pool.interrupted != 0)
        campaign_end_interrupted(campaign);
    return code;
}

static enum error_code report_survey(struct campaign *campaign, size_t number, struct error *error)
{
    const struct subject *subject = &campaign->subject[number];
    struct campaign_record record = {
        .of = RECORD_OF_SURVEY, .subject = number, .elapsed_s = campaign_elapsed_s(campaign)};
    if (campaign->survey_noted[number])
        return OK;
    record.seconds = subject->survey_job->seconds;
    snprintf(record.plan, sizeof record.plan, "no faults");
    snprintf(record.folder, sizeof record.folder, "survey/%zu", number + 1);
    campaign_record_take(subject->survey_job->folder.text, &record);
    enum error_code code = campaign_take_record(campaign, &record, error);
    campaign_record_release(&record);
    return code;
}

/* How often the step engine has chosen who is next in the first life of this run. */
static unsigned count_turns(const char *folder)
{
    char line[TURN_LINE_BYTES];
    struct path path;
    unsigned turns = 0;
    if (path_format(&path, NULL, "%s/choices.0", folder) != OK)
        return 0;
    FILE *file = regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL);
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        turns += strncmp(line, "next ", 5) == 0;
    if (file != NULL)
        fclose(file);
    return turns;
}

/* A run without faults that does not finish is a failure of its own, and nothing to aim by. */
static enum error_code survey_one(struct campaign *campaign, struct subject *subject,
                                  struct error *error)
{
    struct run run;
    struct scenario_list owner;
    const char *folder = subject->survey_job->folder.text;
    bool finished = run_load(folder, &run, &owner, NULL) == OK && run.end == RUN_FINISHED;
    run_release(&run);
    scenario_list_release(&owner);
    subject->unfinished = !finished;
    if (!finished)
        return OK;
    enum error_code code = survey_take(folder, &subject->wires, &subject->survey, error);
    if (code != OK)
        return code;
    subject->survey.restart_ranks = subject->scenario.restart_ranks;
    subject->turns = count_turns(folder);
    subject->surveyed = true;
    subject->plans = campaign->strategy->count(&subject->survey);
    return OK;
}

static bool all_sing(const struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->canary_count; i++)
        if (!canary_failed_as_expected(&campaign->canary[i]))
            return false;
    return true;
}

bool campaign_has_harness_error(const struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->job_count; i++)
        if (campaign->job[i]->status == STATUS_HARNESS)
            return true;
    return false;
}

/* What there is of the surveys: the budget may be spent before the last of them. */
static enum error_code take_surveys(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    bool all = true;
    for (size_t i = 0;
         code == OK && campaign->end == CAMPAIGN_GOES_ON && i < campaign->subject_count; i++) {
        bool done = campaign->subject[i].survey_job->state == JOB_DONE;
        all &= done;
        if (done)
            code = report_survey(campaign, i, error);
        if (done && code == OK)
            code = survey_one(campaign, &campaign->subject[i], error);
    }
    if (code == OK && !all)
        campaign_end_by_budget(campaign);
    return code;
}

enum error_code campaign_prepare(struct campaign *campaign, struct error *error)
{
    enum error_code code = run_jobs(campaign, error);
    if (code == OK && campaign_has_harness_error(campaign) && campaign_ends_by_full_disk(campaign))
        return OK;
    if (code == OK && campaign->end == CAMPAIGN_GOES_ON && !all_sing(campaign))
        campaign_end_without_canary(campaign);
    return code == OK ? take_surveys(campaign, error) : code;
}
