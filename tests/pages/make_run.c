/* Makes a run folder of a trace written by hand (oracles/README.md), as if it had been run: traces,
 * run.json, and the verdict that the oracles give. So pages can be drawn of any situation, and
 * always of the same. Usage: make_run EXAMPLE.txt FOLDER NUMBER NAME */
#include "run/run.h"
#include "traces/example.h"
#include "verdict/outcome.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ARGUMENTS 5

static enum error_code write_trace(const char *folder, const struct trace *trace,
                                   struct error *error)
{
    struct path path;
    char page[TRACE_HEADER_BYTES] = {0};
    enum error_code code =
        path_format(&path, error, "%s/trace/r%d.%d.trace", folder, trace->rank, trace->incarnation);
    if (code != OK)
        return code;
    memcpy(page, trace->header, sizeof *trace->header);
    FILE *out = fopen(path.text, "we");
    if (out == NULL)
        return error_set(error, ERROR_IO, "%s: %s", path.text, strerror(errno));
    bool written = fwrite(page, sizeof page, 1, out) == 1 &&
                   fwrite(trace->record, TRACE_RECORD_BYTES, trace->count, out) == trace->count;
    return fclose(out) == 0 && written
               ? OK
               : error_set(error, ERROR_IO, "%s: %s", path.text, strerror(errno));
}

/* Everything points into the example. */
static void fill(const struct example *example, struct scenario *scenario, struct run *run)
{
    const struct run_facts *facts = &example->facts;
    scenario->claim = (char **)(uintptr_t)example->id;
    scenario->claim_count = example->id_count;
    scenario->ranks = example->traces.world;
    if (facts->plan != NULL)
        scenario->plan = *facts->plan;
    run->seed = 1;
    run->timeout_s = RUN_DEFAULT_TIMEOUT_S;
    run->seconds = 1.5;
    run->end = facts->end;
    run->incarnations = example->traces.incarnations;
    run->rank_ends = (struct rank_end *)(uintptr_t)facts->rank_ends;
    run->rank_end_count = facts->rank_end_count;
    run->references = (struct reference_result *)(uintptr_t)facts->references;
    run->reference_count = facts->reference_count;
    snprintf(run->end_text, sizeof run->end_text, "%s", facts->end_text);
    for (size_t i = 0; facts->steps != NULL && i < scenario->plan.count; i++)
        run->steps[i] = facts->steps[i];
}

static enum error_code store(struct run *run, const struct example *example, struct error *error)
{
    struct path plan;
    struct outcome outcome;
    enum error_code code = path_make_run(run->folder.text, error);
    for (size_t i = 0; code == OK && i < example->traces.count; i++)
        code = write_trace(run->folder.text, &example->traces.trace[i], error);
    if (code == OK)
        code = path_format(&plan, error, "%s/plan", run->folder.text);
    if (code == OK)
        code = plan_write(plan.text, &run->scenario->plan, error);
    if (code == OK)
        code = run_store(run, error);
    if (code != OK)
        return code;
    outcome_judge(run, NULL, 0, &outcome);
    code = outcome_store(run, &outcome, error);
    outcome_release(&outcome);
    return code;
}

int main(int argc, char **argv)
{
    static struct example example;
    static struct run run;
    static struct scenario scenario = {
        .file = "suites/made.lua", .line = 1, .protocol = "c3", .program = "ring"};
    struct error error = {0};
    if (argc != ARGUMENTS) {
        fprintf(stderr, "usage: make_run EXAMPLE.txt FOLDER NUMBER NAME\n");
        return 64;
    }
    plan_init(&scenario.plan);
    scenario.name = argv[4];
    run_init(&run, &scenario);
    run.number = atoi(argv[3]);
    enum error_code code = example_read(argv[1], &example, &error);
    if (code == OK)
        code = path_format(&run.folder, &error, "%s", argv[2]);
    run.shown = run.folder;
    if (code == OK) {
        fill(&example, &scenario, &run);
        code = store(&run, &example, &error);
    }
    if (code != OK)
        fprintf(stderr, "make_run: %s\n", error.text);
    return code != OK;
}
