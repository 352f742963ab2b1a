/* See stored_set.h. */
#include "reports/page/stored_set.h"

#include "base/memory.h"
#include "system/json_text.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

const char *stored_text(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    return text != NULL ? text : "";
}

enum stored_end stored_end_of_verdict(enum verdict verdict)
{
    static const enum stored_end ends[VERDICT_COUNT] = {
        [VERDICT_PASS] = STORED_PASS,           [VERDICT_VACUOUS] = STORED_UNDECIDED,
        [VERDICT_UNKNOWN] = STORED_UNDECIDED,   [VERDICT_HARNESS_ERROR] = STORED_HARNESS,
        [VERDICT_VIOLATION] = STORED_VIOLATION,
    };
    return verdict < VERDICT_COUNT ? ends[verdict] : STORED_HARNESS;
}

enum stored_end stored_end_of(const struct stored_run *run)
{
    return stored_end_of_verdict(run->verdict.verdict);
}

/* --- folders ---------------------------------------------------------------------------------- */

static bool is_folder(const char *folder, const char *name)
{
    struct path path;
    struct stat status;
    return path_format(&path, NULL, "%s/%s", folder, name) == OK &&
           lstat(path.text, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_number(const char *name)
{
    size_t digits = strspn(name, "0123456789");
    return digits > 0 && digits < 10 && name[digits] == '\0' && name[0] != '0';
}

static int is_run_name(const struct dirent *entry)
{
    return is_number(entry->d_name);
}

static int is_visible(const struct dirent *entry)
{
    return entry->d_name[0] != '.';
}

static int by_number(const struct dirent **left, const struct dirent **right)
{
    long a = strtol((*left)->d_name, NULL, 10), b = strtol((*right)->d_name, NULL, 10);
    return (a > b) - (a < b);
}

static int by_name(const struct dirent **left, const struct dirent **right)
{
    return strcmp((*left)->d_name, (*right)->d_name);
}

static void free_entries(struct dirent **entries, int count)
{
    for (int i = 0; i < count; i++)
        free(entries[i]);
    free(entries);
}

static bool holds_run(const char *folder)
{
    struct dirent **entries;
    bool found = false;
    int count = scandir(folder, &entries, is_run_name, NULL);
    for (int i = 0; i < count; i++)
        found |= is_folder(folder, entries[i]->d_name);
    if (count >= 0)
        free_entries(entries, count);
    return found;
}

bool stored_set_is(const char *folder)
{
    return path_holds(folder, "results.json") || path_holds(folder, "campaign.json") ||
           path_holds(folder, "campaign.jsonl") || holds_run(folder);
}

enum error_code stored_set_names(const char *folder, char names[STORED_SETS_MOST][NAME_MAX + 1],
                                 size_t *count, size_t *all, struct error *error)
{
    struct dirent **entries;
    size_t found = 0;
    int entry_count = scandir(folder, &entries, is_visible, by_name);
    if (entry_count < 0)
        return error_set(error, errno == ENOENT || errno == ENOTDIR ? ERROR_USAGE : ERROR_IO,
                         "%s: %s", folder, strerror(errno));
    *count = *all = 0;
    for (int i = 0; i < entry_count; i++) {
        struct path path;
        bool is_set = is_folder(folder, entries[i]->d_name) &&
                      path_format(&path, NULL, "%s/%s", folder, entries[i]->d_name) == OK &&
                      stored_set_is(path.text);
        if (is_set)
            entries[found++] = entries[i];
        else
            free(entries[i]);
    }
    *all = found;
    for (size_t i = found > STORED_SETS_MOST ? found - STORED_SETS_MOST : 0; i < found; i++)
        memcpy(names[(*count)++], entries[i]->d_name, strlen(entries[i]->d_name) + 1);
    free_entries(entries, (int)found);
    return OK;
}

/* --- files ------------------------------------------------------------------------------------ */

/* NULL: there is none, or it is no JSON, which is counted. */
static json_t *load(struct stored_set *set, const char *folder, const char *name)
{
    if (!path_holds(folder, name))
        return NULL;
    json_t *root = json_fetch_from(folder, name);
    set->damaged += root == NULL;
    return root;
}

/* A campaign has counted all of its runs; it keeps the folders of some. */
static bool count_campaign(struct stored_set *set)
{
    const json_t *verdicts = json_object_get(set->campaign, "verdicts");
    for (int i = 0; i < VERDICT_COUNT; i++)
        set->count[stored_end_of_verdict((enum verdict)i)] +=
            (uint64_t)json_integer_value(json_object_get(verdicts, verdict_text((enum verdict)i)));
    return verdicts != NULL;
}

static void count_runs(struct stored_set *set)
{
    for (size_t i = 0; i < set->run_count; i++)
        set->count[stored_end_of(&set->run[i])]++;
}

static enum error_code begin(const char *folder, const char *name, struct stored_set *set,
                             struct error *error)
{
    *set = (struct stored_set){0};
    snprintf(set->name, sizeof set->name, "%s", name);
    enum error_code code = path_format(&set->folder, error, "%s", folder);
    if (code == OK)
        set->campaign = load(set, folder, "campaign.json");
    return code;
}

static void read_run(struct stored_set *set, const char *name)
{
    struct path folder;
    struct stored_run *run = &set->run[set->run_count];
    if (path_format(&folder, NULL, "%s/%s", set->folder.text, name) != OK)
        return;
    *run = (struct stored_run){.number = (int)strtol(name, NULL, 10),
                               .run = load(set, folder.text, "run.json")};
    set->damaged += stored_verdict_load(folder.text, &run->verdict, NULL) != OK;
    set->run_count++;
}

static enum error_code read_runs(struct stored_set *set, struct error *error)
{
    struct dirent **entries;
    int count = scandir(set->folder.text, &entries, is_run_name, by_number);
    if (count < 0)
        return error_set(error, ERROR_IO, "%s: %s", set->folder.text, strerror(errno));
    set->run = memory_new((size_t)count, sizeof *set->run);
    for (int i = 0; i < count && i < STORED_RUNS_MOST; i++)
        if (is_folder(set->folder.text, entries[i]->d_name))
            read_run(set, entries[i]->d_name);
    free_entries(entries, count);
    return OK;
}

enum error_code stored_set_read(const char *folder, const char *name, struct stored_set *set,
                                struct error *error)
{
    enum error_code code = begin(folder, name, set, error);
    if (code == OK)
        code = read_runs(set, error);
    if (!count_campaign(set))
        count_runs(set);
    return code;
}

/* results.json: a status for each scenario. False: there is none. */
static bool count_results(struct stored_set *set)
{
    json_t *results = load(set, set->folder.text, "results.json");
    for (size_t i = 0; i < json_array_size(results); i++) {
        json_int_t status =
            json_integer_value(json_object_get(json_array_get(results, i), "status"));
        set->count[status >= 0 && status < STORED_ENDS ? (int)status : STORED_HARNESS]++;
    }
    bool found = json_is_array(results);
    json_decref(results);
    return found;
}

enum error_code stored_set_count(const char *folder, const char *name, struct stored_set *set,
                                 struct error *error)
{
    enum error_code code = begin(folder, name, set, error);
    if (code != OK || count_campaign(set) || count_results(set))
        return code;
    code = read_runs(set, error);
    count_runs(set);
    return code;
}

void stored_set_release(struct stored_set *set)
{
    for (size_t i = 0; i < set->run_count; i++) {
        stored_verdict_release(&set->run[i].verdict);
        json_decref(set->run[i].run);
    }
    free(set->run);
    json_decref(set->campaign);
    *set = (struct stored_set){0};
}
