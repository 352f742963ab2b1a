/* JUnit's XML as Jenkins and others read it: one test case for each scenario. A violation is a
 * failure. What could not be decided, or did not happen, is an error and not skipped, which would
 * be green. system-out has the reason and how to see more. */
#include "base/memory.h"
#include "reports/results/results.h"
#include "reports/text/xml.h"

#include <libxml/xmlwriter.h>
#include <stdbool.h>
#include <stdlib.h>

#define TEXT_BYTES 1024

static void put_count(struct xml *xml, const char *name, size_t count)
{
    xml_number(xml, name, (int64_t)count);
}

static void put_seconds(struct xml *xml, double seconds)
{
    xml_real(xml, "time", seconds, 3);
}

static void put_line(struct xml *xml, const char *before, const char *text)
{
    xml_text(xml, before);
    xml_text(xml, text);
    xml_text(xml, "\n");
}

/* The same counts stand at both elements. */
static void put_totals(struct xml *xml, const struct result_totals *totals)
{
    xml_attribute(xml, "name", "faultline");
    put_count(xml, "tests", totals->all);
    put_count(xml, "failures", totals->count[RESULT_FAILURE]);
    put_count(xml, "errors", totals->count[RESULT_ERROR]);
    put_seconds(xml, totals->seconds);
}

static void junit_begin(FILE *out, const struct result_totals *totals, void **state)
{
    struct xml *xml = *state = memory_new(1, sizeof *xml);
    xmlOutputBufferPtr buffer = xmlOutputBufferCreateFile(out, NULL);
    xml->writer = buffer != NULL ? xmlNewTextWriter(buffer) : NULL;
    if (xml->writer == NULL)
        memory_refused();
    xmlTextWriterSetIndent(xml->writer, 1);
    xmlTextWriterStartDocument(xml->writer, "1.0", "UTF-8", NULL);
    xml_begin(xml, "testsuites");
    put_totals(xml, totals);
    xml_begin(xml, "testsuite");
    put_totals(xml, totals);
    put_count(xml, "skipped", totals->count[RESULT_SKIPPED]);
}

static void put_result(struct xml *xml, const struct result_case *result)
{
    static const char *const elements[RESULT_COUNT] = {NULL, "failure", "error", "skipped"};
    char headline[RESULT_HEADLINE_BYTES];
    if (result->result == RESULT_PASS)
        return;
    xml_begin(xml, elements[result->result]);
    xml_attribute(xml, "message", result_headline(result, headline));
    if (result->result != RESULT_SKIPPED) {
        xml_attribute(xml, "type", result->claim != NULL ? result->claim : result->verdict);
        for (size_t i = 0; i < result->why_count; i++)
            put_line(xml, "", result->why[i]);
    }
    xml_end(xml);
}

static void put_output(struct xml *xml, const struct result_case *result)
{
    char where[TEXT_BYTES];
    xml_begin(xml, "system-out");
    put_line(xml, "verdict: ", result->verdict);
    for (size_t i = 0; i < result->why_count; i++)
        put_line(xml, "why: ", result->why[i]);
    for (size_t i = 0; i < result->witness_count; i++)
        put_line(xml, "witness: ", result->witness[i]);
    if (result->control != NULL)
        put_line(xml, "control: ", result->control);
    snprintf(where, sizeof where, "%s:%d", result->file, result->line);
    put_line(xml, "scenario: ", where);
    put_line(xml, "run: ", result->folder);
    xml_end(xml);
}

/* Servers group by class name: the file, then what is under test. */
static void junit_one(FILE *out, const struct result_case *result, void *state)
{
    struct xml *xml = state;
    char class[TEXT_BYTES];
    (void)out;
    snprintf(class, sizeof class, "%s.%s.%s", result->file, result->protocol, result->program);
    xml_begin(xml, "testcase");
    xml_attribute(xml, "name", result->name);
    xml_attribute(xml, "classname", class);
    put_seconds(xml, result->seconds);
    put_result(xml, result);
    put_output(xml, result);
    xml_end(xml);
}

static void junit_end(FILE *out, void *state)
{
    struct xml *xml = state;
    (void)out;
    xmlTextWriterEndDocument(xml->writer);
    xmlFreeTextWriter(xml->writer);
    free(xml);
}

const struct result_form results_junit = {"junit", junit_begin, junit_one, junit_end};
