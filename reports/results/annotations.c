/* What did not pass, at the place of its scenario: for GitHub, whose runner reads commands in the
 * output of a step, and for GitLab, which shows a code quality report in merge requests. And all
 * results as newline JSON. */
#include "base/memory.h"
#include "reports/results/results.h"
#include "system/json_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#define FINGERPRINT_BYTES 24
#define JSON_VERSION 1

static const char *const result_words[RESULT_COUNT] = {"pass", "failure", "error", "skipped"};

static bool is_told(const struct result_case *result)
{
    return result->result == RESULT_FAILURE || result->result == RESULT_ERROR;
}

/* Both servers want paths from the top of the repository. */
static const char *plain_path(const char *path)
{
    while (strncmp(path, "./", 2) == 0)
        path += 2;
    return path;
}

/* --- GitHub ----------------------------------------------------------------------------------- */

/* % and line ends are escaped everywhere, : and , where they would end a property. */
static void put_escaped(FILE *out, const char *text, const char *escaped)
{
    for (; *text != '\0'; text++)
        if (strchr(escaped, *text) != NULL)
            fprintf(out, "%%%02X", (unsigned)(unsigned char)*text);
        else
            putc(*text, out);
}

static void github_one(FILE *out, const struct result_case *result, void *state)
{
    static const char in_text[] = "%\r\n", in_property[] = "%\r\n:,";
    char headline[RESULT_HEADLINE_BYTES];
    (void)state;
    if (!is_told(result))
        return;
    fputs("::error file=", out);
    put_escaped(out, plain_path(result->file), in_property);
    fprintf(out, ",line=%d,title=", result->line);
    put_escaped(out, result->name, in_property);
    fputs("::", out);
    put_escaped(out, result_headline(result, headline), in_text);
    for (size_t i = 1; i < result->why_count; i++) {
        fputs("%0A", out);
        put_escaped(out, result->why[i], in_text);
    }
    putc('\n', out);
}

const struct result_form results_github = {.name = "github", .one = github_one};

/* --- GitLab ----------------------------------------------------------------------------------- */

static void gitlab_begin(FILE *out, const struct result_totals *totals, void **state)
{
    (void)totals;
    *state = memory_new(1, sizeof(bool)); /* an issue was written: a comma comes first */
    fputs("[", out);
}

/* The same problem keeps its fingerprint from run to run; the number tells repetitions apart. */
static void fingerprint_of(const struct result_case *result, char text[FINGERPRINT_BYTES])
{
    const char *const parts[] = {plain_path(result->file), result->name,
                                 result->claim != NULL ? result->claim : result->verdict};
    XXH64_hash_t hash = (XXH64_hash_t)result->number;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        hash = XXH64(parts[i], strlen(parts[i]), hash);
    snprintf(text, FINGERPRINT_BYTES, "%016" PRIx64, (uint64_t)hash);
}

static void gitlab_one(FILE *out, const struct result_case *result, void *state)
{
    char headline[RESULT_HEADLINE_BYTES], text[2 * RESULT_HEADLINE_BYTES];
    char fingerprint[FINGERPRINT_BYTES];
    bool *any = state;
    if (!is_told(result))
        return;
    snprintf(text, sizeof text, "%s: %s", result->name, result_headline(result, headline));
    fingerprint_of(result, fingerprint);
    fputs(*any ? ",\n" : "\n", out);
    *any = true;
    json_put(json_pack("{s:o, s:o, s:s, s:s, s:{s:o, s:{s:i}}}", "description", json_text(text),
                       "check_name",
                       json_text(result->claim != NULL ? result->claim : result->verdict),
                       "fingerprint", fingerprint, "severity",
                       result->result == RESULT_FAILURE ? "critical" : "major", "location", "path",
                       json_text(plain_path(result->file)), "lines", "begin",
                       result->line > 0 ? result->line : 1),
             out, JSON_COMPACT, "");
}

static void gitlab_end(FILE *out, void *state)
{
    free(state);
    fputs("\n]\n", out);
}

const struct result_form results_gitlab = {"gitlab", gitlab_begin, gitlab_one, gitlab_end};

/* --- newline JSON ----------------------------------------------------------------------------- */

static void json_begin(FILE *out, const struct result_totals *totals, void **state)
{
    (void)state;
    json_put(json_pack("{s:s, s:i, s:I, s:I, s:I, s:I, s:I, s:f}", "form", "faultline-results",
                       "version", JSON_VERSION, "scenarios", (json_int_t)totals->all, "passes",
                       (json_int_t)totals->count[RESULT_PASS], "failures",
                       (json_int_t)totals->count[RESULT_FAILURE], "errors",
                       (json_int_t)totals->count[RESULT_ERROR], "skipped",
                       (json_int_t)totals->count[RESULT_SKIPPED], "seconds", totals->seconds),
             out, JSON_COMPACT, "\n");
}

static void json_one(FILE *out, const struct result_case *result, void *state)
{
    (void)state;
    json_put(json_pack("{s:i, s:o, s:o, s:i, s:o, s:o, s:s, s:s, s:o*, s:f, s:o, s:o, s:o, s:o*}",
                       "number", result->number, "name", json_text(result->name), "file",
                       json_text(result->file), "line", result->line, "protocol",
                       json_text(result->protocol), "program", json_text(result->program), "result",
                       result_words[result->result], "verdict", result->verdict, "claim",
                       json_text(result->claim), "seconds", result->seconds, "why",
                       json_texts((char *const *)result->why, result->why_count), "witness",
                       json_texts((char *const *)result->witness, result->witness_count), "folder",
                       json_text(result->folder), "control", json_text(result->control)),
             out, JSON_COMPACT, "\n");
}

const struct result_form results_json = {.name = "json", .begin = json_begin, .one = json_one};
