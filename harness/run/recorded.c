/* A run of which only the traces are there, as `faultline exec` leaves it: the facts are what they
 * say. How a rank ended that did not come to its end is in none of them. */
#include "run/run.h"
#include "trace/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_closed(const struct trace *trace)
{
    return atomic_load(&trace->header->closed) != 0;
}

static void take_end(const struct trace_set *traces, struct run *run)
{
    run->incarnations = traces->incarnations;
    run->end = RUN_FINISHED;
    snprintf(run->end_text, sizeof run->end_text, "every rank came to its end");
    for (int rank = traces->ranks - 1; rank >= 0; rank--) {
        const struct trace *trace = trace_set_find(traces, rank, traces->incarnations - 1);
        if (trace != NULL && is_closed(trace))
            continue;
        run->end = RUN_INTERRUPTED;
        snprintf(run->end_text, sizeof run->end_text,
                 "rank %d %s, and how it ended is not recorded", rank,
                 trace == NULL ? "left no trace" : "did not come to the end of MPI_Finalize");
    }
}

static enum error_code take_scenario(const char *folder, const struct trace_set *traces,
                                     struct scenario *scenario, struct error *error)
{
    scenario->ranks = traces->ranks;
    scenario->name = strdup("recorded");
    scenario->file = strdup(folder);
    scenario->protocol = strdup("null");
    scenario->program = strdup(traces->trace[0].header->program);
    scenario->claim = calloc(1, sizeof *scenario->claim);
    if (scenario->claim != NULL && (scenario->claim[0] = strdup("H")) != NULL)
        scenario->claim_count = 1;
    return scenario->name && scenario->file && scenario->protocol && scenario->program &&
                   scenario->claim_count > 0
               ? OK
               : error_set(error, ERROR_MEMORY, "out of memory");
}

static enum error_code take_rank_ends(const struct trace_set *traces, struct run *run,
                                      struct error *error)
{
    run->rank_ends = calloc(traces->count + 1, sizeof *run->rank_ends);
    if (run->rank_ends == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    for (; run->rank_end_count < traces->count; run->rank_end_count++) {
        const struct trace *trace = &traces->trace[run->rank_end_count];
        run->rank_ends[run->rank_end_count] = (struct rank_end){
            .rank = trace->rank, .incarnation = trace->incarnation, .finalized = is_closed(trace)};
    }
    return OK;
}

bool run_is_recorded(const char *folder)
{
    struct path stored, traces;
    return path_format(&stored, NULL, "%s/run.json", folder) == OK && !path_exists(stored.text) &&
           path_format(&traces, NULL, "%s/trace", folder) == OK && path_exists(traces.text);
}

enum error_code run_load_recorded(const char *folder, struct run *run, struct scenario_list *owner,
                                  struct error *error)
{
    struct path path;
    struct trace_set traces = {0};
    struct scenario *scenario = calloc(1, sizeof *scenario);
    scenario_list_init(owner);
    if (scenario == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    plan_init(&scenario->plan);
    owner->scenario = scenario;
    owner->count = 1;
    run_init(run, scenario);
    run->recorded = true;
    enum error_code code = path_format(&run->shown, error, "%s", folder);
    if (code == OK)
        code = path_absolute(folder, &run->folder, error);
    if (code == OK)
        code = path_format(&path, error, "%s/trace", folder);
    if (code == OK)
        code = trace_set_open(path.text, &traces, error);
    if (code == OK)
        code = take_scenario(folder, &traces, scenario, error);
    if (code == OK)
        code = take_rank_ends(&traces, run, error);
    if (code == OK)
        take_end(&traces, run);
    trace_set_release(&traces);
    return code;
}
