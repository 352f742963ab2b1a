/* A run of which only the traces are there, as `faultline exec` leaves it: the facts are what they
 * say. How a rank ended that did not come to its end is in none of them. */
#include "base/memory.h"
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

static void take_scenario(const char *folder, const struct trace_set *traces,
                          struct scenario *scenario)
{
    scenario->ranks = traces->world;
    scenario->name = memory_text("recorded");
    scenario->file = memory_text(folder);
    scenario->protocol = memory_text("null");
    scenario->program = memory_text(traces->trace[0].header->program);
    scenario->claim = memory_new(1, sizeof *scenario->claim);
    scenario->claim[scenario->claim_count++] = memory_text("H");
}

static void take_rank_ends(const struct trace_set *traces, struct run *run)
{
    run->rank_ends = memory_new(traces->count, sizeof *run->rank_ends);
    for (; run->rank_end_count < traces->count; run->rank_end_count++) {
        const struct trace *trace = &traces->trace[run->rank_end_count];
        run->rank_ends[run->rank_end_count] = (struct rank_end){
            .rank = trace->rank, .incarnation = trace->incarnation, .finalized = is_closed(trace)};
    }
}

bool run_is_recorded(const char *folder)
{
    return !path_holds(folder, "run.json") && path_holds(folder, "trace");
}

enum error_code run_load_recorded(const char *folder, struct run *run, struct scenario_list *owner,
                                  struct error *error)
{
    struct trace_set traces = {0};
    struct scenario *scenario = run_init_owned(run, owner);
    run->recorded = true;
    enum error_code code = path_format(&run->shown, error, "%s", folder);
    if (code == OK)
        code = path_absolute(folder, &run->folder, error);
    if (code == OK)
        code = trace_set_open_run(folder, &traces, error);
    if (code == OK) {
        take_scenario(folder, &traces, scenario);
        take_rank_ends(&traces, run);
        take_end(&traces, run);
    }
    trace_set_release(&traces);
    return code;
}
