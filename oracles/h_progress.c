/* H.progress: the run ends. Where it does not, the witness is who waits for whom. */
#include "oracles/judging.h"

#include <stdlib.h>

/* Ranks that had not ended by themselves, nor by a fault, when the run was given up. */
static void who_lived(const struct judging *judging, bool *alive)
{
    int newest = judging->traces->incarnations - 1;
    for (int rank = 0; rank < judging->traces->ranks; rank++) {
        const struct trace *trace = trace_set_find(judging->traces, rank, newest);
        alive[rank] = trace != NULL && !atomic_load(&trace->header->closed);
    }
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation == newest && evidence->kind != FAULT_AWAITED &&
            evidence->victim >= 0 && evidence->victim < judging->traces->ranks)
            alive[evidence->victim] = false;
    }
}

static void say_waits(struct finding *finding, const struct hang *hang)
{
    char event[EVENT_TEXT_BYTES];
    size_t count = hang->cycle > 0 ? hang->cycle : hang->count;
    for (size_t i = 0; i < count; i++) {
        finding_say(finding, "%s: %s", hang->waits[i].text, event_text(hang->waits[i].call, event));
        finding_show(finding, hang->waits[i].call);
    }
}

static enum error_code tell_stuck(struct judging *judging, struct error *error)
{
    bool *alive = calloc((size_t)judging->traces->ranks + 1, sizeof *alive);
    struct hang hang = {0};
    if (alive == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for %d ranks", judging->traces->ranks);
    who_lived(judging, alive);
    enum error_code code =
        hang_analyse(judging->traces, alive, judging->traces->ranks, &hang, error);
    struct finding *finding = judging_find(judging, CLAIM_H_PROGRESS, VERDICT_VIOLATION);
    finding_say(finding, "%s", judging->facts->end_text);
    if (code == OK)
        say_waits(finding, &hang);
    hang_release(&hang);
    free(alive);
    return code;
}

static enum error_code judge_progress(struct judging *judging, struct error *error)
{
    const struct run_facts *facts = judging->facts;
    enum verdict verdict = VERDICT_PASS;
    judging_saw(judging, CLAIM_H_PROGRESS, 1);
    switch (facts->end) {
    case RUN_DEADLOCK:
    case RUN_TIME_LIMIT:
    case RUN_FAILED:
        return tell_stuck(judging, error);
    case RUN_INTERRUPTED:
        verdict = VERDICT_UNKNOWN;
        break;
    case RUN_VOID:
        verdict = VERDICT_HARNESS_ERROR;
        break;
    default:
        break;
    }
    if (verdict != VERDICT_PASS)
        finding_say(judging_find(judging, CLAIM_H_PROGRESS, verdict), "%s", facts->end_text);
    return OK;
}

const struct oracle oracle_progress = {judge_progress, false};
