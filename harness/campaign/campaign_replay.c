/* The first failure of each group, again and again with the decisions of the first time; see
 * campaign.h and replay.h. */
#include "campaign/campaign.h"

#include "base/memory.h"
#include "jobs/confirm.h"
#include "jobs/run_folder.h"
#include "launch/launcher.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void cannot(struct group *group, const char *why)
{
    group->replays_refused = true;
    snprintf(group->replays_why, sizeof group->replays_why, "%s", why);
    group->replays_wanted = group->replays_started;
}

/* The run that is shown, with its decisions: once for all its replays. false: there are none. */
static bool open_recorded(const struct campaign *campaign, struct group *group)
{
    struct path folder;
    struct error error = {0};
    if (group->recorded != NULL)
        return true;
    group->recorded = memory_new(1, sizeof *group->recorded);
    if (path_format(&folder, &error, "%s/%s", campaign->folder.text, group->folder) == OK &&
        recorded_open(folder.text, group->recorded, &error) == OK) {
        if (confirm_is_possible(&group->recorded->run))
            recorded_set_engine(group->recorded, launcher_hydra.name);
        return true;
    }
    cannot(group, error.text);
    return false;
}

void campaign_release_recorded(struct group *group)
{
    if (group->recorded != NULL)
        recorded_release(group->recorded);
    free(group->recorded);
    group->recorded = NULL;
}

bool campaign_next_replay(struct campaign *campaign, size_t *index)
{
    for (*index = 0; *index < campaign->group_count; ++*index) {
        struct group *group = &campaign->group[*index];
        if (group->replays_started < group->replays_wanted && group->folder[0] != '\0' &&
            open_recorded(campaign, group))
            return true;
    }
    return false;
}

enum error_code campaign_fill_replay(struct campaign *campaign, struct task *task,
                                     struct error *error)
{
    struct group *group = &campaign->group[task->group];
    struct path folder;
    unsigned number = ++group->replays_started;
    enum error_code code = path_format(&folder, error, "%s/%s/replay-%u", campaign->folder.text,
                                       group->folder, number);
    if (code == OK)
        code = path_remove(folder.text, error); /* left by a session that was killed */
    if (code == OK)
        code = replay_job(group->recorded, (int)number, folder.text, &task->job, error);
    task->job.leaves_memory = true;
    return code;
}

/* Of a failure of the step engine: is it one of the MPI library, too? What cannot be followed once
 * is not tried again. */
static void confirm(struct group *group, const char *again)
{
    struct replayed other = {.end = group->replays_other};
    struct confirmation confirmation;
    snprintf(other.text, sizeof other.text, "%s", group->replays_why);
    if (group->replays_same == 0)
        group->replays_wanted = group->replays_started;
    if (group->replays_ended < group->replays_wanted)
        return;
    confirm_conclude(group->recorded->run.shown.text, again, group->replays, group->replays_same,
                     &other, &confirmation);
    snprintf(group->mpiexec, sizeof group->mpiexec, "%s", confirmation.text);
}

/* One that was not run says nothing of the rate. */
enum error_code campaign_take_replay(struct campaign *campaign, const struct task *task,
                                     struct error *error)
{
    struct group *group = &campaign->group[task->group];
    struct replayed replayed = {.end = REPLAY_VOID};
    struct error unread = {0};
    const char *folder = task->job.folder.text;
    if (campaign->pool.interrupted == 0 &&
        replay_compare(group->recorded, folder, &replayed, &unread) != OK)
        replayed.end = REPLAY_VOID;
    group->replays_ended++;
    if (replayed.end != REPLAY_VOID)
        group->replays++;
    if (replayed.end == REPLAY_SAME) {
        group->replays_same++;
        replay_take_stacks(group->recorded, &task->job);
    } else if (replayed.text[0] != '\0') {
        snprintf(group->replays_why, sizeof group->replays_why, "%s", replayed.text);
        group->replays_other = replayed.end;
    }
    if (group->recorded->has_choices && group->recorded->run.scenario->engine == NULL)
        confirm(group, folder);
    enum error_code code =
        campaign->options.keep ? run_folder_keep(folder, error) : run_folder_remove(folder, error);
    if (code != OK || campaign->pool.interrupted != 0 ||
        group->replays_ended < group->replays_wanted)
        return code;
    struct campaign_record record = {.of = RECORD_OF_REPLAYS,
                                     .number = group->first,
                                     .fingerprint = group->fingerprint,
                                     .asked = group->replays,
                                     .same = group->replays_same,
                                     .elapsed_s = campaign_elapsed_s(campaign)};
    snprintf(record.mpiexec, sizeof record.mpiexec, "%s", group->mpiexec);
    campaign_release_recorded(group);
    return campaign_journal_add(&campaign->journal, &record, error);
}
