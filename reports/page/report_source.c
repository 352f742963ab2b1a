/* What is in a run folder, for its page; see report_parts.h. */
#include "reports/page/report_parts.h"

#include "system/json_text.h"
#include "system/path.h"

#include <inttypes.h>
#include <string.h>

/* OK without it: there is no such file. */
static enum error_code read_verdict(struct report_source *source, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/verdict.json", source->folder);
    if (code != OK || !path_exists(path.text))
        return code;
    return json_fetch(path.text, &source->verdict, error);
}

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
    bool some = source->verdict != NULL || source->has_run;
    if (!source->has_traces && some && !path_exists(path.text))
        source->trace_error = (struct error){0}; /* it has none, and that is all right */
}

/* A witness that is no event is left out: its text is in the page all the same. */
static void take_witness(struct report_source *source)
{
    const json_t *events = json_object_get(source->finding, "witness");
    for (size_t i = 0; i < json_array_size(events); i++) {
        const char *text = json_string_value(json_array_get(events, i));
        struct event_ref *event = &source->witness[source->witness_count];
        size_t bytes = text != NULL && source->witness_count < FINDING_WITNESSES
                           ? event_parse(text, event)
                           : 0;
        if (bytes > 0 && text[bytes] == '\0')
            source->witness_count++;
    }
}

enum error_code report_source_open(const char *folder, struct report_source *source,
                                   struct error *error)
{
    memset(source, 0, sizeof *source);
    source->folder = folder;
    if (!path_exists(folder))
        return error_set(error, ERROR_USAGE,
                         "%s: there is no such folder; a run is OUT/<run-id>/<number>", folder);
    enum error_code code = read_verdict(source, error);
    if (code == OK)
        code = read_run(source, error);
    if (code != OK)
        return code;
    read_traces(source);
    if (source->verdict == NULL && !source->has_run && !source->has_traces)
        return error_set(error, ERROR_USAGE,
                         "%s: there is no verdict.json, run.json or folder of traces", folder);
    source->finding = json_array_get(json_object_get(source->verdict, "findings"), 0);
    take_witness(source);
    return OK;
}

void report_source_close(struct report_source *source)
{
    json_decref(source->verdict);
    if (source->has_run) {
        run_release(&source->run);
        scenario_list_release(&source->owner);
    }
    if (source->has_traces)
        trace_set_release(&source->traces);
}
