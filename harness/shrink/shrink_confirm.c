/* See shrink_confirm.h. */
#include "shrink/shrink_confirm.h"

#include "jobs/confirm.h"
#include "launch/launcher.h"
#include "replay/replay.h"

#include <stdio.h>

struct counts {
    unsigned runs, same;
    struct replayed other;
};

static enum error_code repeat(struct trials *trials, const struct recorded *recorded,
                              const struct path *folder, struct counts *counts, struct error *error)
{
    struct job job = {0};
    struct replayed replayed = {.end = REPLAY_VOID};
    enum error_code code = path_remove(folder->text, error);
    if (code == OK)
        code = replay_job(recorded, recorded->run.number, folder->text, &job, error);
    if (code == OK)
        code = pool_start(&trials->pool, &job, error);
    while (code == OK && job.state == JOB_RUNNING)
        pool_wait(&trials->pool, -1);
    if (code == OK && trials->pool.interrupted == 0)
        code = replay_compare(recorded, folder->text, &replayed, error);
    if (replayed.end != REPLAY_SAME)
        counts->other = replayed;
    counts->runs += replayed.end != REPLAY_VOID;
    counts->same += replayed.end == REPLAY_SAME;
    return code;
}

void shrink_confirm(struct trials *trials, const struct trial *trial, unsigned times,
                    struct confirmation *made)
{
    struct recorded recorded = {0};
    struct counts counts = {0};
    struct error error = {0};
    struct path folder;
    *made = (struct confirmation){0};
    if (trial->shown.text[0] == '\0' || times == 0 || trials->pool.interrupted != 0)
        return;
    enum error_code code = path_format(&folder, &error, "%s/mpiexec", trial->shown.text);
    if (code == OK)
        code = recorded_open(trial->shown.text, &recorded, &error);
    bool possible = code != OK || confirm_is_possible(&recorded.run);
    if (code == OK)
        recorded_set_engine(&recorded, launcher_hydra.name);
    for (unsigned i = 0; code == OK && possible && i < times && (i == 0 || counts.same > 0); i++)
        code = repeat(trials, &recorded, &folder, &counts, &error);
    if (code != OK)
        snprintf(counts.other.text, sizeof counts.other.text, "%.600s", error.text);
    if (possible && trials->pool.interrupted == 0)
        confirm_conclude(trial->shown.text, folder.text, counts.runs, counts.same, &counts.other,
                         made);
    recorded_release(&recorded);
}
