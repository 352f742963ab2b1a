/* One session of a campaign: what runs next, and what is made of what is done; see campaign.h. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "base/mix.h"
#include "base/regular_file.h"
#include "trace/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NS_PER_S 1e9
#define TURN_LINE_BYTES 64
#define PCT_DEPTHS 3

double campaign_elapsed_s(const struct campaign *campaign)
{
    return campaign->before_s + (double)(clock_monotonic_ns() - campaign->start_ns) / NS_PER_S;
}

/* --- what is done once: references, surveys, canaries -----------------------------------------
 */

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
                     "--resume %s: %s is gone or damaged, and the plans of %" PRIu64
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

static bool budget_is_spent(const struct campaign *campaign)
{
    return campaign->budget_s > 0 && campaign_elapsed_s(campaign) >= campaign->budget_s;
}

/* Of the runs without faults only those of the first subject are begun after the budget. */
static bool is_too_late(const struct campaign *campaign, const struct job *job)
{
    bool needed = job == campaign->subject->survey_job || job == campaign->subject->reference;
    for (size_t i = 0; i < campaign->canary_count; i++)
        needed |= job == campaign->canary[i].job || job == campaign->canary[i].job->reference;
    return !needed && budget_is_spent(campaign);
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
static void try_again(struct campaign *campaign, const struct job *done)
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
        try_again(campaign, done);
        if (code == OK)
            code = start_jobs(campaign, error);
    }
    if (campaign->pool.interrupted != 0)
        campaign_end_interrupted(campaign);
    return code;
}

/* In the counts, and in the journal if it is the same in the next session: a survey that came to a
 * harness error is made again there. */
static enum error_code take_record(struct campaign *campaign, struct campaign_record *record,
                                   struct error *error)
{
    struct group *group;
    enum error_code code = OK;
    record->elapsed_s = campaign_elapsed_s(campaign);
    if (record->of != RECORD_OF_SURVEY || record->verdict != VERDICT_HARNESS_ERROR)
        code = campaign_journal_add(&campaign->journal, record, error);
    if (code == OK)
        code = campaign_count(campaign, record, &group, error);
    if (code == OK && group != NULL && group->count == 1)
        campaign_print_failure(campaign, group);
    return code;
}

static enum error_code tell_survey(struct campaign *campaign, size_t number, struct error *error)
{
    const struct subject *subject = &campaign->subject[number];
    struct campaign_record record = {.of = RECORD_OF_SURVEY, .subject = number};
    if (campaign->survey_told[number])
        return OK;
    record.seconds = subject->survey_job->seconds;
    snprintf(record.plan, sizeof record.plan, "no faults");
    snprintf(record.folder, sizeof record.folder, "survey/%zu", number + 1);
    campaign_record_take(subject->survey_job->folder.text, &record);
    enum error_code code = take_record(campaign, &record, error);
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

static bool has_harness_error(const struct campaign *campaign)
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
            code = tell_survey(campaign, i, error);
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
    if (code == OK && has_harness_error(campaign) && campaign_ends_by_full_disk(campaign))
        return OK;
    if (code == OK && campaign->end == CAMPAIGN_GOES_ON && !all_sing(campaign))
        campaign_end_without_canary(campaign);
    return code == OK ? take_surveys(campaign, error) : code;
}

/* --- which run is next ------------------------------------------------------------------------ */

/* Every subject's first plan, every subject's second. false: there are no more. */
static bool next_plan(struct campaign *campaign, size_t *subject, uint64_t *index)
{
    for (size_t tries = 0; tries <= campaign->subject_count; tries++) {
        if (campaign->turn == campaign->subject_count) {
            campaign->turn = 0;
            campaign->round++;
        }
        *subject = campaign->turn++;
        *index = campaign->round;
        if (campaign->subject[*subject].plans > campaign->round)
            return true;
    }
    return false;
}

/* A run that cannot be judged (the protocol does not promise to survive so much) is no failure. */
static bool has_failed(const struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->group_count; i++)
        if (campaign->group[i].verdict != VERDICT_UNKNOWN)
            return true;
    return false;
}

/* Whether a run may still be begun. */
static bool may_begin(struct campaign *campaign)
{
    if (campaign->last != CAMPAIGN_GOES_ON || campaign->end != CAMPAIGN_GOES_ON)
        return false;
    if (campaign->options.until_failure && has_failed(campaign))
        campaign->last = CAMPAIGN_FAILURE;
    else if (budget_is_spent(campaign))
        campaign->last = CAMPAIGN_BUDGET;
    else if (campaign->runs_asked > 0 && campaign->begun >= campaign->runs_asked)
        campaign->last = CAMPAIGN_RUNS;
    return campaign->last == CAMPAIGN_GOES_ON;
}

/* --- a run ------------------------------------------------------------------------------------ */

static void task_release(struct task *task)
{
    plan_release(&task->plan);
    free(task);
}

static void forget_task(struct campaign *campaign, struct task *task)
{
    struct task **place = &campaign->tasks;
    while (*place != NULL && *place != task)
        place = &(*place)->next;
    if (*place != NULL)
        *place = task->next;
    task_release(task);
}

void campaign_release_tasks(struct campaign *campaign)
{
    while (campaign->tasks != NULL)
        forget_task(campaign, campaign->tasks);
}

/* Of what the subject is: so that plan 17 of one is not the mix of faults of plan 17 of another,
 * and is the same whatever else is in the campaign. */
static uint64_t subject_mix(const struct subject *subject)
{
    const struct scenario *scenario = &subject->scenario;
    const char *protocol = strrchr(scenario->protocol, '/');
    const char *program = strrchr(scenario->program, '/');
    protocol = protocol != NULL ? protocol : scenario->protocol;
    program = program != NULL ? program : scenario->program;
    uint64_t mixed = XXH3_64bits(protocol, strlen(protocol));
    mixed = XXH3_64bits_withSeed(program, strlen(program), mixed + (uint64_t)scenario->ranks);
    for (size_t i = 0; i < scenario->argument_count; i++)
        mixed = XXH3_64bits_withSeed(scenario->argument[i], strlen(scenario->argument[i]), mixed);
    return mixed;
}

/* Of priorities that change up to twice: what needs more is found by chance. */
static void choose_policy(const struct campaign *campaign, struct task *task)
{
    const struct subject *subject = &campaign->subject[task->subject];
    const char *policy = subject->scenario.engine != NULL ? campaign->strategy->policy : NULL;
    if (policy == NULL || strcmp(policy, "pct") != 0)
        snprintf(task->job.policy, sizeof task->job.policy, "%s", policy != NULL ? policy : "");
    else
        snprintf(task->job.policy, sizeof task->job.policy, "pct:%u:%u",
                 1 + (unsigned)(mix_two(task->job.round, PCT_DEPTHS) % PCT_DEPTHS),
                 subject->turns > 0 ? subject->turns : 1);
}

/* The scenario of the subject with a plan of the strategy's. */
static enum error_code fill_task(struct campaign *campaign, struct task *task, struct error *error)
{
    const struct subject *subject = &campaign->subject[task->subject];
    task->plan.wires = subject->wires.wires;
    memcpy(task->plan.wire, subject->wires.wire, sizeof task->plan.wire);
    uint64_t mixed = subject_mix(subject), seed = campaign->seed ^ mixed;
    enum error_code code = campaign->strategy->make(&subject->survey, seed, task->index,
                                                    &task->plan, task->text, error);
    task->scenario = subject->scenario;
    task->scenario.name = task->text;
    task->scenario.plan = task->plan;
    task->job.scenario = &task->scenario;
    task->job.reference = subject->reference;
    task->job.number = (int)campaign->number;
    task->job.round = mix_two(mixed, task->index) | 1; /* the survey has 0 */
    task->job.takes_vacuous = true;
    choose_policy(campaign, task);
    if (code == OK)
        code = path_format(&task->job.folder, error, "%s/%" PRIu64, campaign->folder.text,
                           campaign->number);
    return code;
}

static struct task *add_task(struct campaign *campaign, enum task_kind kind)
{
    struct task *task = memory_new(1, sizeof *task);
    plan_init(&task->plan);
    task->kind = kind;
    task->next = campaign->tasks;
    campaign->tasks = task;
    return task;
}

static enum error_code start_replay(struct campaign *campaign, size_t group, struct error *error)
{
    struct task *task = add_task(campaign, TASK_REPLAY);
    task->group = group;
    enum error_code code = campaign_fill_replay(campaign, task, error);
    return code == OK ? pool_start(&campaign->pool, &task->job, error) : code;
}

static enum error_code start_task(struct campaign *campaign, size_t subject, uint64_t index,
                                  struct error *error)
{
    struct task *task = add_task(campaign, TASK_RUN);
    task->subject = subject;
    task->index = index;
    enum error_code code = fill_task(campaign, task, error);
    if (code == OK && campaign->stored != NULL)
        code = path_remove(task->job.folder.text, error);
    return code == OK ? pool_start(&campaign->pool, &task->job, error) : code;
}

/* Under the next number that no run of the journal has. */
static enum error_code start_next(struct campaign *campaign, size_t subject, uint64_t index,
                                  struct error *error)
{
    while (number_set_has(&campaign->numbers, ++campaign->number))
        ;
    return start_task(campaign, subject, index, error);
}

static enum error_code start_some(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    size_t subject, group;
    uint64_t index;
    while (code == OK && campaign->end == CAMPAIGN_GOES_ON && pool_has_room(&campaign->pool) &&
           campaign_next_replay(campaign, &group))
        code = start_replay(campaign, group, error);
    while (code == OK && pool_has_room(&campaign->pool) && may_begin(campaign)) {
        if (!next_plan(campaign, &subject, &index)) {
            campaign->last = CAMPAIGN_COMPLETE;
            break;
        }
        if (number_set_has(&campaign->subject[subject].done_before, index))
            continue;
        campaign->begun++;
        code = start_next(campaign, subject, index, error);
    }
    return code;
}

/* --- what has become of it -------------------------------------------------------------------- */

static bool is_kept(const struct campaign *campaign, const struct campaign_record *record)
{
    const struct group *group = campaign_find_group(campaign, record->fingerprint.text);
    return campaign->options.keep || (verdict_is_failure(record->verdict) &&
                                      (group == NULL || group->kept < CAMPAIGN_KEPT_OF_GROUP));
}

/* What was interrupted, or hit a full disk, is no run of this campaign: it is made again when that
 * goes on. */
static bool is_void(struct campaign *campaign, const struct campaign_record *record)
{
    if (campaign->pool.interrupted != 0 && record->verdict != VERDICT_PASS)
        return true;
    return record->verdict == VERDICT_HARNESS_ERROR && campaign_ends_by_full_disk(campaign);
}

static enum error_code take_run(struct campaign *campaign, const struct task *task,
                                struct error *error)
{
    struct campaign_record record = {.of = RECORD_OF_RUN,
                                     .number = (uint64_t)task->job.number,
                                     .subject = task->subject,
                                     .index = task->index,
                                     .seconds = task->job.seconds};
    snprintf(record.plan, sizeof record.plan, "%s", task->text);
    enum error_code code = OK;
    campaign_record_take(task->job.folder.text, &record);
    /* Somebody has ended this run alone: it is made again at once. */
    bool again = campaign->pool.interrupted == 0 && job_was_cut_off(&task->job);
    bool counts = !again && !is_void(campaign, &record);
    bool kept = counts && is_kept(campaign, &record);
    if (kept)
        snprintf(record.folder, sizeof record.folder, "%d", task->job.number);
    if (counts)
        code = take_record(campaign, &record, error);
    campaign_record_release(&record);
    if (!kept && code == OK)
        code = path_remove(task->job.folder.text, error);
    if (again && code == OK)
        code = start_next(campaign, task->subject, task->index, error);
    return code;
}

static enum error_code finish(struct campaign *campaign, struct job *job, struct error *error)
{
    struct task *task = (struct task *)job;
    enum error_code code = task->kind == TASK_REPLAY ? campaign_take_replay(campaign, task, error)
                                                     : take_run(campaign, task, error);
    forget_task(campaign, task);
    return code;
}

enum error_code campaign_work(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    for (;;) {
        if (code == OK)
            code = start_some(campaign, error);
        if (campaign->pool.running == 0)
            break;
        campaign_show(campaign);
        struct job *job =
            pool_wait(&campaign->pool, campaign->progress.on ? PROGRESS_PERIOD_MS : -1);
        if (job != NULL && code == OK)
            code = finish(campaign, job, error);
        if (code != OK)
            campaign_end_with(campaign, CAMPAIGN_BROKEN, error->text);
    }
    campaign_settle(campaign);
    return code;
}
