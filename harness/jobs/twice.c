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
static bool repeat_run(const struct run *run, const sigset_t *mask, struct run *repetition)
{
    struct error error = {0};
    repetition->number = run->number;
    repetition->seed = run->seed;
    repetition->timeout_s = run->timeout_s;
    repetition->trace_mb = run->trace_mb;
    repetition->store_bytes = run->store_bytes;
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    return path_format(&repetition->shown, NULL, "%s/twice", run->shown.text) == OK &&
           run_execute(repetition, &error) == OK && is_comparable(repetition->end);
}

static bool compare(const struct run *run, const struct run *repetition, char *text, size_t bytes)
{
    struct trace_set then = {0}, now = {0};
    bool read = trace_set_open_run(run->folder.text, &then, NULL) == OK &&
                trace_set_open_run(repetition->folder.text, &now, NULL) == OK;
    if (read)
        traces_differ(&then, &now, false, text, bytes);
    trace_set_release(&then);
    trace_set_release(&now);
    return read;
}

bool twice_make(const struct run *run, const sigset_t *mask, char *text, size_t bytes)
{
    struct run repetition;
    text[0] = '\0';
    if (run->scenario->engine == NULL || !is_comparable(run->end))
        return false;
    run_init(&repetition, run->scenario);
    bool compared = repeat_run(run, mask, &repetition) && compare(run, &repetition, text, bytes);
    if (text[0] == '\0')
        (void)path_remove(repetition.shown.text, NULL); /* what is left of it harms nobody */
    run_release(&repetition);
    return compared;
}
