/* `--slurm`: the runs of a campaign, made by a job array of Slurm; see campaign.h. A task is a
 * shard: a campaign of its own in slurm/<round>/<task> below this campaign's, which begins with the
 * journal and the surveys that there are, and goes on with --resume wherever Slurm starts it again.
 * Its runs are taken over while it makes them. When the array is gone and a shard has not come to
 * its end, what is missing is shared out in another round, as long as rounds bring something. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "base/whole_file.h"
#include "system/json_text.h"
#include "system/tool.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "slurm"
#define STATE_FILE "slurm.json"
#define DEFAULT_TASKS 16
#define LOOK_MS 300 /* between two looks at the journals, and a millisecond more for each task */
#define LOOKS_OF_QUEUE 8 /* between two questions to Slurm */
#define WORDS_BYTES (PATH_MAX + 128)
#define JOB_BYTES 32
#define NUMBER_BYTES 64

/* Slurm runs it once for each task, with: this command, the folder of the round, runs at once,
 * --keep or nothing. What the variables ask for is the campaign's and not the shard's. */
static const char script[] =
    "#!/bin/sh\n"
    "unset FAULTLINE_SLURM FAULTLINE_TASKS FAULTLINE_TAP\n"
    "shard=$2/$SLURM_ARRAY_TASK_ID\n"
    "exec \"$1\" campaign --resume \"$shard\" --jobs \"$3\" $4 >>\"$shard.out\" 2>&1\n";

/* A round of tasks. */
struct array {
    struct campaign *campaign;
    char job[JOB_BYTES]; /* that Slurm has given it; empty: none that is known */
    int round, tasks;
    struct path folder;                   /* absolute; task I in <folder>/I */
    struct campaign_journal_place *place; /* owned; by task: what has been taken over */
    bool *over;                           /* owned; by task: it came to its end */
    enum campaign_end last;               /* what has ended them, the worst */
};

enum error_code campaign_check_slurm(struct error *error)
{
    static const char *const commands[] = {"sbatch", "squeue", "scancel", "scontrol"};
    static const char *const ping[] = {"scontrol", "ping", NULL};
    char words[WORDS_BYTES];
    struct error inner = {0};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        struct path path;
        if (path_executable(commands[i], &path, NULL) != OK)
            return error_set(error, ERROR_USAGE,
                             "campaign --slurm: there is no command %s here, which is Slurm's "
                             "(Debian: slurm-client); --shard and --merge are for other batch "
                             "systems",
                             commands[i]);
    }
    if (tool_run(ping, words, sizeof words, &inner) == OK)
        return OK;
    return error_set(error, ERROR_USAGE, "campaign --slurm: Slurm does not answer: %.400s",
                     inner.text);
}

/* --- the folder of a round -------------------------------------------------------------------- */

/* Room for `tasks` tasks of round `round`, of which nothing has been taken over. */
static enum error_code set_round(struct array *array, int round, int tasks, struct error *error)
{
    struct path whole;
    array->round = round;
    array->tasks = tasks;
    array->last = CAMPAIGN_GOES_ON;
    free(array->place);
    free(array->over);
    array->place = memory_new((size_t)tasks, sizeof *array->place);
    array->over = memory_new((size_t)tasks, sizeof *array->over);
    enum error_code code = path_absolute(array->campaign->folder.text, &whole, error);
    return code == OK ? path_format(&array->folder, error, "%s/" FOLDER "/%d", whole.text, round)
                      : code;
}

static enum error_code format_shard(const struct array *array, int task, struct path *folder,
                                    struct error *error)
{
    return path_format(folder, error, "%s/%d", array->folder.text, task);
}

static enum error_code make_shard(const struct array *array, int task, struct error *error)
{
    char words[WORDS_BYTES];
    struct campaign shard = *array->campaign; /* only to be written down */
    struct path journal;
    shard.shard = task;
    shard.shards = array->tasks;
    enum error_code code = format_shard(array, task, &shard.folder, error);
    if (code == OK)
        code = path_format(&journal, error, "%s/campaign.jsonl", shard.folder.text);
    if (code == OK)
        code = path_make_folder(shard.folder.text, error);
    if (code == OK)
        code = campaign_link_surveys(shard.folder.text, array->campaign->folder.text, error);
    const char *const copy[] = {"cp", "--", array->campaign->journal_path.text, journal.text, NULL};
    if (code == OK)
        code = tool_run(copy, words, sizeof words, error);
    return code == OK ? campaign_store(&shard, error) : code;
}

static enum error_code write_script(const struct path *path, struct error *error)
{
    struct whole_file file;
    enum error_code code = whole_file_begin(&file, path->text, WHOLE_OURS, error);
    if (code != OK)
        return code;
    fputs(script, file.out);
    return whole_file_end(&file, OK, error);
}

/* --- what is known of it after this process --------------------------------------------------- */

static enum error_code format_state(const struct array *array, struct path *path,
                                    struct error *error)
{
    return path_format(path, error, "%s/" STATE_FILE, array->campaign->folder.text);
}

static enum error_code store_state(const struct array *array, struct error *error)
{
    struct path path;
    enum error_code code = format_state(array, &path, error);
    if (code != OK)
        return code;
    json_t *root = json_pack("{s:s, s:i, s:i}", "job", array->job, "round", array->round, "tasks",
                             array->tasks);
    code = json_store(root, path.text, 1, error);
    json_decref(root);
    return code;
}

/* The round of a session that was ended. Without one `tasks` stays 0. */
static enum error_code load_state(struct array *array, struct error *error)
{
    json_t *root = json_fetch_from(array->campaign->folder.text, STATE_FILE);
    const char *job = json_string_value(json_object_get(root, "job"));
    int round = (int)json_integer_value(json_object_get(root, "round"));
    int tasks = (int)json_integer_value(json_object_get(root, "tasks"));
    enum error_code code = OK;
    if (job != NULL && round >= 0 && tasks > 0 && tasks <= OPTIONS_MAX_SHARDS) {
        snprintf(array->job, sizeof array->job, "%s", job);
        code = set_round(array, round, tasks, error);
    }
    json_decref(root);
    return code;
}

static enum error_code forget_state(const struct array *array, struct error *error)
{
    struct path path, folder;
    enum error_code code = format_state(array, &path, error);
    if (code == OK)
        code = path_format(&folder, error, "%s/" FOLDER, array->campaign->folder.text);
    if (code == OK)
        code = path_remove(folder.text, error);
    if (code == OK && remove(path.text) != 0 && path_exists(path.text))
        code = error_set(error, ERROR_IO, "%s: cannot be removed", path.text);
    return code;
}

/* --- the array -------------------------------------------------------------------------------- */

static enum error_code submit(struct array *array, struct error *error)
{
    struct campaign *campaign = array->campaign;
    char words[WORDS_BYTES] = "", tasks[NUMBER_BYTES], cpus[NUMBER_BYTES], jobs[NUMBER_BYTES];
    struct path file, self;
    snprintf(tasks, sizeof tasks, "--array=1-%d", array->tasks);
    snprintf(cpus, sizeof cpus, "--cpus-per-task=%d", campaign->options.jobs);
    snprintf(jobs, sizeof jobs, "%d", campaign->options.jobs);
    enum error_code code = path_format(&file, error, "%s/task.sh", array->folder.text);
    if (code == OK)
        code = path_self(&self, error);
    if (code == OK)
        code = write_script(&file, error);
    const char *const sbatch[] = {"sbatch",
                                  "--parsable",
                                  "--requeue",
                                  "--job-name=faultline",
                                  "--output=/dev/null",
                                  tasks,
                                  cpus,
                                  file.text,
                                  self.text,
                                  array->folder.text,
                                  jobs,
                                  campaign->options.keep ? "--keep" : "",
                                  NULL};
    if (code == OK)
        code = tool_run(sbatch, words, sizeof words, error);
    const char *answer = words;
    while (strncmp(answer, "sbatch: ", 8) == 0) /* a warning */
        answer += strcspn(answer, "\n") + (strchr(answer, '\n') != NULL);
    size_t digits = strspn(answer, "0123456789");
    if (code == OK && (digits == 0 || digits >= sizeof array->job))
        code =
            error_set(error, ERROR_LAUNCH, "sbatch answers with no number of a job: %.100s", words);
    if (code == OK)
        snprintf(array->job, sizeof array->job, "%.*s", (int)digits, answer);
    return code;
}

static enum error_code begin_round(struct array *array, struct error *error)
{
    struct campaign *campaign = array->campaign;
    char text[WORDS_BYTES];
    int tasks = campaign->options.tasks > 0 ? campaign->options.tasks : DEFAULT_TASKS;
    enum error_code code = set_round(array, array->round + 1, tasks, error);
    if (code == OK)
        code = path_remove(array->folder.text, error); /* half of one */
    for (int task = 1; code == OK && task <= tasks; task++)
        code = make_shard(array, task, error);
    array->job[0] = '\0';
    if (code == OK) /* or a session after this one would make this round again */
        code = store_state(array, error);
    if (code == OK)
        code = submit(array, error);
    if (code == OK)
        code = store_state(array, error);
    snprintf(text, sizeof text, "job %s of Slurm, %d tasks, in %s", array->job, tasks,
             array->folder.text);
    if (code == OK)
        campaign_print_note(campaign, text);
    return code;
}

/* Some task waits or runs. Slurm forgets a job some time after its end; where it does not answer at
 * all, that may be over soon. */
static bool is_queued(const struct array *array)
{
    const char *const squeue[] = {"squeue", "-h", "-j", array->job, "-o", "%T", NULL};
    char words[WORDS_BYTES];
    if (array->job[0] == '\0')
        return false;
    if (tool_run(squeue, words, sizeof words, NULL) != OK)
        return strstr(words, "Invalid job id") == NULL;
    return words[0] != '\0';
}

static void cancel(const struct array *array)
{
    const char *const scancel[] = {"scancel", array->job, NULL};
    char words[WORDS_BYTES];
    (void)tool_run(scancel, words, sizeof words, NULL); /* it may be over */
}

/* --- its shards ------------------------------------------------------------------------------- */

/* CAMPAIGN_ENDS where it cannot be read. */
static enum campaign_end end_of(const struct array *array, int task)
{
    struct path folder;
    if (format_shard(array, task, &folder, NULL) != OK)
        return CAMPAIGN_ENDS;
    json_t *root = json_fetch_from(folder.text, "campaign.json");
    enum campaign_end end = campaign_end_from_word(json_string_value(json_object_get(root, "end")));
    json_decref(root);
    return end;
}

/* Every shard came to its end. */
static bool all_are_over(struct array *array)
{
    bool all = true;
    for (int task = 1; task <= array->tasks; task++) {
        bool *over = &array->over[task - 1];
        if (*over)
            continue;
        enum campaign_end end = end_of(array, task);
        *over = end != CAMPAIGN_GOES_ON && end <= CAMPAIGN_FAILURE;
        if (*over && end > array->last)
            array->last = end;
        all &= *over;
    }
    return all;
}

/* On a node that Slurm has given up a shard may still go on: its journal is locked then. */
static bool some_are_locked(const struct array *array)
{
    for (int task = 1; task <= array->tasks; task++) {
        struct path folder, journal;
        if (!array->over[task - 1] && format_shard(array, task, &folder, NULL) == OK &&
            path_format(&journal, NULL, "%s/campaign.jsonl", folder.text) == OK &&
            campaign_journal_is_locked(journal.text))
            return true;
    }
    return false;
}

static enum error_code import_all(struct array *array, struct error *error)
{
    enum error_code code = OK;
    for (int task = 1; code == OK && task <= array->tasks; task++) {
        struct path folder;
        code = format_shard(array, task, &folder, error);
        if (code == OK)
            code = campaign_import(array->campaign, folder.text, &array->place[task - 1], error);
    }
    return code;
}

static bool is_to_stop(const struct campaign *campaign)
{
    return campaign->pool.interrupted != 0 ||
           (campaign->options.until_failure && campaign->group_count > 0);
}

/* Until all shards are over, or nobody works on them any more, or the campaign is to stop. */
static enum error_code follow(struct array *array, struct error *error)
{
    struct campaign *campaign = array->campaign;
    enum error_code code = OK;
    for (unsigned look = 1;; look++) {
        /* In this order: what was written before is there to be taken over after. */
        bool ends = all_are_over(array) ||
                    (look % LOOKS_OF_QUEUE == 0 && !is_queued(array) && !some_are_locked(array));
        code = import_all(array, error);
        campaign_show(campaign);
        if (ends || code != OK || is_to_stop(campaign))
            return code;
        pool_pause(&campaign->pool, LOOK_MS + array->tasks);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

static enum error_code run_round(struct array *array, struct error *error)
{
    struct campaign *campaign = array->campaign;
    uint64_t before = campaign->runs;
    enum error_code code = begin_round(array, error);
    if (code == OK)
        code = follow(array, error);
    if (code != OK || is_to_stop(campaign))
        return code;
    if (all_are_over(array))
        campaign->last = array->last;
    for (int task = 1; campaign->runs == before && task <= array->tasks; task++)
        if (!array->over[task - 1])
            return error_set(error, ERROR_LAUNCH,
                             "job %s of Slurm is over, has brought no run, and its task %d did not "
                             "come to its end: see %s/%d.out",
                             array->job, task, array->folder.text, task);
    return OK;
}

/* What an earlier session has left is taken over first. Its limits may have been others, so that it
 * is not the last round in any case. */
static enum error_code run_rounds(struct array *array, struct error *error)
{
    struct campaign *campaign = array->campaign;
    enum error_code code = array->tasks > 0 ? follow(array, error) : OK;
    while (code == OK && campaign->last == CAMPAIGN_GOES_ON && !is_to_stop(campaign))
        code = run_round(array, error);
    if (array->job[0] != '\0' && (code != OK || is_to_stop(campaign)))
        cancel(array);
    if (code != OK || campaign->pool.interrupted != 0)
        return code;
    if (is_to_stop(campaign))
        campaign->last = CAMPAIGN_FAILURE;
    while (campaign->pool.interrupted == 0 && (is_queued(array) || some_are_locked(array)))
        pool_pause(&campaign->pool, LOOK_MS); /* its last processes are about to end */
    return forget_state(array, error);
}

enum error_code campaign_run_in_slurm(struct campaign *campaign, struct error *error)
{
    struct array array = {.campaign = campaign};
    if (campaign_has_harness_error(campaign)) {
        campaign_end_with(
            campaign, CAMPAIGN_BROKEN,
            "not complete: a run without faults came to a harness error, so the tasks "
            "would have nothing to draw from; --resume makes it again");
        return OK;
    }
    enum error_code code = load_state(&array, error);
    if (code == OK)
        code = run_rounds(&array, error);
    free(array.place);
    free(array.over);
    return code;
}
