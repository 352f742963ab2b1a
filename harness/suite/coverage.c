/* See coverage.h. */
#include "suite/coverage.h"

#include "base/memory.h"
#include "oracles/oracle.h"
#include "reports/results/tap.h"
#include "system/json_text.h"
#include "verdict/stored_verdict.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULT_MARK "fault="
#define ROLE_MARK " role="
#define PHASE_MARK " phase="
#define CELL_TEXT "coverage: " /* what the texts of cells begin with */
#define LINE_BYTES 160
#define NAME_FORM "%s covers what it promises"

/* --- what is promised ---------------------------------------------------------------------- */

/* The claim itself, or "C" and "C.cell" of "C.cell.before-logging". */
static bool is_part_of(const char *id, const char *what)
{
    size_t length = strlen(what);
    return strncmp(id, what, length) == 0 && (id[length] == '\0' || id[length] == '.');
}

static bool is_fault(const char *what)
{
    return strncmp(what, FAULT_MARK, strlen(FAULT_MARK)) == 0;
}

enum error_code covered_check(const struct covered *covered, struct error *error)
{
    if (is_fault(covered->what))
        return OK;
    for (size_t i = 0; i < claim_count; i++)
        if (is_part_of(claims[i].id, covered->what))
            return OK;
    return claim_check_name(covered->what, error);
}

/* Whether `word` stands after `mark` in `what`, or nothing is said there. The phase is the last
 * and may hold blanks. */
static bool says(const char *what, const char *mark, const char *word)
{
    const char *at = strstr(what, mark);
    size_t length = strlen(word);
    if (at == NULL)
        return true;
    at += strlen(mark);
    return strncmp(at, word, length) == 0 &&
           (at[length] == '\0' || (at[length] == ' ' && strcmp(mark, PHASE_MARK) != 0));
}

static bool has_fault(const struct fault_places *faults, const char *what)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct fault_place *place = &faults->place[i];
        if (says(what, FAULT_MARK, place->fault) && says(what, ROLE_MARK, place->role) &&
            says(what, PHASE_MARK, place->phase))
            return true;
    }
    return false;
}

static void add_hole(struct promise *promise, const char *hole)
{
    for (size_t i = 0; i < promise->hole_count; i++)
        if (strcmp(promise->hole[i], hole) == 0)
            return;
    if (promise->hole_count < HOLES_MOST)
        promise->hole[promise->hole_count++] = hole;
}

static void find_holes(struct promise *promise, const struct covered *covered,
                       const struct coverage *all, const struct fault_places *faults)
{
    if (is_fault(covered->what)) {
        if (!has_fault(faults, covered->what))
            add_hole(promise, covered->what);
        return;
    }
    for (size_t i = 0; i < claim_count; i++) {
        bool promised = is_part_of(claims[i].id, covered->what) &&
                        (!claims[i].seldom || strcmp(claims[i].id, covered->what) == 0);
        if (promised && !claims[i].always && all[i].situations == 0)
            add_hole(promise, claims[i].id);
    }
}

/* --- who promises -------------------------------------------------------------------------- */

/* All that the file has is chosen. */
static bool is_whole(const struct selection *selection, const char *file)
{
    size_t there = 0, chosen = 0;
    for (size_t i = 0; i < selection->list.count; i++)
        there += strcmp(selection->list.scenario[i].file, file) == 0;
    for (size_t i = 0; i < selection->count; i++)
        chosen += strcmp(selection->chosen[i]->file, file) == 0;
    return there == chosen;
}

static bool has_promised(const struct suite_coverage *coverage, const char *file)
{
    for (size_t i = 0; i < coverage->promise_count; i++)
        if (strcmp(coverage->promise[i].file, file) == 0)
            return true;
    return false;
}

void suite_coverage_begin(const struct selection *selection, struct suite_coverage *coverage)
{
    const struct scenario_list *list = &selection->list;
    *coverage = (struct suite_coverage){.list = list};
    coverage->all = memory_new(claim_count, sizeof *coverage->all);
    coverage->promise = memory_new(list->covered_count, sizeof *coverage->promise);
    for (size_t i = 0; i < list->covered_count; i++) {
        const struct covered *covered = &list->covered[i];
        if (has_promised(coverage, covered->file) || !is_whole(selection, covered->file))
            continue;
        struct promise *promise = &coverage->promise[coverage->promise_count++];
        *promise = (struct promise){.file = covered->file,
                                    .line = covered->line,
                                    .name = memory_format(NAME_FORM, covered->file)};
    }
}

void suite_coverage_release(struct suite_coverage *coverage)
{
    for (size_t i = 0; i < coverage->promise_count; i++)
        free(coverage->promise[i].name);
    free(coverage->promise);
    free(coverage->all);
    *coverage = (struct suite_coverage){0};
}

/* --- what was covered ---------------------------------------------------------------------- */

/* Of the jobs of `file`, NULL: of all. Returns how many of them were judged. */
static uint64_t add_up(struct job *const *jobs, size_t count, const char *file,
                       struct coverage *all, struct fault_places *faults)
{
    uint64_t runs = 0;
    for (size_t i = 0; i < count; i++) {
        const struct job *job = jobs[i];
        if (job->is_reference || job->state != JOB_DONE ||
            (file != NULL && strcmp(job->scenario->file, file) != 0))
            continue;
        struct stored_verdict stored;
        const char *violates = job->scenario->violates;
        (void)stored_verdict_load(job->folder.text, &stored, NULL);
        runs += stored.root != NULL;
        coverage_add(&stored, violates != NULL ? violates : "", all);
        stored_verdict_faults(&stored, faults);
        stored_verdict_release(&stored);
    }
    return runs;
}

void suite_coverage_collect(struct suite_coverage *coverage, struct job *const *jobs, size_t count)
{
    coverage->runs = add_up(jobs, count, NULL, coverage->all, &coverage->faults);
    for (size_t i = 0; i < coverage->promise_count; i++) {
        struct promise *promise = &coverage->promise[i];
        struct fault_places *faults = memory_new(1, sizeof *faults);
        struct coverage *all = memory_new(claim_count, sizeof *all);
        add_up(jobs, count, promise->file, all, faults);
        for (size_t k = 0; k < coverage->list->covered_count; k++)
            if (strcmp(coverage->list->covered[k].file, promise->file) == 0)
                find_holes(promise, &coverage->list->covered[k], all, faults);
        free(faults);
        free(all);
    }
}

/* --- printed ------------------------------------------------------------------------------- */

static bool is_cell(const struct claim *claim)
{
    return strstr(claim->id, ".cell.") != NULL;
}

static void print_claims(FILE *out, const struct suite_coverage *coverage)
{
    for (size_t i = 0; i < claim_count; i++) {
        const struct coverage *one = &coverage->all[i];
        if (one->runs > 0 && !is_cell(&claims[i]) && !claims[i].always)
            tap_comment(
                out, "  %-18s %8" PRIu64 " situations in %" PRIu64 " run%s, %" PRIu64 " violations",
                claims[i].id, one->situations, one->runs, one->runs == 1 ? "" : "s",
                one->violations);
    }
}

/* A line for each fault and role: the phases, each with how often. */
static void print_faults(FILE *out, const struct fault_places *faults)
{
    for (size_t i = 0; i < faults->count; i++) {
        const struct fault_place *first = &faults->place[i];
        char line[LINE_BYTES];
        bool printed = false;
        for (size_t k = 0; k < i; k++)
            printed |= strcmp(faults->place[k].fault, first->fault) == 0 &&
                       strcmp(faults->place[k].role, first->role) == 0;
        int used = snprintf(line, sizeof line, "  %s, %s:", first->fault, first->role);
        for (size_t k = i; !printed && k < faults->count; k++) {
            const struct fault_place *place = &faults->place[k];
            if (strcmp(place->fault, first->fault) != 0 || strcmp(place->role, first->role) != 0)
                continue;
            if (used > LINE_BYTES - FAULT_PLACE_BYTES - 24) {
                tap_comment(out, "%s", line);
                used = snprintf(line, sizeof line, "   ");
            }
            used += snprintf(line + used, sizeof line - (size_t)used, " %s %" PRIu64, place->phase,
                             place->count);
        }
        if (!printed)
            tap_comment(out, "%s", line);
    }
}

/* What was judged and never arose. */
static void print_holes(FILE *out, const struct suite_coverage *coverage)
{
    char line[LINE_BYTES] = "";
    size_t used = 0;
    for (size_t i = 0; i < claim_count; i++) {
        const struct coverage *one = &coverage->all[i];
        if (one->runs == 0 || one->situations > 0 || claims[i].always)
            continue;
        if (used + strlen(claims[i].id) + 2 >= LINE_BYTES / 2) {
            tap_comment(out, "holes: %s", line);
            used = 0;
        }
        used += (size_t)snprintf(line + used, sizeof line - used, "%s%s", used > 0 ? ", " : "",
                                 claims[i].id);
    }
    tap_comment(out, "holes: %s", used > 0 ? line : "none");
}

void suite_coverage_print(FILE *out, const struct suite_coverage *coverage)
{
    if (coverage->runs == 0)
        return;
    tap_comment(out, "coverage of %" PRIu64 " run%s", coverage->runs,
                coverage->runs == 1 ? "" : "s");
    print_claims(out, coverage);
    coverage_print_matrices(out, coverage->all);
    if (coverage->faults.count > 0)
        tap_comment(out, "faults by role, and by the phase that the rank was in");
    print_faults(out, &coverage->faults);
    print_holes(out, coverage);
}

void suite_coverage_print_promises(FILE *out, const struct suite_coverage *coverage, int number)
{
    for (size_t i = 0; i < coverage->promise_count; i++) {
        const struct promise *promise = &coverage->promise[i];
        bool good = promise->hole_count == 0;
        tap_line(out, good, number + (int)i, promise->name,
                 good ? NULL : verdict_text(VERDICT_VACUOUS));
        if (good)
            continue;
        tap_block_begin(out);
        tap_string(out, "verdict", verdict_text(VERDICT_VACUOUS));
        tap_list(out, "holes");
        for (size_t k = 0; k < promise->hole_count; k++) {
            const struct claim *claim = claim_find(promise->hole[k]);
            char text[TAP_STRING_BYTES];
            snprintf(text, sizeof text, "%s: no run had %s", promise->hole[k],
                     claim == NULL    ? "it"
                     : is_cell(claim) ? claim->text + strlen(CELL_TEXT)
                                      : claim->needs);
            tap_item(out, text);
        }
        tap_block_end(out);
    }
}

struct result_case promise_result(const struct promise *promise, int number, const char *folder)
{
    bool good = promise->hole_count == 0;
    struct result_case result = {.number = number,
                                 .name = promise->name,
                                 .file = promise->file,
                                 .line = promise->line,
                                 .protocol = "suite",
                                 .program = "coverage",
                                 .result = good ? RESULT_PASS : RESULT_ERROR,
                                 .verdict = verdict_text(good ? VERDICT_PASS : VERDICT_VACUOUS),
                                 .folder = folder};
    if (!good)
        result.why[result.why_count++] = "no run had what these need:";
    for (size_t i = 0; i < promise->hole_count && result.why_count < RESULT_WHY_MOST; i++)
        result.why[result.why_count++] = promise->hole[i];
    return result;
}

/* --- stored -------------------------------------------------------------------------------- */

static json_t *pack_promises(const struct suite_coverage *coverage)
{
    json_t *promises = json_array();
    for (size_t i = 0; i < coverage->promise_count; i++) {
        const struct promise *promise = &coverage->promise[i];
        json_array_append_new(
            promises,
            json_pack("{s:o, s:i, s:o}", "file", json_text(promise->file), "line", promise->line,
                      "holes", json_texts((char *const *)promise->hole, promise->hole_count)));
    }
    return promises;
}

enum error_code suite_coverage_store(const struct suite_coverage *coverage, const char *folder,
                                     struct error *error)
{
    struct path path;
    json_t *judged = json_array();
    enum error_code code = path_format(&path, error, "%s/coverage.json", folder);
    for (size_t i = 0; i < claim_count; i++) {
        const struct coverage *one = &coverage->all[i];
        if (one->runs > 0)
            json_array_append_new(judged, json_pack("{s:s, s:I, s:I, s:I}", "claim", claims[i].id,
                                                    "runs", (json_int_t)one->runs, "situations",
                                                    (json_int_t)one->situations, "violations",
                                                    (json_int_t)one->violations));
    }
    json_t *root =
        json_pack("{s:i, s:I, s:o, s:o, s:o}", "version", 1, "runs", (json_int_t)coverage->runs,
                  "claims", judged, "faults", fault_places_pack(&coverage->faults), "promises",
                  pack_promises(coverage));
    if (code == OK)
        code = json_store(root, path.text, 1, error);
    json_decref(root);
    return code;
}
