/* What a campaign tests; see campaign.h. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "oracles/oracle.h"
#include "system/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BARE_PROTOCOL "null"

/* --- which there are -------------------------------------------------------------------------- */

/* The same executable, called in the same way. */
static bool same_call(const struct scenario *a, const struct scenario *b)
{
    struct path left, right;
    return scenario_same_call(a, b) && path_program(a->program, a->file, &left, NULL) == OK &&
           path_program(b->program, b->file, &right, NULL) == OK &&
           strcmp(left.text, right.text) == 0;
}

static bool same_protocol(const struct scenario *a, const struct scenario *b)
{
    struct path left, right;
    return path_protocol(a->protocol, a->file, &left, NULL) == OK &&
           path_protocol(b->protocol, b->file, &right, NULL) == OK &&
           strcmp(left.text, right.text) == 0;
}

static struct subject *find_subject(const struct campaign *campaign,
                                    const struct scenario *scenario)
{
    for (size_t i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subject[i];
        const struct scenario *known = &subject->scenario;
        if (same_call(known, scenario) && same_protocol(known, scenario) &&
            scenario_same_claims(known, scenario))
            return subject;
    }
    return NULL;
}

static void open_coverage(struct subject *subject)
{
    const struct scenario *scenario = &subject->scenario;
    subject->arose_in = memory_new(claim_count, sizeof *subject->arose_in);
    subject->asked = memory_new(claim_count, sizeof *subject->asked);
    for (size_t i = 0; i < claim_count; i++)
        subject->asked[i] =
            claim_is_asked(&claims[i], (const char *const *)scenario->claim, scenario->claim_count);
}

static void add_subject(struct campaign *campaign, const struct scenario *scenario)
{
    struct subject *subject = &campaign->subject[campaign->subject_count++];
    subject->scenario = *scenario;
    subject->scenario.violates = NULL;
    subject->scenario.cover_count = 0;
    if (!scenario->survivors) /* else it says whether the job starts again at all */
        subject->scenario.max_incarnations = 0;
    plan_init(&subject->wires);
    subject->wires.wires = scenario->plan.wires;
    memcpy(subject->wires.wire, scenario->plan.wire, sizeof subject->wires.wire);
    subject->scenario.plan = subject->wires;
    survey_init(&subject->survey);
    open_coverage(subject);
}

/* As a shell takes it: words that hold anything but plain characters are quoted. */
static void add_word(const char *word, char text[CAMPAIGN_CALL_BYTES])
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                                "_./:+=,@%-";
    size_t used = strlen(text), length = strlen(word);
    const char *quote = length > 0 && strspn(word, plain) == length ? "" : "'";
    snprintf(text + used, CAMPAIGN_CALL_BYTES - used, "%s%s%s%s", used > 0 ? " " : "", quote, word,
             quote);
}

void campaign_subject_text(const struct subject *subject, char text[CAMPAIGN_CALL_BYTES])
{
    const struct scenario *scenario = &subject->scenario;
    text[0] = '\0';
    for (size_t i = 0; i < scenario->environment_count; i++)
        add_word(scenario->environment[i], text);
    add_word(scenario->program, text);
    for (size_t i = 0; i < scenario->argument_count; i++)
        add_word(scenario->argument[i], text);
}

/* --- their jobs ------------------------------------------------------------------------------- */

static struct job *add_job(struct campaign *campaign)
{
    campaign->job = memory_resized(campaign->job, campaign->job_count + 1, sizeof(struct job *));
    return campaign->job[campaign->job_count++] = memory_new(1, sizeof(struct job));
}

/* A run of the same call without any protocol; shared by the subjects that make it. */
static enum error_code add_reference(struct campaign *campaign, struct subject *subject, int number,
                                     struct error *error)
{
    for (struct subject *other = campaign->subject; other != subject; other++)
        if (same_call(&other->scenario, &subject->scenario)) {
            subject->reference = other->reference;
            return OK;
        }
    struct job *job = subject->reference = add_job(campaign);
    job_refer_to(job, &subject->scenario);
    job->number = number;
    return path_format(&job->folder, error, "%s/reference/%d", campaign->folder.text, number);
}

static enum error_code add_survey(struct campaign *campaign, struct subject *subject, int number,
                                  struct error *error)
{
    struct job *job = subject->survey_job = add_job(campaign);
    job->bare = subject->scenario;
    job->scenario = &job->bare;
    job->reference = subject->reference;
    job->number = number;
    job->twice = true;
    return path_format(&job->folder, error, "%s/survey/%d", campaign->folder.text, number);
}

/* --- canaries --------------------------------------------------------------------------------- */

static bool has_canary(const struct campaign *campaign, const struct scenario *scenario)
{
    for (size_t i = 0; i < campaign->canary_count; i++)
        if (strcmp(campaign->canary[i].protocol, scenario->protocol) == 0 &&
            (campaign->canary[i].engine != NULL) == (scenario->engine != NULL))
            return true;
    return false;
}

static enum error_code load_canary(const struct path *file, struct canary *canary,
                                   struct error *error)
{
    struct script_options how = script_options_default;
    how.wire_file = path_wire;
    enum error_code code = script_load(file->text, &how, &canary->list, error);
    if (code == OK && (canary->list.count != 1 || canary->list.scenario->violates == NULL))
        code = error_set(error, ERROR_USAGE,
                         "%s: a canary is one scenario that expects a violation", file->text);
    if (code == OK && canary->engine != NULL)
        scenario_set_engine(canary->list.scenario, canary->engine);
    canary->run = canary->list.scenario;
    return code;
}

/* Of a protocol without one: a rank of a program of ours is killed at its end, and nobody starts
 * the job again. */
static enum error_code make_canary(struct canary *canary, struct error *error)
{
    static char name[] = "canary: a kill that nothing recovers from", bare[] = BARE_PROTOCOL;
    static char claim[] = "H.progress", program[] = "ring", option[] = "--iterations", laps[] = "2";
    static char *judged[] = {claim}, *arguments[] = {option, laps};
    struct plan_step step = plan_step_default(ACTION_KILL);
    step.victims = 1;
    step.victim[0] = 0;
    step.when.event = EVENT_CALL;
    step.when.rank = 0;
    snprintf(step.when.call, sizeof step.when.call, "MPI_Finalize");
    enum error_code code = plan_add(&canary->plan, &step, error);
    canary->scenario = (struct scenario){.file = name,
                                         .name = name,
                                         .protocol = bare,
                                         .program = program,
                                         .argument = arguments,
                                         .argument_count = 2,
                                         .ranks = 2,
                                         .claim = judged,
                                         .claim_count = 1,
                                         .plan = canary->plan,
                                         .violates = claim,
                                         .engine = canary->engine,
                                         .max_incarnations = 1};
    canary->run = &canary->scenario;
    return code;
}

static enum error_code add_canary(struct campaign *campaign, const struct subject *subject,
                                  struct error *error)
{
    if (has_canary(campaign, &subject->scenario))
        return OK;
    struct path file;
    struct canary *canary = &campaign->canary[campaign->canary_count++];
    scenario_list_init(&canary->list);
    plan_init(&canary->plan);
    canary->protocol = subject->scenario.protocol;
    canary->engine = subject->scenario.engine;
    enum error_code code = path_canary(canary->protocol, subject->scenario.file, &file, error);
    if (code == OK)
        code =
            path_exists(file.text) ? load_canary(&file, canary, error) : make_canary(canary, error);
    if (code != OK)
        return code;
    struct job *job = canary->job = add_job(campaign);
    job->scenario = canary->run;
    job->number = (int)campaign->canary_count;
    return path_format(&job->folder, error, "%s/canary/%d", campaign->folder.text, job->number);
}

bool canary_failed_as_expected(const struct canary *canary)
{
    return canary->job->state == JOB_DONE && canary->job->status == STATUS_PASS;
}

/* --- all -------------------------------------------------------------------------------------- */

void campaign_find_subjects(struct campaign *campaign)
{
    const struct selection *selection = &campaign->selection;
    campaign->subject = memory_new(selection->count, sizeof *campaign->subject);
    campaign->canary = memory_new(selection->count, sizeof *campaign->canary);
    campaign->survey_noted = memory_new(selection->count, sizeof *campaign->survey_noted);
    for (size_t i = 0; i < selection->count; i++) {
        const struct scenario *scenario = selection->chosen[i];
        struct subject *known = find_subject(campaign, scenario);
        if (known == NULL)
            add_subject(campaign, scenario);
        else if (scenario->timeout_s > known->scenario.timeout_s)
            known->scenario.timeout_s = scenario->timeout_s;
    }
    campaign_open_guides(campaign);
}

enum error_code campaign_add_jobs(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    int references = 0;
    for (size_t i = 0; code == OK && i < campaign->subject_count; i++)
        code = add_canary(campaign, &campaign->subject[i], error);
    for (size_t i = 0; code == OK && i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subject[i];
        size_t before = campaign->job_count;
        code = add_reference(campaign, subject, references + 1, error);
        references += campaign->job_count > before;
        if (code == OK)
            code = add_survey(campaign, subject, (int)i + 1, error);
    }
    return code;
}

void campaign_release_subjects(struct campaign *campaign)
{
    for (size_t i = 0; i < campaign->subject_count; i++) {
        struct subject *subject = &campaign->subject[i];
        plan_release(&subject->wires);
        survey_release(&subject->survey);
        number_set_release(&subject->done_before);
        guide_release(subject->guide);
        free(subject->arose_in);
        free(subject->asked);
    }
    for (size_t i = 0; i < campaign->canary_count; i++) {
        scenario_list_release(&campaign->canary[i].list);
        plan_release(&campaign->canary[i].plan);
    }
    for (size_t i = 0; i < campaign->job_count; i++)
        free(campaign->job[i]);
    free(campaign->subject);
    free(campaign->canary);
    free(campaign->survey_noted);
    free(campaign->job);
}
