/* See twice.h. */
#include "jobs/twice.h"

#include "decisions/identical.h"
#include "trace/reader.h"

#include <stdio.h>

static bool is_comparable(enum run_end end)
{
    return end == RUN_FINISHED || end == RUN_FAILED || end == RUN_DEADLOCK;
}

/* The same seed gives the same decisions. */
static bool run_again(const struct run *run, const sigset_t *mask, struct run *again)
{
    struct error error = {0};
    again->number = run->number;
    again->seed = run->seed;
    again->timeout_s = run->timeout_s;
    again->trace_mb = run->trace_mb;
    again->store_bytes = run->store_bytes;
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    return path_format(&again->shown, NULL, "%s/twice", run->shown.text) == OK &&
           run_execute(again, &error) == OK && is_comparable(again->end);
}

static bool compare(const struct run *run, const struct run *again, char *text, size_t bytes)
{
    struct trace_set then = {0}, now = {0};
    bool read = trace_set_open_run(run->folder.text, &then, NULL) == OK &&
                trace_set_open_run(again->folder.text, &now, NULL) == OK;
    if (read)
        traces_differ(&then, &now, false, text, bytes);
    trace_set_release(&then);
    trace_set_release(&now);
    return read;
}

bool twice_make(const struct run *run, const sigset_t *mask, char *text, size_t bytes)
{
    struct run again;
    text[0] = '\0';
    if (run->scenario->engine == NULL || !is_comparable(run->end))
        return false;
    run_init(&again, run->scenario);
    bool compared = run_again(run, mask, &again) && compare(run, &again, text, bytes);
    if (text[0] == '\0')
        (void)path_remove(again.shown.text, NULL); /* what is left of it harms nobody */
    run_release(&again);
    return compared;
}
