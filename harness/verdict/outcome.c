/* Judging and expectations; see outcome.h. What is printed of it: jobs/outcome_print.c. */
#include "verdict/outcome.h"

#include "oracles/oracle.h"
#include "oracles/reading/history.h"
#include "run/printed.h"
#include "system/json_text.h"
#include "trace/reader.h"
#include "verdict/fingerprint.h"
#include "verdict/headline.h"
#include "verify/verify.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define IDS_MAX (2 * SCENARIO_MAX_CLAIMS + 1)

/* What the scenario's expectations speak of, and its claims: what these take back stays so. */
static size_t ids_of(const struct scenario *scenario, const char *ids[IDS_MAX])
{
    size_t count = 0;
    for (size_t i = 0; i < scenario->cover_count && count < IDS_MAX; i++)
        ids[count++] = scenario->cover[i];
    if (scenario->violates != NULL && count < IDS_MAX)
        ids[count++] = scenario->violates;
    for (size_t i = 0; i < scenario->claim_count && count < IDS_MAX; i++)
        ids[count++] = scenario->claim[i];
    return count;
}

static void decide(struct outcome *outcome, enum verdict verdict, const char *remark,
                   const char *why)
{
    outcome->verdict = verdict;
    snprintf(outcome->remark, sizeof outcome->remark, "%s", remark);
    snprintf(outcome->why, sizeof outcome->why, "%s", why);
}

static bool has_finding(const struct judgement *judgement, enum verdict verdict)
{
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == verdict)
            return true;
    return false;
}

/* Vacuous without a finding: the first of the claims asked for whose situation never arose. */
static void note_what_was_needed(const char *const *ids, size_t count, struct outcome *outcome)
{
    const struct judgement *judgement = &outcome->judgement;
    for (size_t c = 0; c < count; c++)
        for (size_t i = 0; i < judgement->result_count; i++) {
            const struct claim_result *result = &judgement->results[i];
            if (result->verdict != VERDICT_VACUOUS || !claim_is_named(result->claim, ids[c]))
                continue;
            snprintf(outcome->why, sizeof outcome->why,
                     "%s could not be judged: in this run there was not what it needs to see, %s",
                     result->claim->id, result->claim->needs);
            return;
        }
}

/* As the oracles say. */
static void take_judgement(const char *const *ids, size_t count, struct outcome *outcome)
{
    const struct judgement *judgement = &outcome->judgement;
    enum verdict verdict = judgement->verdict;
    if (verdict == VERDICT_PASS)
        decide(outcome, verdict, "", "");
    else if (verdict == VERDICT_VIOLATION && judgement->finding_count > 0)
        decide(outcome, verdict, judgement->findings[0].claim->id, "");
    else
        decide(outcome, verdict, verdict_text(verdict), "");
    if (verdict == VERDICT_VACUOUS && !has_finding(judgement, verdict))
        note_what_was_needed(ids, count, outcome);
}

/* A situation that the scenario promises and that did not arise. */
static void apply_cover(const struct scenario *scenario, struct outcome *outcome)
{
    char why[RUN_TEXT_BYTES];
    if (outcome->verdict != VERDICT_PASS)
        return;
    for (size_t i = 0; i < scenario->cover_count; i++) {
        uint64_t situations = 0;
        for (size_t k = 0; k < outcome->judgement.result_count; k++)
            if (claim_is_named(outcome->judgement.results[k].claim, scenario->cover[i]))
                situations += outcome->judgement.results[k].situations;
        if (situations > 0)
            continue;
        snprintf(why, sizeof why, "the scenario promises the situation of %s, and it never arose",
                 scenario->cover[i]);
        decide(outcome, VERDICT_VACUOUS, verdict_text(VERDICT_VACUOUS), why);
        return;
    }
}

/* Of a fault that was asked for and never took place; NULL: all did. */
static const struct finding *not_installed(const struct outcome *outcome)
{
    const struct judgement *judgement = &outcome->judgement;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_VACUOUS &&
            strcmp(judgement->findings[i].claim->id, "I.installed") == 0)
            return &judgement->findings[i];
    return NULL;
}

/* Exactly the expected claim must be found violated: nothing else, and nothing of ours. */
static void apply_violates(const struct scenario *scenario, struct outcome *outcome)
{
    const char *expected = scenario->violates;
    const struct claim_result *found = NULL, *ours = NULL;
    const struct claim *other = NULL;
    char why[RUN_TEXT_BYTES];
    if (expected == NULL)
        return;
    for (size_t i = 0; i < outcome->judgement.result_count; i++) {
        const struct claim_result *result = &outcome->judgement.results[i];
        if (result->verdict == VERDICT_HARNESS_ERROR)
            ours = result;
        else if (result->verdict == VERDICT_VIOLATION && claim_is_named(result->claim, expected))
            found = result;
    }
    for (size_t i = outcome->judgement.finding_count; i-- > 0;) {
        const struct finding *finding = &outcome->judgement.findings[i];
        if (finding->verdict == VERDICT_VIOLATION && !claim_is_named(finding->claim, expected))
            other = finding->claim; /* in the end the first of them */
    }
    if (found != NULL && other == NULL && ours == NULL) {
        if (not_installed(outcome) == NULL) {
            decide(outcome, VERDICT_PASS, "", "");
            return;
        }
        snprintf(why, sizeof why,
                 "a violation of %s is expected, and found; but not all of the plan was done, so "
                 "it is not the plan that shows it",
                 expected);
        decide(outcome, VERDICT_VACUOUS, verdict_text(VERDICT_VACUOUS), why);
    } else if (other != NULL) {
        snprintf(why, sizeof why, "a violation of %s is expected, %s; but %s is violated as well",
                 expected, found != NULL ? "and found" : "and was not found", other->id);
        decide(outcome, VERDICT_VIOLATION, other->id, why);
    } else if (found == NULL && outcome->verdict == VERDICT_PASS) {
        snprintf(why, sizeof why, "a violation of %s is expected, and none was found", expected);
        decide(outcome, VERDICT_VIOLATION, expected, why);
    } else if (ours != NULL) {
        decide(outcome, VERDICT_HARNESS_ERROR, ours->claim->id, "");
    }
}

/* A scenario that expects a violation may be decided by another finding than the worst. */
static void put_deciding_first(struct outcome *outcome)
{
    struct judgement *judgement = &outcome->judgement;
    size_t by_claim = 0, by_verdict = 0, count = judgement->finding_count;
    enum verdict verdict = outcome->verdict == VERDICT_PASS ? VERDICT_VIOLATION : outcome->verdict;
    while (by_claim < count &&
           strcmp(judgement->findings[by_claim].claim->id, outcome->remark) != 0)
        by_claim++;
    while (by_verdict < count && judgement->findings[by_verdict].verdict != verdict)
        by_verdict++;
    size_t deciding = by_claim < count ? by_claim : by_verdict;
    if (deciding > 0 && deciding < count)
        headline_put_first(judgement, deciding);
}

const struct finding *outcome_finding(const struct outcome *outcome)
{
    return outcome->judgement.finding_count > 0 ? &outcome->judgement.findings[0] : NULL;
}

/* --- a library under test --------------------------------------------------------------------- */

static struct library_seen look_at_library(const struct trace_set *traces)
{
    struct library_seen seen = {0};
    for (size_t i = 0; i < traces->count; i++) {
        seen.loaded |= atomic_load(&traces->trace[i].header->libraries);
        seen.taken += atomic_load(&traces->trace[i].header->taken);
    }
    return seen;
}

/* Some rank has noted a checkpoint. */
static bool looks_checkpointed(const struct trace_set *traces)
{
    uint64_t index;
    for (size_t i = 0; i < traces->count; i++)
        if (note_find(&traces->trace[i], NOTE_CHECKPOINT, LINE_ANY, UINT64_MAX, &index))
            return true;
    return false;
}

/* The first of the files that was in no process. False: all have been. */
static bool find_missing(const struct scenario *scenario, const struct library_seen *seen,
                         char *name, size_t bytes)
{
    const char *at = scenario->library;
    for (unsigned i = 0; *at != '\0'; i++) {
        size_t length = strcspn(at, ":");
        if ((seen->loaded >> i & 1) == 0) {
            snprintf(name, bytes, "%.*s", (int)length, at);
            return true;
        }
        at += length + (at[length] == ':');
    }
    return false;
}

/* What a library calls that is not the one named counts as the program's: then nothing that was
 * found of the program can be believed, but that the run did not end. */
static void apply_library(const struct scenario *scenario, struct outcome *outcome)
{
    char why[RUN_TEXT_BYTES], name[RUN_TEXT_BYTES / 2];
    if (scenario->library == NULL || strcmp(outcome->remark, "H.progress") == 0)
        return;
    if (find_missing(scenario, &outcome->library, name, sizeof name)) {
        snprintf(
            why, sizeof why,
            "the scenario names the library %s, and no process of the run has loaded a file of "
            "that name",
            name);
        decide(outcome, VERDICT_HARNESS_ERROR, verdict_text(VERDICT_HARNESS_ERROR), why);
    } else if (outcome->library.taken == 0 && outcome->verdict == VERDICT_PASS) {
        snprintf(why, sizeof why,
                 "the scenario names the library %s, and it made no call of MPI by an MPI_ name",
                 scenario->library);
        decide(outcome, VERDICT_VACUOUS, verdict_text(VERDICT_VACUOUS), why);
    }
}

/* --- judging ---------------------------------------------------------------------------------- */

static enum error_code judge_traces(const struct run *run, const char *const *ids, size_t count,
                                    const char *expected, struct outcome *outcome,
                                    struct error *error)
{
    struct judgement *judgement = &outcome->judgement;
    struct trace_set traces = {0};
    struct run_facts facts = run_facts_of(run);
    struct printed *printed;
    enum error_code code = printed_compare(run, &printed, &facts.printed_count, error);
    facts.printed = printed;
    if (code == OK)
        code = trace_set_open_run(run->folder.text, &traces, error);
    if (code == OK)
        code = judge(&traces, &facts, ids, count, judgement, error);
    if (code == OK)
        verify_findings(&traces, &facts, judgement);
    if (code == OK)
        headline_choose(&traces, expected, judgement);
    if (code == OK) {
        fault_places_find(&traces, judgement, &outcome->faults);
        outcome->library = look_at_library(&traces);
        outcome->took_checkpoint = looks_checkpointed(&traces);
    }
    trace_set_release(&traces);
    free(printed);
    return code;
}

void outcome_judge(const struct run *run, const char *const *ids, size_t id_count,
                   struct outcome *outcome)
{
    const char *own[IDS_MAX];
    struct error error = {0};
    bool as_asked = id_count == 0;
    memset(outcome, 0, sizeof *outcome);
    if (run->end == RUN_VOID) {
        decide(outcome, VERDICT_HARNESS_ERROR, verdict_text(VERDICT_HARNESS_ERROR), run->end_text);
        return;
    }
    if (run->end == RUN_REFUSED || (run->end == RUN_INTERRUPTED && !run->recorded)) {
        decide(outcome, VERDICT_UNKNOWN, verdict_text(VERDICT_UNKNOWN), run->end_text);
        return;
    }
    if (as_asked) {
        id_count = ids_of(run->scenario, own);
        ids = own;
    }
    if (judge_traces(run, ids, id_count, as_asked ? run->scenario->violates : NULL, outcome,
                     &error) != OK) {
        decide(outcome, VERDICT_HARNESS_ERROR, verdict_text(VERDICT_HARNESS_ERROR), error.text);
        return;
    }
    take_judgement(ids, id_count, outcome);
    if (as_asked) {
        apply_violates(run->scenario, outcome);
        apply_cover(run->scenario, outcome);
    }
    apply_library(run->scenario, outcome);
    put_deciding_first(outcome);
}

void outcome_release(struct outcome *outcome)
{
    judgement_release(&outcome->judgement);
}

/* Each with a fingerprint of its own: a run may fail in several ways. */
static json_t *pack_finding(const struct finding *finding, const struct trace_set *traces,
                            const struct run_facts *facts)
{
    struct fingerprint fingerprint;
    json_t *why = json_array(), *witness = json_array();
    for (unsigned i = 0; i < finding->why_count; i++)
        json_array_append_new(why, json_text(finding->why[i]));
    for (unsigned i = 0; i < finding->witness_count; i++) {
        char text[EVENT_TEXT_BYTES];
        json_array_append_new(witness, json_string(event_text(finding->witness[i], text)));
    }
    fingerprint_make(traces, facts, finding, &fingerprint);
    return json_pack("{s:s, s:s, s:b, s:s, s:o, s:o}", "claim", finding->claim->id, "verdict",
                     verdict_text(finding->verdict), "follows", finding->follows, "fingerprint",
                     fingerprint.text, "why", why, "witness", witness);
}

static json_t *pack_findings(const struct run *run, const struct judgement *judgement)
{
    struct trace_set traces = {0};
    struct run_facts facts = run_facts_of(run);
    json_t *findings = json_array();
    if (judgement->finding_count > 0)
        (void)trace_set_open_run(run->folder.text, &traces, NULL);
    for (size_t i = 0; i < judgement->finding_count; i++)
        json_array_append_new(findings, pack_finding(&judgement->findings[i], &traces, &facts));
    trace_set_release(&traces);
    return findings;
}

/* null: there was none. */
static const char *const words[CONTROL_RESULTS] = {
    [CONTROL_NONE] = "none",
    [CONTROL_PASSES] = "passes",
    [CONTROL_FAILS] = "fails",
    [CONTROL_UNDECIDED] = "undecided",
};

const char *control_word(enum control_result result)
{
    return (unsigned)result < CONTROL_RESULTS ? words[result] : "?";
}

static json_t *pack_control(const struct control *control)
{
    if (control->result == CONTROL_NONE)
        return json_null();
    return json_pack("{s:s, s:o, s:s, s:f}", "result", control_word(control->result), "text",
                     json_text(control->text), "claim", control->claim, "seconds",
                     control->seconds);
}

static const char *const confirmation_words[CONFIRMED_RESULTS] = {
    [CONFIRMED_NONE] = "none",
    [CONFIRMED_ALSO] = "also",
    [CONFIRMED_ALONE] = "alone",
    [CONFIRMED_NOT] = "not repeated",
};

const char *confirmation_word(enum confirmation_result result)
{
    return (unsigned)result < CONFIRMED_RESULTS ? confirmation_words[result] : "?";
}

json_t *confirmation_pack(const struct confirmation *confirmation)
{
    if (confirmation->result == CONFIRMED_NONE)
        return NULL;
    return json_pack("{s:s, s:o, s:i, s:i, s:s*}", "result",
                     confirmation_word(confirmation->result), "text", json_text(confirmation->text),
                     "runs", (int)confirmation->runs, "same", (int)confirmation->same, "legal",
                     confirmation->result == CONFIRMED_ALONE ? verdict_text(confirmation->legal)
                                                             : NULL);
}

/* NULL: the scenario names none. */
static json_t *pack_library(const struct scenario *scenario, const struct library_seen *seen)
{
    if (scenario->library == NULL && scenario->helpers == NULL)
        return NULL;
    return json_pack("{s:o*, s:s*, s:I}", "files", json_text(scenario->library), "helpers",
                     scenario->helpers, "taken", (json_int_t)seen->taken);
}

/* NULL: it was made once. */
static json_t *pack_twice(const struct outcome *outcome)
{
    if (!outcome->compared)
        return NULL;
    return json_pack("{s:b, s:o*}", "same", outcome->differs[0] == '\0', "differs",
                     outcome->differs[0] != '\0' ? json_text(outcome->differs) : NULL);
}

static json_t *pack_outcome(const struct run *run, const struct outcome *outcome)
{
    struct fingerprint fingerprint;
    fingerprint_of(run, outcome, &fingerprint);
    const struct judgement *judgement = &outcome->judgement;
    json_t *results = json_array(), *findings = pack_findings(run, judgement);
    for (size_t i = 0; i < judgement->result_count; i++) {
        const struct claim_result *result = &judgement->results[i];
        json_array_append_new(results, json_pack("{s:s, s:s, s:I, s:I}", "claim", result->claim->id,
                                                 "verdict", verdict_text(result->verdict),
                                                 "situations", (json_int_t)result->situations,
                                                 "violations", (json_int_t)result->violations));
    }
    return json_pack("{s:i, s:s, s:s, s:o, s:s, s:I, s:o, s:o, s:o, s:o*, s:o, s:o*, s:o*}",
                     "version", 1, "verdict", verdict_text(outcome->verdict), "remark",
                     outcome->remark, "why", json_text(outcome->why), "fingerprint",
                     fingerprint.text, "records", (json_int_t)judgement->records, "results",
                     results, "findings", findings, "faults", fault_places_pack(&outcome->faults),
                     "library", pack_library(run->scenario, &outcome->library), "control",
                     pack_control(&outcome->control), "mpiexec",
                     confirmation_pack(&outcome->confirmation), "twice", pack_twice(outcome));
}

enum error_code outcome_store(const struct run *run, const struct outcome *outcome,
                              struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/verdict.json", run->folder.text);
    if (code != OK)
        return code;
    json_t *root = pack_outcome(run, outcome);
    code = json_store(root, path.text, 2, error);
    json_decref(root);
    return code;
}
