/* See exec_engine.h. */
#include "command/exec_engine.h"

#include "run/run.h"
#include "system/process.h"
#include "system/status.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>

#define NO_LIMIT_S 1e6
#define SIGNALLED 128 /* as a shell says it */

static size_t count_words(char **words)
{
    size_t count = 0;
    while (words[count] != NULL)
        count++;
    return count;
}

/* Of the rank that failed first. */
static int status_of_failure(const struct run *run)
{
    for (size_t i = 0; i < run->rank_end_count; i++) {
        const struct rank_end *end = &run->rank_ends[i];
        if (!end->first || !end->known)
            continue;
        if (WIFSIGNALED(end->wait_status))
            return SIGNALLED + WTERMSIG(end->wait_status);
        return WEXITSTATUS(end->wait_status) != 0 ? WEXITSTATUS(end->wait_status) : EXIT_FAILURE;
    }
    return EXIT_FAILURE;
}

static int status_of(const struct run *run)
{
    if (run->end == RUN_FINISHED)
        return STATUS_PASS;
    fprintf(stderr, "faultline: %s%s\n", run->end == RUN_DEADLOCK ? "deadlock: " : "",
            run->end_text);
    switch (run->end) {
    case RUN_DEADLOCK:
        fprintf(stderr, "faultline: the job is ended; call stacks are in %s/stacks.txt\n",
                run->shown.text);
        return STATUS_DEADLOCK;
    case RUN_FAILED:
        return status_of_failure(run);
    case RUN_REFUSED:
        return STATUS_UNDECIDED;
    case RUN_INTERRUPTED:
        return SIGNALLED + SIGTERM;
    default:
        return STATUS_HARNESS;
    }
}

int exec_on_engine(const struct path *run_folder, int ranks, uint64_t seed, char **command)
{
    static char name[] = "exec", protocol[] = "null", claim[] = "H", engine[] = ENGINE_STEP;
    static char *judged[] = {claim};
    struct path program;
    struct error error = {0};
    struct run run;
    if (path_executable(command[0], &program, &error) != OK)
        return (int)status_of_error(&error);
    struct scenario scenario = {.file = name,
                                .name = name,
                                .protocol = protocol,
                                .program = program.text,
                                .argument = command + 1,
                                .argument_count = count_words(command + 1),
                                .ranks = ranks,
                                .claim = judged,
                                .claim_count = 1,
                                .engine = engine};
    plan_init(&scenario.plan);
    run_init(&run, &scenario);
    run.number = 1;
    run.seed = seed;
    run.timeout_s = NO_LIMIT_S;
    run.trace_mb = 0;
    run.capture = false;
    run.shown = *run_folder;
    run_execute(&run, &error);
    int status = status_of(&run);
    if (run_store(&run, &error) != OK)
        status = (int)status_of_error(&error);
    run_release(&run);
    return status;
}
