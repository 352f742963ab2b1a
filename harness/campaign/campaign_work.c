/* One session of a campaign: what runs next, and what is made of what is done; see campaign.h. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "base/mix.h"
#include "jobs/run_folder.h"
#include "trace/clock.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define NS_PER_S 1e9

double campaign_elapsed_s(const struct campaign *campaign)
{
    return campaign->before_s + (double)(clock_monotonic_ns() - campaign->start_ns) / NS_PER_S;
}

bool campaign_budget_is_spent(const struct campaign *campaign)
{
    return campaign->budget_s > 0 && campaign_elapsed_s(campaign) >= campaign->budget_s;
}

enum error_code campaign_take_record(struct campaign *campaign,
                                     const struct campaign_record *record, struct error *error)
{
    struct group *group;
    enum error_code code = OK;
    if (record->of != RECORD_OF_SURVEY || record->verdict != VERDICT_HARNESS_ERROR)
        code = campaign_journal_add(&campaign->journal, record, error);
    if (code == OK)
        code = campaign_count(campaign, record, &group, error);
    if (code == OK && group != NULL && group->count == 1)
        campaign_print_failure(campaign, group);
    return code;
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
    else if (campaign_budget_is_spent(campaign))
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

/* The scenario of the subject with a plan of the strategy's. */
static enum error_code fill_task(struct campaign *campaign, struct task *task, struct error *error)
{
    const struct subject *subject = &campaign->subject[task->subject];
    task->plan.wires = subject->wires.wires;
    memcpy(task->plan.wire, subject->wires.wire, sizeof task->plan.wire);
    uint64_t mixed = subject_mix(subject), seed = campaign->seed ^ mixed;
    enum error_code code =
        campaign->strategy->guided
            ? strategy_make_varied(&subject->survey, seed, task->made.root, task->made.other,
                                   &task->plan, task->text, error)
            : campaign->strategy->make(&subject->survey, seed, task->index, &task->plan, task->text,
                                       error);
    task->scenario = subject->scenario;
    task->scenario.name = task->text;
    task->scenario.plan = task->plan;
    task->job.scenario = &task->scenario;
    task->job.reference = subject->reference;
    task->job.number = (int)campaign->number;
    task->job.round = mix_two(mixed, task->made.root) | 1; /* the survey has 0 */
    task->job.takes_vacuous = true;
    task->job.leaves_memory = true;
    campaign_choose_policy(campaign, task);
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

static enum error_code start_task(struct campaign *campaign, struct task *task, struct error *error)
{
    enum error_code code = fill_task(campaign, task, error);
    if (code == OK && campaign->stored != NULL)
        code = path_remove(task->job.folder.text, error);
    return code == OK ? pool_start(&campaign->pool, &task->job, error) : code;
}

void campaign_next_number(struct campaign *campaign)
{
    while (number_set_has(&campaign->numbers, ++campaign->number))
        ;
}

static enum error_code start_next(struct campaign *campaign, size_t subject, uint64_t index,
                                  const struct guided_run *made, struct error *error)
{
    struct task *task = add_task(campaign, TASK_RUN);
    task->subject = subject;
    task->index = index;
    task->made = *made;
    campaign_next_number(campaign);
    return start_task(campaign, task, error);
}

/* A plan of the sequence: made, unless it was made before or is another shard's. */
static enum error_code start_plan(struct campaign *campaign, size_t subject, uint64_t index,
                                  struct error *error)
{
    bool is_done = number_set_has(&campaign->subject[subject].done_before, index);
    campaign->begun += !is_done;
    if (!campaign_owns_plan(campaign, subject, index))
        return OK;
    struct guided_run made = campaign_guide_next(campaign, subject, index);
    return is_done ? OK : start_next(campaign, subject, index, &made, error);
}

static enum error_code start_some(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    size_t subject, group;
    uint64_t index;
    while (code == OK && campaign->end == CAMPAIGN_GOES_ON && pool_has_room(&campaign->pool) &&
           campaign_next_replay(campaign, &group))
        code = start_replay(campaign, group, error);
    while (code == OK && pool_has_room(&campaign->pool) && may_begin(campaign) &&
           !campaign_guide_waits(campaign)) {
        if (!next_plan(campaign, &subject, &index)) {
            campaign->last = CAMPAIGN_COMPLETE;
            break;
        }
        code = start_plan(campaign, subject, index, error);
    }
    return code;
}

/* --- what has become of it -------------------------------------------------------------------- */

bool campaign_keeps(const struct campaign *campaign, const struct campaign_record *record)
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
                                     .guided = campaign->strategy->guided,
                                     .made = task->made,
                                     .seconds = task->job.seconds,
                                     .elapsed_s = campaign_elapsed_s(campaign)};
    snprintf(record.plan, sizeof record.plan, "%s", task->text);
    enum error_code code = OK;
    campaign_record_take(task->job.folder.text, &record);
    /* Somebody has ended this run alone: it is made again at once. */
    bool again = campaign->pool.interrupted == 0 && job_was_cut_off(&task->job);
    bool counts = !again && !is_void(campaign, &record);
    bool kept = counts && campaign_keeps(campaign, &record);
    if (kept)
        snprintf(record.folder, sizeof record.folder, "%d", task->job.number);
    if (kept) /* first: what the journal says is there */
        code = run_folder_keep(task->job.folder.text, error);
    if (counts && code == OK)
        code = campaign_take_record(campaign, &record, error);
    if (counts && code == OK)
        campaign_guide_take(campaign, &record);
    campaign_record_release(&record);
    if (!kept && code == OK)
        code = run_folder_remove(task->job.folder.text, error);
    if (again && code == OK)
        code = start_next(campaign, task->subject, task->index, &task->made, error);
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
