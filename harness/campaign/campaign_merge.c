/* `--merge`: the shards of a campaign, put together; see campaign.h. The shards stay as they are.
 */
#include "campaign/campaign.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_BYTES 512
#define MISSING_SHOWN 8

/* A folder that is named, and what it says of itself. */
struct shard {
    const char *folder; /* borrowed */
    json_t *root;       /* owned */
    int number, of;
};

/* --- which they are --------------------------------------------------------------------------- */

static enum error_code open_shard(const char *folder, struct shard *shard, struct error *error)
{
    struct options share = {0};
    shard->folder = folder;
    enum error_code code = campaign_fetch(folder, &shard->root, error);
    const json_t *asked = json_object_get(shard->root, "asked");
    const char *text = json_string_value(json_object_get(asked, "shard"));
    if (code != OK)
        return code;
    if (text == NULL)
        return error_set(error, ERROR_USAGE, "--merge %s: is no shard; one is made by --shard I/N",
                         folder);
    if (shard_parse(text, &share, NULL) != OK)
        return error_set(error, ERROR_FORMAT, "%s/campaign.json: field \"shard\" is not I/N",
                         folder);
    shard->number = share.shard;
    shard->of = share.shards;
    return OK;
}

/* The parts of a campaign that make it this one. Scenarios are compared by what they say. */
static enum error_code compare_shards(const struct shard *a, const struct shard *b,
                                      struct error *error)
{
    static const char *const fields[] = {"strategy", "seed", "runs", "engine", "ranks"};
    const json_t *left = json_object_get(a->root, "asked");
    const json_t *right = json_object_get(b->root, "asked");
    const json_t *ours = json_object_get(a->root, "subjects");
    const json_t *theirs = json_object_get(b->root, "subjects");
    const char *differs = NULL;
    for (size_t i = 0; i < sizeof fields / sizeof fields[0]; i++) {
        const json_t *one = json_object_get(left, fields[i]);
        const json_t *other = json_object_get(right, fields[i]);
        if (one != other && !json_equal(one, other))
            differs = fields[i];
    }
    bool same = json_array_size(ours) == json_array_size(theirs);
    for (size_t i = 0; same && i < json_array_size(ours); i++)
        same = json_equal(json_object_get(json_array_get(ours, i), "identity"),
                          json_object_get(json_array_get(theirs, i), "identity"));
    if (a->of != b->of)
        differs = "shard";
    else if (!same)
        differs = "scenarios";
    if (differs == NULL)
        return OK;
    return error_set(error, ERROR_USAGE,
                     "--merge: %s and %s are of different campaigns: they differ in \"%s\" "
                     "(shards %d/%d and %d/%d)",
                     a->folder, b->folder, differs, a->number, a->of, b->number, b->of);
}

/* One that was cut off has runs left to do. */
static enum error_code check_is_over(const struct shard *shard, struct error *error)
{
    enum campaign_end end =
        campaign_end_from_word(json_string_value(json_object_get(shard->root, "end")));
    if (end == CAMPAIGN_ENDS)
        return error_set(error, ERROR_FORMAT, "%s/campaign.json: field \"end\" is missing or none",
                         shard->folder);
    if (end != CAMPAIGN_GOES_ON && end <= CAMPAIGN_FAILURE)
        return OK;
    return error_set(error, ERROR_USAGE,
                     "--merge: shard %d/%d did not come to its end (%s); to go on with it: "
                     "faultline campaign --resume %s",
                     shard->number, shard->of, campaign_end_word(end), shard->folder);
}

static enum error_code check_all_there(const struct shard *shard, size_t count, struct error *error)
{
    char text[WORDS_BYTES] = "";
    size_t missing = 0;
    for (int number = 1; number <= shard->of; number++) {
        size_t i = 0, used = strlen(text);
        while (i < count && shard[i].number != number)
            i++;
        if (i == count && missing++ < MISSING_SHOWN)
            snprintf(text + used, sizeof text - used, "%s%d/%d", used > 0 ? ", " : "", number,
                     shard->of);
    }
    if (missing == 0)
        return OK;
    return error_set(error, ERROR_USAGE, "--merge: %zu of %d shards %s missing: %s%s", missing,
                     shard->of, missing == 1 ? "is" : "are", text,
                     missing > MISSING_SHOWN ? ", ..." : "");
}

static enum error_code check_shards(const struct shard *shard, size_t count, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 1; code == OK && i < count; i++)
        code = compare_shards(&shard[0], &shard[i], error);
    for (size_t i = 0; code == OK && i < count; i++)
        for (size_t k = 0; code == OK && k < i; k++)
            if (shard[i].number == shard[k].number)
                code = error_set(error, ERROR_USAGE, "--merge: %s and %s are both shard %d/%d",
                                 shard[k].folder, shard[i].folder, shard[i].number, shard[i].of);
    if (code == OK)
        code = check_all_there(shard, count, error);
    for (size_t i = 0; code == OK && i < count; i++)
        code = check_is_over(&shard[i], error);
    return code;
}

/* What stopped it: the worst of what stopped its shards. */
static void take_end(struct campaign *campaign, const json_t *root)
{
    enum campaign_end end = campaign_end_from_word(json_string_value(json_object_get(root, "end")));
    double seconds = json_number_value(json_object_get(root, "seconds"));
    if (end > campaign->last)
        campaign->last = end;
    if (seconds > campaign->before_s)
        campaign->before_s = seconds;
}

enum error_code campaign_load_shards(struct campaign *campaign, struct error *error)
{
    size_t count = campaign->options.path_count;
    struct shard *shard = memory_new(count, sizeof *shard);
    enum error_code code = OK;
    campaign->merged = campaign->options.path;
    campaign->merged_count = count;
    campaign->options.path_count = 0;
    for (size_t i = 0; code == OK && i < count; i++)
        code = open_shard(campaign->merged[i], &shard[i], error);
    if (code == OK)
        code = check_shards(shard, count, error);
    for (size_t i = 0; code == OK && i < count; i++)
        take_end(campaign, shard[i].root);
    if (code == OK) {
        campaign->stored = json_incref(shard->root);
        code = campaign_take_asked(campaign, shard->folder, error);
    }
    for (size_t i = 0; i < count; i++)
        json_decref(shard[i].root);
    free(shard);
    return code;
}

/* --- what they have done ---------------------------------------------------------------------- */

/* Where plans have a last one, an index that means another place in another shard would leave a
 * place out, and "complete" would not be true. */
static enum error_code compare_plans(const struct campaign *campaign, size_t number,
                                     const char *folder, const struct survey *theirs,
                                     struct error *error)
{
    const struct subject *subject = &campaign->subject[number];
    const struct strategy *strategy = campaign->strategy;
    bool same = strategy->count(theirs) == subject->plans;
    enum error_code code = OK;
    for (uint64_t i = 0; code == OK && same && i < subject->plans; i++) {
        char ours[STRATEGY_TEXT_BYTES] = "", other[STRATEGY_TEXT_BYTES] = "";
        struct plan left, right;
        plan_init(&left);
        plan_init(&right);
        code = strategy->make(&subject->survey, campaign->seed, i, &left, ours, error);
        if (code == OK)
            code = strategy->make(theirs, campaign->seed, i, &right, other, error);
        same = code != OK || strcmp(ours, other) == 0;
        plan_release(&left);
        plan_release(&right);
    }
    if (code != OK || same)
        return code;
    return error_set(error, ERROR_USAGE,
                     "--merge: the runs without faults of subject %zu came out differently in %s "
                     "and %s, so their plans are not the same; make the shards with --surveys",
                     number + 1, campaign->merged[0], folder);
}

static enum error_code compare_surveys(const struct campaign *campaign, const char *folder,
                                       struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < campaign->subject_count; i++) {
        const struct subject *subject = &campaign->subject[i];
        struct survey theirs;
        struct path path;
        if (!subject->surveyed || subject->plans == STRATEGY_ENDLESS)
            continue;
        survey_init(&theirs);
        code = path_format(&path, error, "%s/survey/%zu", folder, i + 1);
        if (code == OK)
            code = survey_take(path.text, &subject->wires, &theirs, error);
        theirs.restart_ranks = subject->scenario.restart_ranks;
        if (code == OK)
            code = compare_plans(campaign, i, folder, &theirs, error);
        survey_release(&theirs);
    }
    return code;
}

enum error_code campaign_merge(struct campaign *campaign, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 1; code == OK && i < campaign->merged_count; i++)
        code = compare_surveys(campaign, campaign->merged[i], error);
    for (size_t i = 0; code == OK && i < campaign->merged_count; i++) {
        struct campaign_journal_place place = {0};
        code = campaign_import(campaign, campaign->merged[i], &place, error);
    }
    return code;
}
