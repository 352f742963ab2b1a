/* The fingerprint of a run, and of a judged run folder; see fingerprint.h. */
#include "verdict/fingerprint.h"

#include "system/path.h"
#include "verdict/stored_verdict.h"

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
    struct trace_set traces;
    struct run_facts facts = run_facts_of(run);
    const struct finding *finding = outcome_finding(outcome);
    fingerprint->text[0] = '\0';
    if (finding == NULL) {
        if (outcome->verdict != VERDICT_PASS)
            snprintf(fingerprint->text, sizeof fingerprint->text, "%s",
                     verdict_text(outcome->verdict));
        return;
    }
    (void)trace_set_open_run(run->folder.text, &traces, NULL);
    choose(&traces, &facts, &outcome->judgement, finding, fingerprint);
    trace_set_release(&traces);
}

enum error_code fingerprint_load(const char *folder, struct fingerprint *fingerprint,
                                 struct error *error)
{
    struct stored_verdict stored;
    enum error_code code = stored_verdict_load(folder, &stored, error);
    fingerprint->text[0] = '\0';
    if (code == OK && stored.root == NULL)
        code = error_set(error, ERROR_IO, "%s: there is no verdict.json: the run was not judged",
                         folder);
    else if (code == OK && stored.fingerprint == NULL)
        code = error_set(error, ERROR_FORMAT,
                         "%s/verdict.json: field \"fingerprint\" is missing or not a text: an "
                         "older version judged the run",
                         folder);
    else if (code == OK)
        snprintf(fingerprint->text, sizeof fingerprint->text, "%s", stored.fingerprint);
    stored_verdict_release(&stored);
    return code;
}
