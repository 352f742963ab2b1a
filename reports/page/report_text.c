/* A stored run in prose, for a terminal or a mail: what was found, why, and the events that led to
 * it, side by side. See report.h. Of verdict.json, run.json and traces any may be missing. */
#include "reports/page/report.h"

#include "base/regular_file.h"
#include "plan/action.h"
#include "reports/page/report_parts.h"
#include "reports/text/columns.h"
#include "reports/text/prose.h"
#include "stacks/kept_stacks.h"
#include "system/path.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_BYTES 2048
#define SLICE_EVENTS 60
#define ALSO_MOST 5
#define STACK_LINES 60
#define LINE_BYTES 256

/* --- the verdict ------------------------------------------------------------------------------ */

static void print_heading(FILE *out, const struct report_source *source)
{
    char text[TEXT_BYTES];
    const char *verdict = source->verdict.root != NULL ? source->verdict.word : "not judged";
    const struct claim *claim = source->finding != NULL ? source->finding->known : NULL;
    for (size_t i = 0; i < sizeof text && (text[i] = (char)toupper((unsigned char)verdict[i]));)
        i++;
    text[sizeof text - 1] = '\0';
    prose_print(out, text, claim == NULL && source->finding != NULL ? source->finding->claim : "");
    if (claim == NULL)
        return;
    snprintf(text, sizeof text, "%s%s: %s (%s)",
             source->verdict.verdict == VERDICT_PASS ? "Violated, as the scenario expects: " : "",
             claim->id, claim->text, claim->source);
    prose_print(out, "", text);
}

static void print_why(FILE *out, const struct report_source *source)
{
    const char *why = source->verdict.why != NULL ? source->verdict.why : "";
    size_t count = source->finding != NULL ? source->finding->why_count : 0;
    if (why[0] != '\0' || count > 0)
        putc('\n', out);
    if (why[0] != '\0')
        prose_print(out, "  - ", why);
    for (size_t i = 0; i < count; i++)
        prose_print(out, "  - ", source->finding->why[i]);
}

static void print_witness(FILE *out, const struct stored_finding *finding)
{
    char text[TEXT_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < finding->shown_count && used < sizeof text; i++)
        used += (size_t)snprintf(text + used, sizeof text - used, "%s%s", i > 0 ? ", " : "",
                                 finding->shown[i]);
    if (used > 0)
        prose_print(out, "Witness:    ", text);
}

/* What follows from the first finding, or what does not. */
static void print_others(FILE *out, const struct report_source *source, const char *label,
                         bool follows)
{
    size_t others = 0;
    char text[TEXT_BYTES];
    for (size_t i = 1; i < source->verdict.finding_count; i++) {
        const struct stored_finding *finding = &source->verdict.finding[i];
        if (finding->follows != follows || others++ >= ALSO_MOST)
            continue;
        snprintf(text, sizeof text, "%s %s: %s", finding->claim, finding->verdict,
                 finding->why_count > 0 ? finding->why[0] : "");
        prose_print(out, others == 1 ? label : "            ", text);
    }
    if (others > ALSO_MOST) {
        snprintf(text, sizeof text, "and %zu more in verdict.json", others - ALSO_MOST);
        prose_print(out, "            ", text);
    }
}

/* --- the run ---------------------------------------------------------------------------------- */

static void print_scenario(FILE *out, const struct scenario *scenario)
{
    char text[TEXT_BYTES];
    snprintf(text, sizeof text, "\"%s\" (%s:%d), protocol %s, program %s, %d rank%s",
             scenario->name, scenario->file, scenario->line, scenario->protocol, scenario->program,
             scenario->ranks, scenario->ranks == 1 ? "" : "s");
    prose_print(out, "Scenario:   ", text);
}

static void print_end(FILE *out, const struct run *run)
{
    static const char *const ends[] = {
#define X(name, word) word,
        RUN_ENDS(X)
#undef X
    };
    char text[TEXT_BYTES];
    unsigned asked = 0, installed = 0;
    snprintf(text, sizeof text, "%s after %d incarnation%s and %.2f s: %s", ends[run->end],
             run->incarnations, run->incarnations == 1 ? "" : "s", run->seconds, run->end_text);
    prose_print(out, "The run:    ", text);
    for (size_t i = 0; i < run->scenario->plan.count; i++) {
        bool is_fault = action_of(&run->scenario->plan.steps[i])->is_fault;
        asked += is_fault;
        installed += is_fault && run->steps[i].done;
    }
    snprintf(text, sizeof text, "%u asked for, %u installed; seed %" PRIu64, asked, installed,
             run->seed);
    prose_print(out, "Faults:     ", text);
    if (run->reference_text[0] != '\0')
        prose_print(out, "Reference:  ", run->reference_text);
}

static void print_stacks(FILE *out, const char *folder)
{
    struct path path;
    char line[LINE_BYTES];
    FILE *file = path_format(&path, NULL, "%s/stacks.txt", folder) == OK
                     ? regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, NULL)
                     : NULL;
    if (file == NULL)
        return;
    fputs("\nWhere the ranks were:\n", out);
    for (int count = 0; count < STACK_LINES && fgets(line, sizeof line, file) != NULL; count++) {
        size_t indent = strspn(line, " ") + 2;
        char blanks[LINE_BYTES];
        snprintf(blanks, sizeof blanks, "%*s", (int)(indent < LINE_BYTES ? indent : 2), "");
        prose_print(out, blanks, line);
    }
    if (fgetc(file) != EOF)
        fputs("  ... more in stacks.txt\n", out);
    fclose(file);
}

static enum error_code print_events(FILE *out, const struct report_source *source,
                                    struct error *error)
{
    struct columns_options options = columns_options_default();
    options.witness = source->witness.event;
    options.witness_count = source->witness.count;
    options.slice = SLICE_EVENTS;
    options.width = PROSE_WIDTH + 2;
    fputs(source->witness.count > 0 ? "\nWhat led to it:\n\n" : "\nThe end of the run:\n\n", out);
    return columns_print(&source->traces, &options, out, error);
}

/* --- the whole -------------------------------------------------------------------------------- */

static enum error_code print_report(FILE *out, const struct report_source *source,
                                    struct error *error)
{
    char text[PATH_MAX + TEXT_BYTES];
    const char *fingerprint = source->verdict.fingerprint;
    print_heading(out, source);
    print_why(out, source);
    putc('\n', out);
    if (source->finding != NULL)
        print_witness(out, source->finding);
    if (source->verdict.control.result != CONTROL_NONE)
        prose_print(out, "Control:    ", source->verdict.control.text);
    if (source->verdict.confirmation.result != CONFIRMED_NONE)
        prose_print(out, "mpiexec:    ", source->verdict.confirmation.text);
    print_others(out, source, "Follows:    ", true);
    print_others(out, source, "Also found: ", false);
    if (fingerprint != NULL && fingerprint[0] != '\0')
        prose_print(out, "Group:      ", fingerprint);
    if (source->has_run) {
        print_scenario(out, source->run.scenario);
        print_end(out, &source->run);
    }
    prose_print(out, "Repeat:     ", report_repeat_command(source, text, sizeof text));
    print_stacks(out, source->folder);
    if (source->trace_error.code != OK)
        prose_print(out, "No events:  ", source->trace_error.text);
    return source->has_traces ? print_events(out, source, error) : OK;
}

enum error_code report_text(const char *run, FILE *out, struct error *error)
{
    struct report_source source;
    kept_stacks_of_kills(run);
    enum error_code code = report_source_open(run, &source, error);
    if (code == OK)
        code = print_report(out, &source, error);
    report_source_close(&source);
    return code;
}
