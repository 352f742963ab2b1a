/* See stored_verdict.h. */
#include "verdict/stored_verdict.h"

#include "base/memory.h"
#include "stacks/kept_stacks.h"
#include "system/json_text.h"
#include "system/path.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *text_of(const json_t *object, const char *field)
{
    const char *text = json_string_value(json_object_get(object, field));
    return text != NULL ? text : "";
}

static uint64_t number_of(const json_t *object, const char *field)
{
    return (uint64_t)json_integer_value(json_object_get(object, field));
}

static void take_event(const json_t *string, struct stored_finding *finding)
{
    struct event_list *witness = &finding->witness;
    const char *text = json_string_value(string);
    finding->shown[finding->shown_count++] = text != NULL ? text : "";
    size_t bytes = text != NULL ? event_parse(text, &witness->event[witness->count]) : 0;
    if (bytes > 0 && text[bytes] == '\0')
        witness->count++;
    else
        finding->strange = text != NULL ? text : "";
}

static void take_finding(const json_t *object, struct stored_finding *finding)
{
    const json_t *why = json_object_get(object, "why"),
                 *witness = json_object_get(object, "witness");
    finding->claim = text_of(object, "claim");
    finding->known = claim_find(finding->claim);
    finding->verdict = text_of(object, "verdict");
    finding->fingerprint = text_of(object, "fingerprint");
    finding->follows = json_is_true(json_object_get(object, "follows"));
    for (size_t i = 0; i < json_array_size(why) && finding->why_count < FINDING_WHY_LINES; i++)
        if ((finding->why[finding->why_count] = json_text_value(json_array_get(why, i))) != NULL)
            finding->why_count++;
    for (size_t i = 0; i < json_array_size(witness) && i < WITNESS_MOST; i++)
        take_event(json_array_get(witness, i), finding);
}

static void take_result(const json_t *object, struct stored_result *result)
{
    *result = (struct stored_result){.claim = text_of(object, "claim"),
                                     .known = claim_find(text_of(object, "claim")),
                                     .verdict = text_of(object, "verdict"),
                                     .situations = number_of(object, "situations"),
                                     .violations = number_of(object, "violations")};
}

static void take_control(const json_t *object, struct control *control)
{
    for (int i = CONTROL_NONE + 1; i < CONTROL_RESULTS; i++)
        if (strcmp(text_of(object, "result"), control_word((enum control_result)i)) == 0)
            control->result = (enum control_result)i;
    snprintf(control->text, sizeof control->text, "%s", text_of(object, "text"));
    snprintf(control->claim, sizeof control->claim, "%s", text_of(object, "claim"));
    control->seconds = json_number_value(json_object_get(object, "seconds"));
}

static void take_confirmation(const json_t *object, struct confirmation *confirmation)
{
    const char *word = text_of(object, "result"), *text = text_of(object, "text");
    for (int i = CONFIRMED_NONE + 1; i < CONFIRMED_RESULTS; i++)
        if (strcmp(word, confirmation_word((enum confirmation_result)i)) == 0)
            confirmation->result = (enum confirmation_result)i;
    confirmation->runs = (unsigned)number_of(object, "runs");
    confirmation->same = (unsigned)number_of(object, "same");
    confirmation->legal = verdict_from_text(text_of(object, "legal"));
    snprintf(confirmation->text, sizeof confirmation->text, "%s", text);
}

static void take(struct stored_verdict *stored)
{
    const json_t *root = stored->root, *results = json_object_get(root, "results"),
                 *findings = json_object_get(root, "findings");
    stored->word = text_of(root, "verdict");
    stored->verdict = verdict_from_text(stored->word);
    if (stored->verdict == VERDICT_COUNT)
        stored->verdict = VERDICT_HARNESS_ERROR;
    stored->remark = text_of(root, "remark");
    stored->fingerprint = json_string_value(json_object_get(root, "fingerprint"));
    stored->why = json_text_value(json_object_get(root, "why"));
    stored->records = number_of(root, "records");
    stored->result = memory_new(json_array_size(results), sizeof *stored->result);
    stored->finding = memory_new(json_array_size(findings), sizeof *stored->finding);
    for (size_t i = 0; i < json_array_size(results); i++)
        take_result(json_array_get(results, i), &stored->result[stored->result_count++]);
    for (size_t i = 0; i < json_array_size(findings); i++)
        take_finding(json_array_get(findings, i), &stored->finding[stored->finding_count++]);
    take_control(json_object_get(root, "control"), &stored->control);
    take_confirmation(json_object_get(root, "mpiexec"), &stored->confirmation);
    stored->differs = text_of(json_object_get(root, "twice"), "differs");
}

enum error_code stored_verdict_load(const char *folder, struct stored_verdict *stored,
                                    struct error *error)
{
    struct path path;
    *stored = (struct stored_verdict){
        .verdict = VERDICT_HARNESS_ERROR, .word = "", .remark = "", .why = NULL};
    enum error_code code = path_format(&path, error, "%s/verdict.json", folder);
    if (code != OK || !path_exists(path.text))
        return code;
    code = json_fetch(path.text, &stored->root, error);
    if (code == OK)
        take(stored);
    return code;
}

void stored_verdict_release(struct stored_verdict *stored)
{
    for (size_t i = 0; i < stored->finding_count; i++)
        for (size_t k = 0; k < stored->finding[i].why_count; k++)
            free(stored->finding[i].why[k]);
    free(stored->finding);
    free(stored->result);
    free(stored->why);
    json_decref(stored->root);
    *stored = (struct stored_verdict){0};
}

const struct stored_finding *stored_verdict_finding(const struct stored_verdict *stored)
{
    return stored->finding_count > 0 ? &stored->finding[0] : NULL;
}

enum error_code stored_witness(const char *folder, struct event_list *witness, struct error *error)
{
    struct stored_verdict stored;
    enum error_code code = stored_verdict_load(folder, &stored, error);
    *witness = (struct event_list){0};
    const struct stored_finding *finding = stored_verdict_finding(&stored);
    if (code == OK && finding != NULL && finding->strange != NULL)
        code = error_set(error, ERROR_FORMAT, "%s/verdict.json: \"%.64s\" is no event (r2#1:e9)",
                         folder, finding->strange);
    else if (code == OK && finding != NULL)
        *witness = finding->witness;
    stored_verdict_release(&stored);
    return code;
}

void stored_verdict_faults(const struct stored_verdict *stored, struct fault_places *places)
{
    fault_places_unpack(json_object_get(stored->root, "faults"), places);
}

void stored_verdict_add_stacks(const char *folder)
{
    struct path path;
    json_t *stacks = kept_stacks_read(folder);
    bool some =
        json_object_size(stacks) > 0 && path_format(&path, NULL, "%s/verdict.json", folder) == OK;
    json_t *root = some ? json_fetch_from(folder, "verdict.json") : NULL;
    if (root == NULL) {
        json_decref(stacks);
        return;
    }
    json_object_set_new(root, "stacks", stacks);
    (void)json_store(root, path.text, 2, NULL); /* the verdict stays without them */
    json_decref(root);
}
