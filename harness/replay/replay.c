/* See replay.h. */
#include "replay/replay.h"

#include "reports/page/report.h"
#include "stacks/kept_stacks.h"
#include "verdict/stored_verdict.h"

#include <stdio.h>
#include <string.h>

enum error_code replay_job(const struct recorded *recorded, int number, const char *folder,
                           struct job *job, struct error *error)
{
    memset(job, 0, sizeof *job);
    job->scenario = recorded->run.scenario;
    job->followed = &recorded->run;
    job->number = number;
    if (stored_witness(recorded->run.folder.text, &job->wanted, NULL) != OK ||
        kept_stacks_have(recorded->run.folder.text, &job->wanted))
        job->wanted.count = 0;
    return path_format(&job->folder, error, "%s", folder);
}

void replay_take_stacks(const struct recorded *recorded, const struct job *job)
{
    const struct run *run = &recorded->run;
    struct path page;
    if (job->wanted.count == 0 ||
        kept_stacks_of_witness(job->folder.text, run->folder.text, &job->wanted) == 0 ||
        path_format(&page, NULL, "%s/report.html", run->folder.text) != OK)
        return;
    stored_verdict_add_stacks(run->folder.text);
    if (path_exists(page.text))
        report_run_apart(run->shown.text, NULL);
}
