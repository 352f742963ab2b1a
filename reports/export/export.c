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
static enum error_code on_event(void *context, const struct walk_event *event, struct error *error)
{
    const struct exporting *exporting = context;
    enum error_code code = exporting->exporter->event(exporting->export, event, error);
    if (code == OK && exporting->export->out != NULL && ferror(exporting->export->out))
        return error_set(error, ERROR_IO, "output: %s", strerror(errno));
    return code;
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
    struct walk walk = {&exporting, is_wanted, on_event};
    enum error_code code = links_read(export->set, &links, error);
    if (code != OK) {
        links_release(&links);
        return code;
    }
    export->links = &links;
    if (exporter->begin != NULL)
        code = exporter->begin(export, error);
    if (code == OK)
        code = walk_run(&links, &walk, &export->seen, error);
    if (code == OK && exporter->end != NULL)
        code = exporter->end(export, error);
    if (code == OK && export->out != NULL)
        code = check_written(export->out, error);
    if (exporter->release != NULL)
        exporter->release(export);
    export->links = NULL;
    links_release(&links);
    return code;
}

const char *export_process_text(const struct trace *trace, char buffer[EVENT_TEXT_BYTES])
{
    snprintf(buffer, EVENT_TEXT_BYTES, "r%d#%d", trace->rank, trace->incarnation);
    return buffer;
}
