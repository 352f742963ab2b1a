/* I.installed: every fault that the plan asks for took place, with evidence: what the trace says
 * was done, and how the process ended. A fault that never came to its turn makes the run vacuous;
 * one that was done and cannot be shown is our error. */
#include "oracles/judging.h"

#include <signal.h>
#include <sys/wait.h>

#define STEP_TEXT_BYTES 160

static const struct evidence *find_evidence(const struct judging *judging, unsigned step,
                                            int victim)
{
    const struct evidence *any = NULL;
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->step != (int32_t)step ||
            (evidence->kind != FAULT_KILL && evidence->kind != FAULT_KILL_INSIDE))
            continue;
        if (evidence->victim == victim)
            return evidence;
        any = evidence;
    }
    return any;
}

static const struct rank_end *find_end(const struct judging *judging, int rank, int incarnation)
{
    for (size_t i = 0; i < judging->facts->rank_end_count; i++) {
        const struct rank_end *end = &judging->facts->rank_ends[i];
        if (end->rank == rank && end->incarnation == incarnation && end->known)
            return end;
    }
    return NULL;
}

/* The victim is dead, by SIGKILL: its wait status says so, or (the parent died with it) at least
 * its trace was never closed. */
static bool died(const struct judging *judging, int victim, int incarnation)
{
    const struct rank_end *end = find_end(judging, victim, incarnation);
    if (end != NULL)
        return WIFSIGNALED(end->wait_status) && WTERMSIG(end->wait_status) == SIGKILL;
    const struct trace *trace = trace_set_find(judging->traces, victim, incarnation);
    return trace == NULL || !atomic_load(&trace->header->closed);
}

static void tell_without_evidence(struct judging *judging, unsigned step, int victim,
                                  const struct evidence *evidence)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_I_INSTALLED, VERDICT_HARNESS_ERROR);
    finding_say(finding, "step %u of the plan, the kill of rank %d, counts as done", step, victim);
    if (evidence == NULL) {
        finding_say(finding, "but no trace has a record of it");
        return;
    }
    finding_say(finding,
                "it was recorded as %s, but rank %d did not die by SIGKILL in incarnation "
                "%d",
                event_text(evidence->event, event), victim, evidence->event.incarnation);
    finding_show(finding, evidence->event);
}

static void check_kill(struct judging *judging, unsigned number, const struct plan_step *step)
{
    for (uint32_t i = 0; i < step->victims && i < PLAN_MAX_VICTIMS; i++) {
        int victim = step->victim[i];
        const struct evidence *evidence = find_evidence(judging, number, victim);
        if (evidence != NULL && died(judging, victim, evidence->event.incarnation))
            judging_saw(judging, CLAIM_I_INSTALLED, 1);
        else
            tell_without_evidence(judging, number, victim, evidence);
    }
}

static void tell_not_installed(struct judging *judging, unsigned number,
                               const struct plan_step *step)
{
    char text[STEP_TEXT_BYTES];
    plan_step_print(step, text, sizeof text);
    struct finding *finding = judging_find(judging, CLAIM_I_INSTALLED, VERDICT_VACUOUS);
    finding_say(finding, "step %u of the plan was never done: %s", number, text);
    finding_say(finding, "what it waits for did not happen in this run");
}

static enum error_code judge_installation(struct judging *judging, struct error *error)
{
    const struct plan *plan = judging->facts->plan;
    (void)error;
    for (size_t i = 0; plan != NULL && i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (judging->facts->steps == NULL || !judging->facts->steps[i].done)
            tell_not_installed(judging, (unsigned)i, step);
        else if (step->action == ACTION_KILL)
            check_kill(judging, (unsigned)i, step);
    }
    return OK;
}

const struct oracle oracle_installed = {judge_installation, false};
