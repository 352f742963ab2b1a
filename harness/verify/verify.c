/* See verify_findings.h. */
#include "verify/verify.h"

#include "base/memory.h"
#include "verify/witness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

_Static_assert(WITNESS_EVENTS_MOST == FINDING_WITNESSES, "a witness is taken as a whole");

/* What the checker is given: the same facts in its own words. */
static struct witness_reference *references_of(const struct run_facts *facts)
{
    struct witness_reference *references = memory_new(facts->reference_count, sizeof *references);
    for (size_t i = 0; i < facts->reference_count; i++) {
        const struct reference_result *from = &facts->references[i];
        references[i] =
            (struct witness_reference){from->rank, from->name, from->near, from->bytes, from->hash};
    }
    return references;
}

/* The lines that the oracles were told of as different. */
static struct witness_printed *printed_of(const struct run_facts *facts, size_t *count)
{
    struct witness_printed *printed = memory_new(facts->printed_count, sizeof *printed);
    *count = 0;
    for (size_t i = 0; i < facts->printed_count; i++) {
        const struct printed *from = &facts->printed[i];
        if (from->state == PRINTED_OTHER)
            printed[(*count)++] =
                (struct witness_printed){from->rank, from->line != 0 ? from->text : NULL,
                                         from->reference_line != 0 ? from->reference_text : NULL};
    }
    return printed;
}

static bool is_refuted(const struct finding *finding, const struct witness *common)
{
    struct witness witness = *common;
    witness.claim = finding->claim->id;
    witness.count = finding->witness_count;
    for (unsigned i = 0; i < finding->witness_count; i++) {
        const struct event_ref *event = &finding->witness[i];
        witness.event[i] = (struct witness_event){event->rank, event->incarnation, event->index};
    }
    return !witness_holds(&witness);
}

/* The reason comes first; of four lines the last gives way. */
static void refuse(struct finding *finding)
{
    unsigned kept =
        finding->why_count < FINDING_WHY_LINES ? finding->why_count : FINDING_WHY_LINES - 1;
    memmove(finding->why[1], finding->why[0], kept * sizeof finding->why[0]);
    snprintf(finding->why[0], sizeof finding->why[0],
             "the oracle reports a violation of %s that cannot be derived again from its witness: "
             "one of the two is wrong, and it is not the protocol's fault",
             finding->claim->id);
    finding->why_count = kept + 1;
    finding->verdict = VERDICT_HARNESS_ERROR;
}

/* The worst that is still found of the claim. */
static void reweigh(struct claim_result *result, const struct judgement *judgement)
{
    bool refused = false;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        const struct finding *finding = &judgement->findings[i];
        if (finding->claim == result->claim && finding->verdict == VERDICT_VIOLATION)
            return;
        refused |= finding->claim == result->claim && finding->verdict == VERDICT_HARNESS_ERROR;
    }
    if (refused && result->verdict == VERDICT_VIOLATION) {
        result->verdict = VERDICT_HARNESS_ERROR;
        result->violations = 0;
    }
}

/* Worst first, as before: what is refused goes after the violations that are left. */
static void sort_results(struct judgement *judgement)
{
    for (size_t i = 1; i < judgement->finding_count; i++)
        for (size_t k = i;
             k > 0 && judgement->findings[k - 1].verdict < judgement->findings[k].verdict; k--) {
            struct finding moved = judgement->findings[k];
            judgement->findings[k] = judgement->findings[k - 1];
            judgement->findings[k - 1] = moved;
        }
}

void verify_findings(const struct trace_set *traces, const struct run_facts *facts,
                     struct judgement *judgement)
{
    struct witness_reference *references = references_of(facts);
    struct witness common = {.traces = traces,
                             .finished = facts->end == RUN_FINISHED,
                             .reference_count = references != NULL ? facts->reference_count : 0,
                             .reference = references};
    struct witness_printed *printed = printed_of(facts, &common.printed_count);
    common.printed = printed;
    bool refused = false;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].verdict == VERDICT_VIOLATION &&
            is_refuted(&judgement->findings[i], &common)) {
            refuse(&judgement->findings[i]);
            refused = true;
        }
    free(references);
    free(printed);
    if (!refused)
        return;
    enum verdict worst = VERDICT_HARNESS_ERROR;
    sort_results(judgement);
    for (size_t i = 0; i < judgement->result_count; i++) {
        reweigh(&judgement->results[i], judgement);
        if (judgement->results[i].verdict == VERDICT_VIOLATION)
            worst = VERDICT_VIOLATION;
    }
    judgement->verdict = worst;
}
