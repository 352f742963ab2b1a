/* What is in a run folder, for its page; see report_parts.h. */
#include "reports/page/report_parts.h"

#include "system/path.h"

#include <inttypes.h>
#include <string.h>

static enum error_code read_run(struct report_source *source, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/run.json", source->folder);
    if (code != OK || !path_exists(path.text))
        return code;
    source->has_run = true;
    return run_load(source->folder, &source->run, &source->owner, error);
}

/* Traces that cannot be read are no reason for no page. A folder of traces is a run as well. */
static void read_traces(struct report_source *source)
{
    struct path path;
    if (path_format(&path, &source->trace_error, "%s/trace", source->folder) != OK)
        return;
    const char *folder = path_exists(path.text) ? path.text : source->folder;
    source->has_traces = trace_set_open(folder, &source->traces, &source->trace_error) == OK;
    bool some = source->verdict.root != NULL || source->has_run;
    if (!source->has_traces && some && !path_exists(path.text))
        source->trace_error = (struct error){0}; /* it has none, and that is all right */
}

enum error_code report_source_open(const char *folder, struct report_source *source,
                                   struct error *error)
{
    memset(source, 0, sizeof *source);
    source->folder = folder;
    if (!path_exists(folder))
        return error_set(error, ERROR_USAGE,
                         "%s: there is no such folder; a run is OUT/<run-id>/<number>", folder);
    enum error_code code = stored_verdict_load(folder, &source->verdict, error);
    if (code == OK)
        code = read_run(source, error);
    if (code != OK)
        return code;
    read_traces(source);
    if (source->verdict.root == NULL && !source->has_run && !source->has_traces)
        return error_set(error, ERROR_USAGE,
                         "%s: there is no verdict.json, run.json or folder of traces", folder);
    source->finding = stored_verdict_finding(&source->verdict);
    if (source->finding != NULL)
        source->witness = source->finding->witness;
    return OK;
}

void report_source_close(struct report_source *source)
{
    stored_verdict_release(&source->verdict);
    if (source->has_run) {
        run_release(&source->run);
        scenario_list_release(&source->owner);
    }
    if (source->has_traces)
        trace_set_release(&source->traces);
}
