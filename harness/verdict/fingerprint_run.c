/* The fingerprint of a run, and of a judged run folder; see fingerprint.h. */
#include "verdict/fingerprint.h"

#include "system/json_text.h"
#include "system/path.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

/* Of all that is found of the claim that decided: which is found first is a matter of time, and not
 * the same in two runs in which all ranks did the same. The first in the alphabet stands for all.
 */
static void choose(const struct trace_set *traces, const struct run_facts *facts,
                   const struct judgement *judgement, const struct finding *deciding,
                   struct fingerprint *fingerprint)
{
    fingerprint_make(traces, facts, deciding, fingerprint);
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        struct fingerprint other;
        if (finding->claim != deciding->claim || finding->verdict != deciding->verdict)
            continue;
        fingerprint_make(traces, facts, finding, &other);
        if (strcmp(other.text, fingerprint->text) < 0)
            *fingerprint = other;
    }
}

void fingerprint_of(const struct run *run, const struct outcome *outcome,
                    struct fingerprint *fingerprint)
{
    struct path folder;
    struct trace_set traces = {0};
    struct run_facts facts = run_facts_of(run);
    const struct finding *finding = outcome_finding(outcome);
    fingerprint->text[0] = '\0';
    if (finding == NULL) {
        if (outcome->verdict != VERDICT_PASS)
            snprintf(fingerprint->text, sizeof fingerprint->text, "%s",
                     verdict_text(outcome->verdict));
        return;
    }
    if (path_format(&folder, NULL, "%s/trace", run->folder.text) == OK)
        (void)trace_set_open(folder.text, &traces, NULL);
    choose(&traces, &facts, &outcome->judgement, finding, fingerprint);
    trace_set_release(&traces);
}

enum error_code fingerprint_load(const char *folder, struct fingerprint *fingerprint,
                                 struct error *error)
{
    struct path path;
    fingerprint->text[0] = '\0';
    enum error_code code = path_format(&path, error, "%s/verdict.json", folder);
    if (code != OK)
        return code;
    if (!path_exists(path.text))
        return error_set(error, ERROR_IO, "%s: there is no verdict.json: the run was not judged",
                         folder);
    json_t *root;
    code = json_fetch(path.text, &root, error);
    const char *text = json_string_value(json_object_get(root, "fingerprint"));
    if (code == OK && text == NULL)
        code = error_set(error, ERROR_FORMAT,
                         "%s: field \"fingerprint\" is missing or not a text: an older version "
                         "judged the run",
                         path.text);
    else if (code == OK)
        snprintf(fingerprint->text, sizeof fingerprint->text, "%s", text);
    json_decref(root);
    return code;
}
