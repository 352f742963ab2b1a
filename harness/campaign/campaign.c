/* `faultline campaign`: many runs, drawn; see campaign.h. */
#include "campaign/campaign.h"

#include "base/nearest.h"
#include "cli/verb.h"
#include "reports/page/report.h"
#include "system/process.h"
#include "trace/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRATEGIES_MAX 16
#define NAMES_BYTES 256

/* --- what is asked for ------------------------------------------------------------------------ */

static enum error_code unknown_strategy(const char *name, struct error *error)
{
    const char *names[STRATEGIES_MAX];
    char list[NAMES_BYTES] = "";
    size_t count = 0;
    for (; count < STRATEGIES_MAX && strategies[count] != NULL; count++) {
        size_t used = strlen(list);
        names[count] = strategies[count]->name;
        snprintf(list + used, sizeof list - used, "%s%s", used > 0 ? ", " : "", names[count]);
    }
    const char *near = nearest_name(name, names, count);
    return error_set(error, ERROR_USAGE,
                     "--strategy: there is no strategy \"%s\"%s%s%s; accepted: %s", name,
                     near != NULL ? "; did you mean \"" : "", near != NULL ? near : "",
                     near != NULL ? "\"?" : "", list);
}

static enum error_code begin_new(struct campaign *campaign, struct error *error)
{
    const struct options *options = &campaign->options;
    const char *name = options->strategy != NULL ? options->strategy : CAMPAIGN_DEFAULT_STRATEGY;
    campaign->strategy = strategy_find(name);
    campaign->seed = options->seed;
    return campaign->strategy != NULL ? OK : unknown_strategy(name, error);
}

/* Without any limit a campaign of endless plans has one. */
static void take_limits(struct campaign *campaign)
{
    const struct options *options = &campaign->options;
    if (options->runs > 0)
        campaign->runs_asked = (uint64_t)options->runs;
    if (options->budget_s > 0)
        campaign->budget_s = options->budget_s;
}

static void default_limit(struct campaign *campaign)
{
    bool endless = false;
    for (size_t i = 0; i < campaign->subject_count; i++)
        endless |= campaign->subject[i].plans == STRATEGY_ENDLESS;
    if (endless && campaign->runs_asked == 0 && campaign->budget_s == 0 &&
        !campaign->options.until_failure)
        campaign->runs_asked = CAMPAIGN_DEFAULT_RUNS;
}

/* --- a session -------------------------------------------------------------------------------- */

static enum error_code mark(struct number_set *set, const char *field, uint64_t number,
                            struct error *error)
{
    struct error inner = {0};
    if (number_set_add(set, number, &inner) == OK)
        return OK;
    return error_set(error, ERROR_FORMAT, "field \"%s\" is %s", field, inner.text);
}

/* *counts: this plan of this subject has not stood in the journal before. It may stand there twice:
 * older versions took the number of a run for its plan. */
static enum error_code mark_run(struct campaign *campaign, const struct campaign_record *record,
                                bool *counts, struct error *error)
{
    if (record->subject >= campaign->subject_count)
        return OK; /* campaign_count says so */
    struct number_set *plans = &campaign->subject[record->subject].done_before;
    *counts = !number_set_has(plans, record->index);
    campaign->begun += *counts;
    enum error_code code = mark(plans, "index", record->index, error);
    return code == OK ? mark(&campaign->numbers, "number", record->number, error) : code;
}

/* A line of an earlier session. A survey that ended in a harness error is made or reported once
 * more. */
static enum error_code take_earlier(void *context, const struct campaign_record *record,
                                    struct error *error)
{
    struct campaign *campaign = context;
    struct group *group;
    bool counts = record->of != RECORD_OF_SURVEY || record->verdict != VERDICT_HARNESS_ERROR;
    enum error_code code = OK;
    if (record->elapsed_s > campaign->before_s)
        campaign->before_s = record->elapsed_s;
    if (record->of == RECORD_OF_RUN)
        code = mark_run(campaign, record, &counts, error);
    if (counts)
        campaign_guide_take(campaign, record);
    return code == OK && counts ? campaign_count(campaign, record, &group, error) : code;
}

static enum error_code open_folder(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    if (campaign->stored == NULL || campaign->merged_count > 0)
        code = path_make_output(campaign->options.out, &campaign->folder, error);
    if (code == OK && campaign->merged_count > 0)
        code = campaign_copy_surveys(campaign, error);
    if (code == OK && campaign->options.surveys != NULL)
        code = campaign_link_surveys(campaign->folder.text, campaign->options.surveys, error);
    if (code == OK)
        code =
            path_format(&campaign->journal_path, error, "%s/campaign.jsonl", campaign->folder.text);
    if (code == OK)
        code = campaign_journal_open(campaign->journal_path.text, &campaign->journal, error);
    if (code == OK && campaign->stored != NULL)
        code = campaign_journal_read(&campaign->journal, take_earlier, campaign, error);
    return code;
}

static enum error_code open_outputs(struct campaign *campaign, struct error *error)
{
    const char *tap = campaign->options.tap;
    campaign->out[0] = stdout;
    if (tap != NULL && (campaign->out[1] = fopen(tap, "we")) == NULL)
        return error_set(error, ERROR_IO, "--tap %s: %s", tap, strerror(errno));
    return OK;
}

/* Policies are the step engine's. */
static enum error_code check_engine(const struct campaign *campaign, struct error *error)
{
    const struct strategy *strategy = campaign->strategy;
    if (strategy->policy == NULL || strategy->any_engine)
        return OK;
    for (size_t i = 0; i < campaign->subject_count; i++)
        if (campaign->subject[i].scenario.engine == NULL)
            return error_set(error, ERROR_USAGE,
                             "--strategy %s says how the step engine decides: give --engine step",
                             strategy->name);
    return OK;
}

static enum error_code open_session(struct campaign *campaign, struct error *error)
{
    campaign->start_ns = clock_monotonic_ns();
    enum error_code code = OK;
    campaign_find_subjects(campaign);
    code = check_engine(campaign, error);
    if (code == OK && campaign->stored != NULL)
        code = campaign_compare(campaign, campaign->folder.text, campaign->stored, error);
    if (code == OK && campaign->options.surveys != NULL)
        code = campaign_check_surveyed(campaign, error);
    if (code == OK)
        code = open_outputs(campaign, error);
    if (code == OK)
        code = open_folder(campaign, error);
    if (code == OK)
        code = campaign_add_jobs(campaign, error);
    if (code == OK && (campaign->stored != NULL || campaign->options.surveys != NULL))
        code = campaign_take_jobs(campaign, error);
    if (code == OK && campaign->options.surveys != NULL)
        code = campaign_check_surveys(campaign, error);
    if (code == OK)
        code = campaign_store(campaign, error);
    return code == OK ? pool_open(&campaign->pool, &campaign->options, error) : code;
}

/* Of what came from many places: all of it in one. */
static void write_page(const struct campaign *campaign)
{
    char text[PATH_MAX + CAMPAIGN_TEXT_BYTES];
    report_folder_apart(campaign->folder.text, NULL);
    snprintf(text, sizeof text, "page: %s/index.html", campaign->folder.text);
    if (path_holds(campaign->folder.text, "index.html"))
        campaign_print_note(campaign, text);
}

static enum error_code run_session(struct campaign *campaign, struct error *error)
{
    struct error last = {0};
    campaign_print_head(campaign);
    progress_begin(&campaign->progress, 0);
    enum error_code code = campaign_prepare(campaign, error);
    default_limit(campaign);
    if (code == OK && campaign->end == CAMPAIGN_GOES_ON && campaign->merged_count > 0)
        code = campaign_merge(campaign, error);
    if (code == OK && campaign->end == CAMPAIGN_GOES_ON && campaign->options.slurm)
        code = campaign_run_in_slurm(campaign, error);
    if (code == OK && campaign->end == CAMPAIGN_GOES_ON)
        code = campaign_work(campaign, error);
    if (code != OK && campaign->end == CAMPAIGN_GOES_ON) {
        campaign->end = CAMPAIGN_BROKEN;
        snprintf(campaign->why, sizeof campaign->why, "not complete: %.400s", error->text);
    }
    pool_close(&campaign->pool);
    if (campaign_store(campaign, &last) != OK && code == OK)
        code = error_set(error, last.code, "%s", last.text);
    if (campaign->merged_count > 0 || campaign->options.slurm)
        write_page(campaign);
    campaign_print_end(campaign);
    return code;
}

/* --- the verb --------------------------------------------------------------------------------- */

/* Options that do not go together. */
static enum error_code check_options(const struct options *options, struct error *error)
{
    const struct {
        bool given, beside;
        const char *text;
    } wrong[] = {
        {options->merge, options->resume != NULL,
         "--merge begins a new campaign, without --resume"},
        {options->merge, options->shards > 0,
         "--merge takes shards that are over, without --shard"},
        {options->slurm, options->merge, "--slurm merges its tasks itself, without --merge"},
        {options->slurm, options->shards > 0, "--slurm makes the shards itself, without --shard"},
        {options->tasks > 0, !options->slurm, "--tasks is for --slurm"},
        {options->surveys != NULL, options->shards == 0, "--surveys is for --shard"},
        {options->surveys != NULL, options->resume != NULL,
         "--surveys is for a shard that begins: --resume has its surveys"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        if (wrong[i].given && wrong[i].beside)
            return error_set(error, ERROR_USAGE, "%s", wrong[i].text);
    return OK;
}

/* Scenarios are not shared out, plans are. What the shards find --merge replays. */
static void take_shard(struct campaign *campaign)
{
    struct options *options = &campaign->options;
    campaign->shard = options->shard;
    campaign->shards = options->shards;
    options->shard = options->shards = 0;
}

static enum error_code begin(struct campaign *campaign, struct error *error)
{
    enum error_code code = check_options(&campaign->options, error);
    if (code == OK && campaign->options.slurm)
        code = campaign_check_slurm(error);
    if (code != OK)
        return code;
    take_shard(campaign);
    code = campaign->options.merge            ? campaign_load_shards(campaign, error)
           : campaign->options.resume != NULL ? campaign_load(campaign, error)
                                              : begin_new(campaign, error);
    if (campaign->shards > 0)
        campaign->options.replays = 0;
    take_limits(campaign);
    return code == OK ? select_scenarios(&campaign->options, &campaign->selection, error) : code;
}

static int run_selected(struct campaign *campaign)
{
    struct error error = {0};
    if (campaign->selection.count == 0) {
        error_set(&error, ERROR_USAGE, "nothing to run: there is no scenario%s",
                  campaign->options.filter != NULL ? " that matches the filter" : "");
        return (int)status_of_error(&error);
    }
    int status = select_check(&campaign->selection);
    if (status != STATUS_PASS)
        return status;
    enum error_code code = open_session(campaign, &error);
    if (code == OK)
        code = run_session(campaign, &error);
    enum exit_status worst = code == OK ? STATUS_PASS : status_of_error(&error);
    if (campaign->folder.text[0] != '\0' && campaign->out[1] != NULL)
        worst = status_of_output(campaign->out[1], campaign->options.tap, worst);
    return (int)(worst == STATUS_USAGE ? worst : status_worst(worst, campaign_status(campaign)));
}

static void release(struct campaign *campaign)
{
    campaign_release_tasks(campaign);
    campaign_release_subjects(campaign);
    campaign_release_groups(campaign);
    campaign_journal_close(&campaign->journal);
    selection_release(&campaign->selection);
    number_set_release(&campaign->numbers);
    for (size_t i = 0; campaign->owns_paths && i < campaign->options.path_count; i++)
        free(campaign->options.path[i]);
    if (campaign->owns_paths)
        free(campaign->options.path);
    if (campaign->out[1] != NULL)
        fclose(campaign->out[1]);
    json_decref(campaign->stored);
}

int verb_campaign(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...\n--merge SHARD...",
        "Draws many plans for what the scenarios test (protocol, program, arguments, environment, "
        "ranks, claims), runs each, and tells what it finds by groups of failures that are the "
        "same. The scenarios' own plans and what they expect are not looked at: a campaign looks "
        "for violations. TAP on standard output.\vStrategies: random draws without end, "
        "systematic goes to every place once, guided goes on from runs that brought a new "
        "situation of a claim. OUT/<id> holds campaign.jsonl (a line a run), "
        "campaign.json (the whole) and the folders of runs that failed. --resume goes on after "
        "anything that ended it. A canary that must fail runs first; if it does not, the campaign "
        "ends with status 3. --shard and --merge share a campaign out to several machines, --slurm "
        "has Slurm do it. Exit status: 0 nothing found, 1 violation, 2 unknown or nothing was "
        "tested, 3 harness error, 64 usage; a run of which not all took place is counted as "
        "vacuous and is no failure."};
    static struct campaign campaign;
    struct error error = {0};
    campaign.journal.file = -1;
    options_parse(&campaign.options, FOR_CAMPAIGN, &help, argc, argv);
    campaign.options.all_wires = true;
    campaign.options.no_stacks = true; /* they come with the replays */
    int status =
        begin(&campaign, &error) != OK ? (int)status_of_error(&error) : run_selected(&campaign);
    int interrupted = campaign.pool.interrupted;
    release(&campaign);
    if (interrupted != 0)
        process_end_like(interrupted);
    return status;
}
