/* See resized.h. */
#include "jobs/resized.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FOLDER "restart"

bool resized_make(const struct run *reference, const sigset_t *mask)
{
    struct scenario scenario = *reference->scenario; /* shares everything but the numbers */
    struct run run;
    struct error error = {0};
    if (scenario.restart_ranks == 0)
        return true;
    scenario.ranks = scenario.restart_ranks;
    scenario.restart_ranks = 0;
    run_init(&run, &scenario);
    run.number = reference->number;
    run.seed = reference->seed;
    run.timeout_s = reference->timeout_s;
    run.trace_mb = reference->trace_mb;
    sigprocmask(SIG_SETMASK, mask, NULL); /* the run before has left it as it needs it */
    bool good = path_format(&run.shown, &error, "%s/" FOLDER, reference->shown.text) == OK &&
                run_execute(&run, &error) == OK && run_store(&run, &error) == OK &&
                run.end == RUN_FINISHED;
    if (error.text[0] != '\0')
        fprintf(stderr, "faultline: %s\n", error.text);
    run_release(&run);
    return good;
}

static bool has_same(const struct reference_result *results, size_t count,
                     const struct reference_result *result)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].rank == result->rank && strcmp(results[i].name, result->name) == 0)
            return results[i].near == result->near && results[i].bytes == result->bytes &&
                   results[i].hash == result->hash;
    return false;
}

static void keep_same(struct run *run, const struct reference_result *results, size_t count)
{
    size_t kept = 0;
    for (size_t i = 0; i < run->reference_count; i++)
        if (has_same(results, count, &run->references[i]))
            run->references[kept++] = run->references[i];
    run->reference_count = kept;
}

enum error_code resized_keep_same(struct run *run, const char *folder, char *text, size_t bytes,
                                  struct error *error)
{
    struct path other;
    struct reference_result *results = NULL;
    size_t count = 0, all = run->reference_count;
    struct run second;
    run_init(&second, run->scenario);
    enum error_code code = path_format(&other, error, "%s/" FOLDER, folder);
    if (code == OK)
        code = run_results(other.text, &results, &count, error);
    if (code == OK)
        code = run_take_unreceived(&second, other.text, error);
    keep_same(run, results, code == OK ? count : 0);
    /* What a run on another number of ranks leaves unreceived is no measure. */
    run->unreceived_known &= code == OK && second.unreceived_known &&
                             second.unreceived_count == 0 && run->unreceived_count == 0;
    snprintf(text, bytes, ", %zu of them the same on %d ranks and on %d", run->reference_count,
             run->scenario->ranks, run->scenario->restart_ranks);
    if (run->reference_count == all)
        snprintf(text, bytes, ", the same on %d ranks and on %d", run->scenario->ranks,
                 run->scenario->restart_ranks);
    free(results);
    run_release(&second);
    return code;
}
