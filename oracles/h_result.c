/* H.result: what the program declares as its results is what it declares without faults. A member
 * to copy: it looks at notes and facts only. */
#include "oracles/judging.h"

#include <inttypes.h>
#include <string.h>

/* The newest result of that name in the rank's newest incarnation. */
static const struct trace *find_result(const struct judging *judging,
                                       const struct reference_result *reference, uint64_t *index)
{
    const struct trace *trace = NULL;
    for (int i = judging->traces->incarnations - 1; i >= 0 && trace == NULL; i--)
        trace = trace_set_find(judging->traces, reference->rank, i);
    if (trace == NULL)
        return NULL;
    *index = trace->count;
    while (note_before(trace, *index, index)) {
        char name[sizeof reference->name];
        trace_text(trace, *index, name, sizeof name);
        if (trace->record[*index].tag == NOTE_RESULT && strcmp(name, reference->name) == 0)
            return trace;
    }
    return NULL;
}

static void tell_missing(struct judging *judging, const struct reference_result *reference)
{
    struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_VIOLATION);
    finding_say(finding, "without faults rank %d declares the result \"%s\", %" PRIu64 " bytes",
                reference->rank, reference->name, reference->bytes);
    finding_say(finding, "in this run it finished without declaring it");
}

static void tell_different(struct judging *judging, const struct reference_result *reference,
                           const struct record *result, struct event_ref event)
{
    char text[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_VIOLATION);
    finding_say(
        finding,
        "rank %d declared the result \"%s\" as %" PRIu64 " bytes with hash %#" PRIx64 ": %s",
        reference->rank, reference->name, result->bytes, result->hash, event_text(event, text));
    finding_say(finding, "without faults it is %" PRIu64 " bytes with hash %#" PRIx64,
                reference->bytes, reference->hash);
    finding_show(finding, event);
}

static enum error_code judge_results(struct judging *judging, struct error *error)
{
    const struct run_facts *facts = judging->facts;
    (void)error;
    if (!judging->asked[CLAIM_H_RESULT])
        return OK;
    for (size_t i = 0; i < facts->reference_count; i++) {
        const struct reference_result *reference = &facts->references[i];
        uint64_t index;
        const struct trace *trace = find_result(judging, reference, &index);
        if (trace == NULL && facts->end != RUN_FINISHED)
            continue; /* it did not come to that */
        judging_saw(judging, CLAIM_H_RESULT, 1);
        if (trace == NULL)
            tell_missing(judging, reference);
        else if (trace->record[index].bytes != reference->bytes ||
                 trace->record[index].hash != reference->hash)
            tell_different(judging, reference, &trace->record[index], event_of(trace, index));
    }
    return OK;
}

const struct oracle oracle_result = {judge_results, true};
