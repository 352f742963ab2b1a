/* One of several campaigns that share the plans of one, and how its runs are taken over; see
 * campaign.h. The subject and the index of a plan alone decide to which shard it belongs, so every
 * shard knows its plans without knowing of the others. */
#include "campaign/campaign.h"

#include "base/regular_file.h"
#include "base/whole_file.h"
#include "decisions/decisions.h"
#include "reports/results/tap.h"
#include "system/tool.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define WORDS_BYTES 512
#define LINE_BYTES 8192

static const char *const once_folders[] = {"reference", "survey", "canary"};
#define ONCE_FOLDERS (sizeof once_folders / sizeof once_folders[0])

void campaign_shard_text(const struct campaign *campaign, char text[CAMPAIGN_SHARD_BYTES])
{
    text[0] = '\0';
    if (campaign->shards > 0)
        snprintf(text, CAMPAIGN_SHARD_BYTES, "%d/%d", campaign->shard, campaign->shards);
}

/* The subject counts, too: else one shard would have the first plans of all. */
bool campaign_owns_plan(const struct campaign *campaign, size_t subject, uint64_t index)
{
    return campaign->shards == 0 ||
           (subject + index) % (uint64_t)campaign->shards == (uint64_t)campaign->shard - 1;
}

/* --- surveys of another campaign -------------------------------------------------------------- */

enum error_code campaign_link_surveys(const char *folder, const char *from, struct error *error)
{
    struct path whole, place, target;
    enum error_code code = path_absolute(from, &whole, error);
    for (size_t i = 0; code == OK && i < ONCE_FOLDERS; i++) {
        code = path_format(&place, error, "%s/%s", folder, once_folders[i]);
        if (code == OK)
            code = path_format(&target, error, "%s/%s", whole.text, once_folders[i]);
        if (code == OK && symlink(target.text, place.text) != 0)
            code = error_set(error, ERROR_IO, "%s: %s", place.text, strerror(errno));
    }
    return code;
}

/* Through links: what --surveys has made. */
enum error_code campaign_copy_surveys(const struct campaign *campaign, struct error *error)
{
    char words[WORDS_BYTES];
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < ONCE_FOLDERS; i++) {
        struct path from;
        code = path_format(&from, error, "%s/%s", campaign->merged[0], once_folders[i]);
        const char *const copy[] = {"cp", "-RH", "--", from.text, campaign->folder.text, NULL};
        if (code == OK)
            code = tool_run(copy, words, sizeof words, error);
    }
    return code;
}

enum error_code campaign_check_surveyed(const struct campaign *campaign, struct error *error)
{
    json_t *stored;
    const char *folder = campaign->options.surveys;
    enum error_code code = campaign_fetch(folder, &stored, error);
    if (code == OK)
        code = campaign_compare(campaign, folder, stored, error);
    json_decref(stored);
    return code;
}

enum error_code campaign_check_surveys(const struct campaign *campaign, struct error *error)
{
    for (size_t i = 0; i < campaign->job_count; i++)
        if (campaign->job[i]->state != JOB_DONE)
            return error_set(error, ERROR_USAGE,
                             "--surveys %s: this run is missing there, or came to a harness error: "
                             "%s",
                             campaign->options.surveys, campaign->job[i]->folder.text);
    return OK;
}

/* --- runs of a shard -------------------------------------------------------------------------- */

struct import {
    struct campaign *campaign;
    const char *folder; /* of the shard */
};

/* The lines of its words that say where it is. */
static enum error_code report_place(const char *folder, struct error *error)
{
    static const char repro[] = "  repro: ", report[] = "  report: ";
    char line[LINE_BYTES], text[LINE_BYTES];
    struct path path;
    struct whole_file file;
    enum error_code code = path_format(&path, error, "%s/tap", folder);
    FILE *in = code == OK ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL) : NULL;
    if (in == NULL)
        return code;
    code = whole_file_begin(&file, path.text, WHOLE_OURS, error);
    while (code == OK && fgets(line, sizeof line, in) != NULL) {
        if (strncmp(line, repro, strlen(repro)) == 0) {
            const char *verb = path_holds(folder, DECISIONS_FILE) ? "replay" : "check";
            snprintf(text, sizeof text, "faultline %s %s", verb, folder);
            tap_string(file.out, "repro", text);
        } else if (strncmp(line, report, strlen(report)) == 0) {
            snprintf(text, sizeof text, "%s/report.html", folder);
            tap_string(file.out, "report", text);
        } else {
            fputs(line, file.out);
        }
    }
    fclose(in);
    return code == OK ? whole_file_end(&file, code, error) : code;
}

/* A folder that a campaign which was killed has left under this number has no line in the journal.
 */
static enum error_code copy_run(const struct import *import, const char *from, const char *to,
                                struct error *error)
{
    char words[WORDS_BYTES];
    struct path source, target;
    enum error_code code = path_format(&source, error, "%s/%s", import->folder, from);
    if (code == OK)
        code = path_format(&target, error, "%s/%s", import->campaign->folder.text, to);
    if (code == OK)
        code = path_remove(target.text, error);
    const char *const copy[] = {"cp", "-RP", "--", source.text, target.text, NULL};
    if (code == OK)
        code = tool_run(copy, words, sizeof words, error);
    return code == OK ? report_place(target.text, error) : code;
}

static enum error_code import_run(struct import *import, struct campaign_record *record,
                                  struct error *error)
{
    struct campaign *campaign = import->campaign;
    char kept[sizeof record->folder];
    enum error_code code = OK;
    campaign_next_number(campaign);
    record->number = campaign->number;
    memcpy(kept, record->folder, sizeof kept);
    record->folder[0] = '\0';
    if (strspn(kept, "0123456789") != strlen(kept))
        return error_set(error, ERROR_FORMAT, "field \"folder\" of a run is \"%s\", no number",
                         kept);
    if (kept[0] != '\0' && campaign_keeps(campaign, record)) {
        snprintf(record->folder, sizeof record->folder, "%" PRIu64, record->number);
        code = copy_run(import, kept, record->folder, error);
    }
    return code == OK ? campaign_take_record(campaign, record, error) : code;
}

/* What the shard was given when it began stands in its journal, too. */
static enum error_code import_record(void *context, const struct campaign_record *record,
                                     struct error *error)
{
    struct import *import = context;
    struct campaign *campaign = import->campaign;
    struct campaign_record own = *record;
    if (record->of != RECORD_OF_RUN)
        return OK;
    if (record->subject >= campaign->subject_count)
        return error_set(error, ERROR_FORMAT, "there are %zu subjects, and this run is of %zu",
                         campaign->subject_count, record->subject + 1);
    struct number_set *done = &campaign->subject[record->subject].done_before;
    if (number_set_has(done, record->index))
        return OK;
    enum error_code code = number_set_add(done, record->index, error);
    if (code == OK)
        campaign->begun++;
    return code == OK ? import_run(import, &own, error) : code;
}

enum error_code campaign_import(struct campaign *campaign, const char *folder,
                                struct campaign_journal_place *place, struct error *error)
{
    struct path journal;
    struct import import = {.campaign = campaign, .folder = folder};
    enum error_code code = path_format(&journal, error, "%s/campaign.jsonl", folder);
    return code == OK ? campaign_journal_follow(journal.text, place, import_record, &import, error)
                      : code;
}
