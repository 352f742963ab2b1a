/* JUnit's XML as Jenkins and others read it: one test case for each scenario. A violation is a
 * failure. What could not be decided, or did not happen, is an error and not skipped, which would
 * be green. system-out has the reason and how to see more. */
#include "driver/json_text.h"
#include "reports/results.h"

#include <libxml/xmlwriter.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define ESCAPE_BYTES 4 /* \xNN, for a byte that XML cannot hold */
#define TEXT_BYTES 1024

/* XML holds no control characters, however they are written, and neither U+FFFE nor U+FFFF. */
static bool is_allowed(const unsigned char *text, size_t bytes)
{
    if (bytes == 1)
        return text[0] >= 0x20 || text[0] == '\t' || text[0] == '\n' || text[0] == '\r';
    return bytes != 3 || memcmp(text, "\xef\xbf", 2) != 0 || text[2] < 0xbe;
}

/* With \xNN for each byte of what XML cannot hold; to be freed. NULL without memory. */
static char *allowed_text(const char *text)
{
    char *allowed = malloc(ESCAPE_BYTES * strlen(text) + 1);
    size_t used = 0;
    while (allowed != NULL && *text != '\0') {
        const unsigned char *at = (const unsigned char *)text;
        size_t bytes = json_text_character(at);
        if (bytes > 0 && is_allowed(at, bytes)) {
            memcpy(allowed + used, text, bytes);
            used += bytes;
        } else {
            bytes = bytes > 0 ? bytes : 1;
            for (size_t i = 0; i < bytes; i++)
                used += (size_t)sprintf(allowed + used, "\\x%02x", at[i]);
        }
        text += bytes;
    }
    if (allowed != NULL)
        allowed[used] = '\0';
    return allowed;
}

/* One of the calls below failed: then the rest is left out. */
struct junit {
    xmlTextWriterPtr writer;
    bool failed;
};

static void check(struct junit *junit, int result)
{
    junit->failed = junit->failed || result < 0;
}

static void begin_element(struct junit *junit, const char *name)
{
    check(junit, xmlTextWriterStartElement(junit->writer, BAD_CAST name));
}

static void end_element(struct junit *junit)
{
    check(junit, xmlTextWriterEndElement(junit->writer));
}

static void put_attribute(struct junit *junit, const char *name, const char *text)
{
    char *allowed = allowed_text(text);
    junit->failed = junit->failed || allowed == NULL;
    if (allowed != NULL)
        check(junit, xmlTextWriterWriteAttribute(junit->writer, BAD_CAST name, BAD_CAST allowed));
    free(allowed);
}

static void put_count(struct junit *junit, const char *name, size_t count)
{
    check(junit, xmlTextWriterWriteFormatAttribute(junit->writer, BAD_CAST name, "%zu", count));
}

static void put_seconds(struct junit *junit, double seconds)
{
    check(junit,
          xmlTextWriterWriteFormatAttribute(junit->writer, BAD_CAST "time", "%.3f", seconds));
}

static void put_text(struct junit *junit, const char *before, const char *text)
{
    char *allowed = allowed_text(text);
    junit->failed = junit->failed || allowed == NULL;
    check(junit, xmlTextWriterWriteString(junit->writer, BAD_CAST before));
    if (allowed != NULL)
        check(junit, xmlTextWriterWriteString(junit->writer, BAD_CAST allowed));
    check(junit, xmlTextWriterWriteString(junit->writer, BAD_CAST "\n"));
    free(allowed);
}

static enum error_code outcome(const struct junit *junit, struct error *error)
{
    return junit->failed ? error_set(error, ERROR_IO, "cannot write the JUnit report") : OK;
}

/* The same counts stand at both elements. */
static void put_totals(struct junit *junit, const struct result_totals *totals)
{
    put_attribute(junit, "name", "faultline");
    put_count(junit, "tests", totals->all);
    put_count(junit, "failures", totals->count[RESULT_FAILURE]);
    put_count(junit, "errors", totals->count[RESULT_ERROR]);
    put_seconds(junit, totals->seconds);
}

static enum error_code junit_begin(FILE *out, const struct result_totals *totals, void **state,
                                   struct error *error)
{
    struct junit *junit = *state = calloc(1, sizeof *junit);
    xmlOutputBufferPtr buffer = junit != NULL ? xmlOutputBufferCreateFile(out, NULL) : NULL;
    if (buffer == NULL)
        return error_set(error, ERROR_MEMORY, "out of memory");
    junit->writer = xmlNewTextWriter(buffer);
    if (junit->writer == NULL) {
        xmlOutputBufferClose(buffer);
        return error_set(error, ERROR_MEMORY, "out of memory");
    }
    check(junit, xmlTextWriterSetIndent(junit->writer, 1));
    check(junit, xmlTextWriterStartDocument(junit->writer, "1.0", "UTF-8", NULL));
    begin_element(junit, "testsuites");
    put_totals(junit, totals);
    begin_element(junit, "testsuite");
    put_totals(junit, totals);
    put_count(junit, "skipped", totals->count[RESULT_SKIPPED]);
    return outcome(junit, error);
}

static void put_result(struct junit *junit, const struct result_case *result)
{
    static const char *const elements[RESULT_COUNT] = {NULL, "failure", "error", "skipped"};
    char headline[RESULT_HEADLINE_BYTES];
    if (result->result == RESULT_PASS)
        return;
    begin_element(junit, elements[result->result]);
    put_attribute(junit, "message", result_headline(result, headline));
    if (result->result != RESULT_SKIPPED) {
        put_attribute(junit, "type", result->claim != NULL ? result->claim : result->verdict);
        for (size_t i = 0; i < result->why_count; i++)
            put_text(junit, "", result->why[i]);
    }
    end_element(junit);
}

static void put_output(struct junit *junit, const struct result_case *result)
{
    char where[TEXT_BYTES];
    begin_element(junit, "system-out");
    put_text(junit, "verdict: ", result->verdict);
    for (size_t i = 0; i < result->why_count; i++)
        put_text(junit, "why: ", result->why[i]);
    for (size_t i = 0; i < result->witness_count; i++)
        put_text(junit, "witness: ", result->witness[i]);
    snprintf(where, sizeof where, "%s:%d", result->file, result->line);
    put_text(junit, "scenario: ", where);
    put_text(junit, "run: ", result->folder);
    end_element(junit);
}

/* Servers group by class name: the file, then what is under test. */
static enum error_code junit_one(FILE *out, const struct result_case *result, void *state,
                                 struct error *error)
{
    struct junit *junit = state;
    char class[TEXT_BYTES];
    (void)out;
    snprintf(class, sizeof class, "%s.%s.%s", result->file, result->protocol, result->program);
    begin_element(junit, "testcase");
    put_attribute(junit, "name", result->name);
    put_attribute(junit, "classname", class);
    put_seconds(junit, result->seconds);
    put_result(junit, result);
    put_output(junit, result);
    end_element(junit);
    return outcome(junit, error);
}

static enum error_code junit_end(FILE *out, void *state, struct error *error)
{
    struct junit *junit = state;
    (void)out;
    if (junit == NULL)
        return OK;
    if (junit->writer != NULL) {
        check(junit, xmlTextWriterEndDocument(junit->writer));
        xmlFreeTextWriter(junit->writer);
    }
    enum error_code code = outcome(junit, error);
    free(junit);
    return code;
}

const struct result_form results_junit = {"junit", junit_begin, junit_one, junit_end};
