/* campaign.json: what a campaign is, and what has come of it; see campaign.h. Written when it
 * begins, so that it can be gone on with after anything, and when a session ends. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "system/json_text.h"
#include "system/wilson.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER_BYTES 32

/* --- writing ---------------------------------------------------------------------------------- */

/* NULL where nothing is said. */
static json_t *texts_if_any(char *const *text, size_t count)
{
    return count > 0 ? json_texts(text, count) : NULL;
}

/* What makes it this subject and no other. */
static json_t *pack_identity(const struct scenario *scenario)
{
    return json_pack(
        "{s:o, s:o, s:o, s:o, s:i, s:o, s:f, s:o*, s:s*, s:o*, s:s*, s:s*, s:s*, s:o*, s:o*, s:o*, "
        "s:o*, s:o*}",
        "protocol", json_text(scenario->protocol), "program", json_text(scenario->program),
        "arguments", json_texts(scenario->argument, scenario->argument_count), "environment",
        json_texts(scenario->environment, scenario->environment_count), "ranks", scenario->ranks,
        "claims", json_texts(scenario->claim, scenario->claim_count), "timeout_s",
        scenario->timeout_s, "library", json_text(scenario->library), "helpers", scenario->helpers,
        "result", json_text(scenario->result), "engine", scenario->engine, "nodes", scenario->nodes,
        "stores", scenario->stores, "files", texts_if_any(scenario->files, scenario->file_count),
        "setup", texts_if_any(scenario->setup, scenario->setup_count), "restart_ranks",
        scenario->restart_ranks > 0 ? json_integer(scenario->restart_ranks) : NULL,
        "restart_arguments",
        scenario->restart_has_arguments
            ? json_texts(scenario->restart_argument, scenario->restart_argument_count)
            : NULL,
        "restart_environment",
        texts_if_any(scenario->restart_environment, scenario->restart_environment_count));
}

static json_t *pack_coverage(const struct subject *subject)
{
    json_t *array = json_array();
    for (size_t i = 0; i < claim_count; i++)
        if (subject->asked[i])
            json_array_append_new(array, json_pack("{s:s, s:I}", "claim", claims[i].id, "runs",
                                                   (json_int_t)subject->arose_in[i]));
    return array;
}

static json_t *pack_subject(const struct campaign *campaign, const struct subject *subject)
{
    char bounds[STRATEGY_TEXT_BYTES] = "";
    bool endless = subject->plans == STRATEGY_ENDLESS;
    if (subject->surveyed)
        campaign->strategy->bounds(&subject->survey, bounds);
    return json_pack("{s:o, s:o, s:i, s:b, s:o, s:I, s:b, s:s, s:o}", "identity",
                     pack_identity(&subject->scenario), "file", json_text(subject->scenario.file),
                     "line", subject->scenario.line, "surveyed", subject->surveyed, "plans",
                     endless ? json_null() : json_integer((json_int_t)subject->plans), "runs",
                     (json_int_t)subject->runs, "complete",
                     subject->surveyed && !endless && subject->runs >= subject->plans, "bounds",
                     bounds, "coverage", pack_coverage(subject));
}

static json_t *pack_subjects(const struct campaign *campaign)
{
    json_t *array = json_array();
    for (size_t i = 0; i < campaign->subject_count; i++)
        json_array_append_new(array, pack_subject(campaign, &campaign->subject[i]));
    return array;
}

static json_t *pack_replays(const struct group *group)
{
    if (group->replays == 0)
        return json_null();
    struct wilson rate = wilson_interval(group->replays_same, group->replays);
    return json_pack("{s:I, s:I, s:f, s:f, s:s*}", "asked", (json_int_t)group->replays, "same",
                     (json_int_t)group->replays_same, "low", rate.low, "high", rate.high, "mpiexec",
                     group->mpiexec[0] != '\0' ? group->mpiexec : NULL);
}

static json_t *pack_groups(const struct campaign *campaign)
{
    json_t *array = json_array();
    for (size_t i = 0; i < campaign->group_count; i++) {
        const struct group *group = &campaign->group[i];
        json_array_append_new(
            array,
            json_pack("{s:s, s:s, s:s, s:I, s:I, s:I, s:s, s:s, s:o}", "fingerprint",
                      group->fingerprint.text, "verdict", verdict_text(group->verdict), "claim",
                      group->claim, "count", (json_int_t)group->count, "first",
                      (json_int_t)group->first, "subject", (json_int_t)group->subject + 1, "plan",
                      group->plan, "folder", group->folder, "replays", pack_replays(group)));
    }
    return array;
}

static json_t *pack_canaries(const struct campaign *campaign)
{
    json_t *array = json_array();
    for (size_t i = 0; i < campaign->canary_count; i++) {
        const struct canary *canary = &campaign->canary[i];
        json_array_append_new(array, json_pack("{s:o, s:s, s:s, s:b, s:b}", "protocol",
                                               json_text(canary->protocol), "name",
                                               canary->run->name, "claim", canary->run->violates,
                                               "done", canary->job->state == JOB_DONE, "found",
                                               canary_failed_as_expected(canary)));
    }
    return array;
}

static json_t *pack_verdicts(const struct campaign *campaign)
{
    json_t *object = json_object();
    for (int i = 0; i < VERDICT_COUNT; i++)
        json_object_set_new(object, verdict_text((enum verdict)i),
                            json_integer((json_int_t)campaign->verdict[i]));
    return object;
}

static json_t *pack_asked(const struct campaign *campaign)
{
    const struct options *options = &campaign->options;
    char seed[NUMBER_BYTES], shard[CAMPAIGN_SHARD_BYTES];
    campaign_shard_text(campaign, shard);
    snprintf(seed, sizeof seed, "%" PRIu64, campaign->seed);
    return json_pack("{s:s, s:s, s:I, s:f, s:b, s:i, s:o?, s:o, s:f, s:s*, s:i, s:s*}", "strategy",
                     campaign->strategy->name, "seed", seed, "runs",
                     (json_int_t)campaign->runs_asked, "budget_s", campaign->budget_s,
                     "until_failure", options->until_failure, "ranks", options->ranks, "filter",
                     json_text(options->filter), "scenarios",
                     json_texts(options->path, options->path_count), "timeout_s",
                     options->timeout_s, "engine", options->engine, "trace_limit_mb",
                     options->trace_mb, "shard", shard[0] != '\0' ? shard : NULL);
}

static json_t *pack(const struct campaign *campaign)
{
    double seconds = campaign_elapsed_s(campaign);
    bool complete = campaign->end == CAMPAIGN_COMPLETE && campaign->shards == 0;
    return json_pack("{s:i, s:s, s:o, s:b, s:s, s:b, s:s, s:I, s:f, s:f, s:o, s:o, s:o, s:o}",
                     "version", CAMPAIGN_VERSION, "faultline", FAULTLINE_VERSION, "asked",
                     pack_asked(campaign), "going", campaign->end == CAMPAIGN_GOES_ON, "end",
                     campaign_end_word(campaign->end), "complete", complete, "why", campaign->why,
                     "runs", (json_int_t)campaign->runs, "seconds", seconds, "runs_per_s",
                     seconds > 0 ? (double)campaign->runs / seconds : 0.0, "verdicts",
                     pack_verdicts(campaign), "canaries", pack_canaries(campaign), "groups",
                     pack_groups(campaign), "subjects", pack_subjects(campaign));
}

enum error_code campaign_store(const struct campaign *campaign, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/campaign.json", campaign->folder.text);
    if (code != OK)
        return code;
    json_t *root = pack(campaign);
    code = json_store(root, path.text, 1, error);
    json_decref(root);
    return code;
}

/* --- reading ---------------------------------------------------------------------------------- */

static enum error_code check_version(const struct path *path, const json_t *root,
                                     struct error *error)
{
    const json_t *version = json_object_get(root, "version");
    const char *command = json_string_value(json_object_get(root, "faultline"));
    if (!json_is_integer(version) || command == NULL)
        return error_set(error, ERROR_FORMAT, "%s: field \"version\" or \"faultline\" is missing",
                         path->text);
    if (json_integer_value(version) != CAMPAIGN_VERSION || strcmp(command, FAULTLINE_VERSION) != 0)
        return error_set(error, ERROR_VERSION,
                         "%s: is of version %lld of Faultline %.32s, this command goes on with %d "
                         "of %s: another version may draw other plans",
                         path->text, (long long)json_integer_value(version), command,
                         CAMPAIGN_VERSION, FAULTLINE_VERSION);
    return OK;
}

/* An option may be left out, or say the same again. */
static enum error_code take_strategy(struct campaign *campaign, const json_t *asked,
                                     struct error *error)
{
    const char *name = json_string_value(json_object_get(asked, "strategy"));
    const char *given = campaign->options.strategy;
    if (name == NULL || strategy_find(name) == NULL)
        return error_set(error, ERROR_FORMAT, "field \"strategy\" is missing or unknown");
    if (given != NULL && strcmp(given, name) != 0)
        return error_set(error, ERROR_USAGE,
                         "--strategy %s: the campaign that is resumed has the strategy %s", given,
                         name);
    campaign->strategy = strategy_find(name);
    return OK;
}

static enum error_code take_seed(struct campaign *campaign, const json_t *asked,
                                 struct error *error)
{
    const char *text = json_string_value(json_object_get(asked, "seed"));
    if (text == NULL || seed_parse(text, &campaign->seed, NULL) != OK)
        return error_set(error, ERROR_FORMAT, "field \"seed\" is missing or no number");
    if (campaign->options.seed_given && campaign->options.seed != campaign->seed)
        return error_set(error, ERROR_USAGE,
                         "--seed %" PRIu64 ": the campaign that is resumed has the seed %s",
                         campaign->options.seed, text);
    return OK;
}

/* NULL: as the scenarios say. */
static enum error_code take_engine(struct campaign *campaign, const json_t *asked,
                                   struct error *error)
{
    struct options *own = &campaign->options;
    const char *then = json_string_value(json_object_get(asked, "engine"));
    if (own->engine != NULL && (then == NULL || strcmp(own->engine, then) != 0))
        return error_set(error, ERROR_USAGE, "--engine %s: the campaign that is resumed %s%s",
                         own->engine, then != NULL ? "has the engine " : "was given no engine",
                         then != NULL ? then : "");
    own->engine = then;
    return OK;
}

/* Scenarios that are named again are compared by what they say; see campaign_compare. */
static enum error_code take_paths(struct campaign *campaign, const json_t *asked,
                                  struct error *error)
{
    const json_t *paths = json_object_get(asked, "scenarios");
    struct options *own = &campaign->options;
    if (own->path_count > 0)
        return OK;
    own->path = memory_new(json_array_size(paths), sizeof(char *));
    campaign->owns_paths = true;
    for (size_t i = 0; i < json_array_size(paths); i++) {
        own->path[own->path_count] = json_text_value(json_array_get(paths, i));
        if (own->path[own->path_count++] == NULL)
            return error_set(error, ERROR_FORMAT, "field \"scenarios\" is not a list of texts");
    }
    return OK;
}

/* Shards that are merged are all there is. */
static enum error_code take_shard(struct campaign *campaign, const json_t *asked,
                                  struct error *error)
{
    struct options then = {0};
    const char *text = json_string_value(json_object_get(asked, "shard"));
    if (campaign->options.merge)
        return OK;
    if (text != NULL && shard_parse(text, &then, NULL) != OK)
        return error_set(error, ERROR_FORMAT, "field \"shard\" is not I/N");
    if (campaign->shards > 0 && (campaign->shard != then.shard || campaign->shards != then.shards))
        return error_set(error, ERROR_USAGE, "--shard %d/%d: the campaign that is resumed is %s%s",
                         campaign->shard, campaign->shards, text != NULL ? "shard " : "no shard",
                         text != NULL ? text : "");
    campaign->shard = then.shard;
    campaign->shards = then.shards;
    return OK;
}

static enum error_code take_asked(struct campaign *campaign, const json_t *asked,
                                  struct error *error)
{
    struct options *own = &campaign->options;
    enum error_code code = take_strategy(campaign, asked, error);
    if (code == OK)
        code = take_shard(campaign, asked, error);
    if (code == OK)
        code = take_seed(campaign, asked, error);
    if (code == OK)
        code = take_engine(campaign, asked, error);
    if (code == OK)
        code = take_paths(campaign, asked, error);
    own->seed = campaign->seed;
    if (own->runs == 0)
        campaign->runs_asked = (uint64_t)json_integer_value(json_object_get(asked, "runs"));
    if (own->budget_s == 0)
        campaign->budget_s = json_number_value(json_object_get(asked, "budget_s"));
    own->until_failure |= json_is_true(json_object_get(asked, "until_failure"));
    if (own->ranks == 0)
        own->ranks = (int)json_integer_value(json_object_get(asked, "ranks"));
    if (own->filter == NULL)
        own->filter = json_string_value(json_object_get(asked, "filter"));
    if (own->timeout_s == 0)
        own->timeout_s = json_number_value(json_object_get(asked, "timeout_s"));
    if (own->trace_mb == 0)
        own->trace_mb = (int)json_integer_value(json_object_get(asked, "trace_limit_mb"));
    return code;
}

enum error_code campaign_fetch(const char *folder, json_t **root, struct error *error)
{
    struct path path;
    *root = NULL;
    enum error_code code = path_format(&path, error, "%s/campaign.json", folder);
    if (code != OK)
        return code;
    if (!path_exists(path.text))
        return error_set(error, ERROR_USAGE,
                         "%s: there is no campaign.json; a campaign is OUT/<id>", folder);
    code = json_fetch(path.text, root, error);
    return code == OK ? check_version(&path, *root, error) : code;
}

enum error_code campaign_take_asked(struct campaign *campaign, const char *folder,
                                    struct error *error)
{
    struct error inner = {0};
    enum error_code code = take_asked(campaign, json_object_get(campaign->stored, "asked"), &inner);
    return code == OK ? OK : error_set(error, code, "%s/campaign.json: %.400s", folder, inner.text);
}

enum error_code campaign_load(struct campaign *campaign, struct error *error)
{
    const char *folder = campaign->options.resume;
    enum error_code code = path_format(&campaign->folder, error, "%s", folder);
    if (code == OK)
        code = campaign_fetch(folder, &campaign->stored, error);
    return code == OK ? campaign_take_asked(campaign, folder, error) : code;
}

enum error_code campaign_compare(const struct campaign *campaign, const char *folder,
                                 const json_t *stored, struct error *error)
{
    const json_t *subjects = json_object_get(stored, "subjects");
    bool same = json_array_size(subjects) == campaign->subject_count;
    for (size_t i = 0; same && i < campaign->subject_count; i++) {
        const struct scenario *scenario = &campaign->subject[i].scenario;
        json_t *now = pack_identity(scenario);
        same = json_equal(now, json_object_get(json_array_get(subjects, i), "identity"));
        json_decref(now);
        if (!same)
            return error_set(error, ERROR_USAGE,
                             "%s: these are other scenarios: its subject %zu is not %s "
                             "under %s as %s:%d has it",
                             folder, i + 1, scenario->program, scenario->protocol, scenario->file,
                             scenario->line);
    }
    if (!same)
        return error_set(error, ERROR_USAGE,
                         "%s: these are other scenarios: it has %zu subjects, they have %zu",
                         folder, json_array_size(subjects), campaign->subject_count);
    return OK;
}
