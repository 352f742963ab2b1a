/* See export.h. */
#include "reports/export/export.h"

#include "trace/calls.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

const struct exporter *const exporters[] = {&export_json, &export_shiviz, &export_perfetto,
                                            &export_otf2};
const size_t exporter_count = sizeof exporters / sizeof exporters[0];

const struct exporter *exporter_find(const char *name)
{
    for (size_t i = 0; i < exporter_count; i++)
        if (strcmp(exporters[i]->name, name) == 0)
            return exporters[i];
    return NULL;
}

/* What the walk's functions need. */
struct exporting {
    const struct exporter *exporter;
    struct export *export;
};

static bool is_wanted(void *context, const struct walk_event *event)
{
    const struct exporting *exporting = context;
    return exporting->exporter->wanted == NULL ||
           exporting->exporter->wanted(exporting->export, event);
}

/* A stream that takes no more ends the walk at once. */
static bool on_event(void *context, const struct walk_event *event)
{
    const struct exporting *exporting = context;
    struct export *export = exporting->export;
    exporting->exporter->event(export, event);
    return export->error.code == OK && (export->out == NULL || !ferror(export->out));
}

static enum error_code check_written(FILE *out, struct error *error)
{
    bool failed = ferror(out) != 0;
    if (fflush(out) != 0 || failed)
        return error_set(error, ERROR_IO, "output: %s", strerror(errno));
    return OK;
}

enum error_code export_run(const struct exporter *exporter, struct export *export,
                           struct error *error)
{
    struct links links = {0};
    struct exporting exporting = {exporter, export};
    struct walk walk = {.context = &exporting, .wanted = is_wanted, .event = on_event};
    export->error.code = links_read(export->set, &links, &export->error);
    export->links = &links;
    if (export->error.code == OK) {
        errno = 0;
        if (exporter->begin != NULL)
            exporter->begin(export);
        if (export->error.code == OK)
            export->seen = walk_run(&links, &walk);
        if (export->error.code == OK && exporter->end != NULL)
            exporter->end(export);
        if (exporter->release != NULL)
            exporter->release(export);
    }
    export->links = NULL;
    links_release(&links);
    if (export->error.code != OK)
        return error_set(error, export->error.code, "%s", export->error.text);
    return export->out != NULL ? check_written(export->out, error) : OK;
}

const char *export_process_text(const struct trace *trace, char buffer[EVENT_TEXT_BYTES])
{
    snprintf(buffer, EVENT_TEXT_BYTES, "r%d#%d", trace->rank, trace->incarnation);
    return buffer;
}
