/* The page of a stored run; see report.h. What is in the folder is put into one XML document:
 * verdict.json and run.json as they say it, the traces as a diagram. What is missing is left out,
 * and what cannot be drawn is said in the page. */
#include "reports/page/report.h"

#include "reports/diagram/diagram.h"
#include "reports/diagram/waits.h"
#include "reports/page/page.h"
#include "reports/page/report_parts.h"
#include "reports/page/report_story.h"
#include "stacks/kept_stacks.h"
#include "system/json_text.h"
#include "system/path.h"

#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define SHEET "run.xsl"
#define ID_MAIN "f"
#define ID_BESIDE "b"

bool report_is_run(const char *folder)
{
    static const char *const parts[] = {"run.json", "verdict.json", "trace"};
    struct path path;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (path_holds(folder, parts[i]))
            return true;
    glob_t traces = {0};
    bool some = path_format(&path, NULL, "%s/*.trace", folder) == OK &&
                glob(path.text, GLOB_NOSORT, NULL, &traces) == 0;
    globfree(&traces);
    return some;
}

/* --- diagrams ----------------------------------------------------------------------------------
 */

/* The page is there without the diagram too. */
static void write_diagram(struct xml *xml, const struct report_source *source, const char *id,
                          const struct event_ref *near, size_t near_count)
{
    struct error why = source->trace_error;
    struct diagram_wish wish = {.id = id,
                                .set = &source->traces,
                                .witness = source->witness.event,
                                .witness_count = source->witness.count,
                                .near = near,
                                .near_count = near_count,
                                .plan = source->has_run ? &source->run.scenario->plan : NULL};
    if (why.code == OK && source->has_traces)
        (void)diagram_write(xml, &wish, &why);
    if (why.code != OK)
        xml_element(xml, "undrawn", why.text);
}

/* A run that is just over and has more than this is not drawn: its user waits for the verdict. */
static bool is_too_long(const struct report_source *source, struct error *error)
{
    uint64_t records = 0;
    for (size_t i = 0; i < source->traces.count; i++)
        records += source->traces.trace[i].count;
    if (records <= REPORT_APART_RECORDS_MOST)
        return false;
    error_set(error, ERROR_LIMIT, "%" PRIu64 " records; `faultline report %.256s` draws them",
              records, source->folder);
    return true;
}

static bool hangs(const struct report_source *source)
{
    return source->has_traces && source->has_run &&
           (source->run.end == RUN_DEADLOCK || source->run.end == RUN_TIME_LIMIT);
}

/* The other run, around the same events as far as it has them. */
static void write_beside(struct xml *xml, const struct report_source *beside,
                         const struct report_source *source)
{
    struct report_source plain = *beside;
    plain.witness.count = 0;
    xml_begin(xml, "beside");
    report_put_heading(xml, beside);
    write_diagram(xml, &plain, ID_BESIDE, source->witness.event, source->witness.count);
    xml_end(xml);
}

/* --- the file ----------------------------------------------------------------------------------
 */

static enum error_code make_page(const struct report_source *source,
                                 const struct report_source *beside, const char *output,
                                 struct error *error)
{
    struct page page;
    struct path path;
    enum error_code code = path_format(&path, error, "%s/report.html", source->folder);
    page_begin(&page, "run");
    report_put_heading(&page.xml, source);
    report_put_verdict(&page.xml, source);
    report_put_facts(&page.xml, source);
    report_put_story(&page.xml, source);
    if (hangs(source))
        waits_write(&page.xml, &source->traces);
    report_put_output(&page.xml, source);
    write_diagram(&page.xml, source, ID_MAIN, NULL, 0);
    if (beside != NULL)
        write_beside(&page.xml, beside, source);
    if (code == OK)
        code = page_write_file(&page, SHEET, output != NULL ? output : path.text,
                               output != NULL ? WHOLE_NAMED : WHOLE_OURS, error);
    page_release(&page);
    return code;
}

static enum error_code draw(const char *run, const char *beside, const char *output, bool apart,
                            struct error *error)
{
    struct report_source source, other;
    kept_stacks_of_kills(run);
    enum error_code code = report_source_open(run, &source, error);
    bool two = code == OK && beside != NULL;
    if (two)
        code = report_source_open(beside, &other, error);
    if (code == OK && two && !other.has_traces)
        code = error_set(error, ERROR_USAGE, "--beside %s: it has no traces to draw", beside);
    if (code == OK && apart && is_too_long(&source, &source.trace_error)) {
        trace_set_release(&source.traces);
        source.has_traces = false;
    }
    if (code == OK)
        code = make_page(&source, two ? &other : NULL, output, error);
    report_source_close(&source);
    if (two)
        report_source_close(&other);
    return code;
}

enum error_code report_run(const char *run, const char *beside, const char *output,
                           struct error *error)
{
    return draw(run, beside, output, false, error);
}

void report_run_apart(const char *run, const char *output)
{
    struct error error = {0};
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        alarm(REPORT_LIMIT_S);
        _exit(draw(run, NULL, output, true, &error) == OK ? 0 : 1);
    }
    while (child > 0 && waitpid(child, NULL, 0) < 0 && errno == EINTR)
        ;
}
