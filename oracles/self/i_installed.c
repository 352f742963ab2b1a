/* I.installed: every fault that the plan asks for took place, with evidence: what the trace says
 * was done, and how the process ended. A fault that never came to its turn, or was undone because
 * the job could not go on with it, makes the run vacuous; one that was done and cannot be shown is
 * our error. Steps are numbered from 1 for people, from 0 in traces. */
#include "oracles/judging.h"

#include "board/board.h"
#include "plan/action.h"

#include <signal.h>
#include <sys/wait.h>

#define STEP_TEXT_BYTES 160

/* A step being judged. */
struct look {
    struct judging *judging;
    unsigned index;
    const struct plan_step *step;
    const struct step_fact *fact;
};

/* --- evidence --------------------------------------------------------------------------------- */
bool evidence_kills(const struct judging *judging, const struct evidence *evidence)
{
    const struct plan *plan = judging->facts->plan;
    if (evidence->kind == FAULT_KILL || evidence->kind == FAULT_KILL_INSIDE)
        return true;
    return evidence->kind == FAULT_STORAGE && plan != NULL && evidence->step >= 0 &&
           (size_t)evidence->step < plan->count &&
           action_of(&plan->steps[evidence->step])->kills == KILLS_ITSELF;
}

bool evidence_kills_in(const struct judging *judging, int incarnation)
{
    for (size_t i = 0; i < judging->evidence_count; i++)
        if (judging->evidence[i].event.incarnation == incarnation &&
            evidence_kills(judging, &judging->evidence[i]))
            return true;
    return false;
}

bool evidence_keeps(const struct judging *judging, int incarnation)
{
    int64_t kept = 0;
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation != incarnation)
            continue;
        kept += evidence->kind == FAULT_HELD || evidence->kind == FAULT_STOPPED;
        kept -= evidence->kind == FAULT_RELEASED || evidence->kind == FAULT_CONTINUED;
    }
    return kept > 0;
}

bool evidence_disturbs_store(const struct judging *judging, int incarnation)
{
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation <= incarnation &&
            (evidence->kind == FAULT_STORAGE || evidence->kind == FAULT_LOST))
            return true;
    }
    return judging->evidence_lost;
}

/* The first piece of evidence of the kind for the step from number *next on; NULL: none. */
static const struct evidence *next_evidence(const struct look *look, unsigned kind, size_t *next)
{
    const struct judging *judging = look->judging;
    while (*next < judging->evidence_count) {
        const struct evidence *evidence = &judging->evidence[(*next)++];
        if (evidence->step == (int32_t)look->index && evidence->kind == kind)
            return evidence;
    }
    return NULL;
}

static const struct evidence *first_evidence(const struct look *look, unsigned kind)
{
    size_t next = 0;
    return next_evidence(look, kind, &next);
}

static const struct evidence *evidence_of(const struct look *look, unsigned kind, int victim)
{
    size_t next = 0;
    const struct evidence *evidence;
    while ((evidence = next_evidence(look, kind, &next)) != NULL)
        if (evidence->victim == victim)
            return evidence;
    return NULL;
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

/* What it held had to be handed on first. */
static bool finalized(const struct judging *judging, int rank, int incarnation)
{
    const struct rank_end *end = find_end(judging, rank, incarnation);
    return end != NULL ? end->finalized : !died(judging, rank, incarnation);
}

/* --- what is said ----------------------------------------------------------------------------- */
static void saw(const struct look *look)
{
    judging_saw(look->judging, CLAIM_I_INSTALLED, 1);
}

static struct finding *find(const struct look *look, enum verdict verdict)
{
    return judging_find(look->judging, CLAIM_I_INSTALLED, verdict);
}

/* "step 3 of the plan, hold event=send rank=0, ..." */
static void name_step(const struct look *look, struct finding *finding, const char *what)
{
    char text[STEP_TEXT_BYTES];
    plan_step_print(look->step, text, sizeof text);
    finding_say(finding, "step %u of the plan %s: %s", look->index + 1, what, text);
}

/* Done as the board has it, and no trace says so. Where evidence was too much to be kept nothing
 * follows from that. */
static void report_no_evidence(const struct look *look, const char *of_what)
{
    if (look->judging->evidence_lost) {
        struct finding *finding = find(look, VERDICT_UNKNOWN);
        name_step(look, finding, "cannot be judged");
        finding_say(finding, "the run has more than %d records of faults", EVIDENCE_KEPT);
        return;
    }
    struct finding *finding = find(look, VERDICT_HARNESS_ERROR);
    name_step(look, finding, "counts as done");
    finding_say(finding, "but no trace has a record of %s", of_what);
}

static const char *undone_text(unsigned reason)
{
    switch (reason) {
    case RELEASED_BY_END:
        return "its rank came to MPI_Finalize";
    case RELEASED_BY_QUIET:
        return "the time for faults was over";
    default:
        return "the job could not go on otherwise";
    }
}

/* --- steps that were never done --------------------------------------------------------------- */
static bool is_done(const struct judging *judging, int32_t step)
{
    return judging->facts->steps != NULL && judging->facts->steps[step].done;
}

static bool is_attempt(const struct plan *plan, int32_t step)
{
    return plan->steps[step].attempt ||
           (plan->steps[step].action == ACTION_RELEASE && plan->steps[step].target >= 0 &&
            plan->steps[plan->steps[step].target].attempt);
}

/* The step waits for the release of an attempt, itself or one that it comes after: what the
 * scenario shows is that this never happens. */
static bool waits_for_attempt(const struct look *look)
{
    const struct plan *plan = look->judging->facts->plan;
    for (int32_t step = (int32_t)look->index; step >= 0; step = plan_after(plan, (size_t)step)) {
        if (is_done(look->judging, step))
            return false;
        if (plan->steps[step].action == ACTION_RELEASE && is_attempt(plan, step) &&
            is_done(look->judging, plan->steps[step].target))
            return true;
    }
    return false;
}

static void check_not_done(const struct look *look)
{
    if (waits_for_attempt(look)) {
        saw(look);
        return;
    }
    struct finding *finding = find(look, VERDICT_VACUOUS);
    name_step(look, finding, "was never done");
    int32_t after = plan_after(look->judging->facts->plan, look->index);
    if (after >= 0 && !is_done(look->judging, after))
        finding_say(finding, "it comes after step %d, which was not done either", after + 1);
    else if (look->fact != NULL && look->fact->taken > 0)
        finding_say(finding, "only %llu of %llu came that it waits for",
                    (unsigned long long)look->fact->taken, (unsigned long long)look->step->count);
    else
        finding_say(finding, "what it waits for did not happen in this run");
}

/* --- kills ------------------------------------------------------------------------------------ */
static const struct evidence *find_kill(const struct look *look, int victim)
{
    const struct evidence *evidence = evidence_of(look, FAULT_KILL, victim);
    return evidence != NULL ? evidence : evidence_of(look, FAULT_KILL_INSIDE, victim);
}

static void report_alive(const struct look *look, int victim, const struct evidence *evidence)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = find(look, VERDICT_HARNESS_ERROR);
    finding_say(finding, "step %u of the plan, the kill of rank %d, counts as done",
                look->index + 1, victim);
    finding_say(finding,
                "it was recorded as %s, but rank %d did not die by SIGKILL in incarnation "
                "%d",
                event_text(evidence->event, event), victim, evidence->event.incarnation);
    finding_show(finding, evidence->event);
}

/* There was nobody to kill: the rank had ended before, or had no process yet and got none. */
static bool never_existed(const struct look *look, const struct evidence *evidence)
{
    int incarnation = evidence->event.incarnation;
    const struct rank_end *end = find_end(look->judging, evidence->victim, incarnation);
    const struct trace *trace =
        trace_set_find(look->judging->traces, evidence->victim, incarnation);
    if (evidence->value != 0)
        return false;
    if (end != NULL)
        return !died(look->judging, evidence->victim, incarnation);
    return trace == NULL || atomic_load(&trace->header->closed);
}

static void report_nobody(const struct look *look, const struct evidence *evidence)
{
    struct finding *finding = find(look, VERDICT_VACUOUS);
    name_step(look, finding, "killed nobody");
    finding_say(finding, "rank %d had no process when it was done", evidence->victim);
    finding_show(finding, evidence->event);
}

static void check_victim(const struct look *look, int victim)
{
    const struct evidence *evidence = find_kill(look, victim);
    if (evidence == NULL)
        report_no_evidence(look, "the kill");
    else if (never_existed(look, evidence))
        report_nobody(look, evidence);
    else if (!died(look->judging, victim, evidence->event.incarnation))
        report_alive(look, victim, evidence);
    else
        saw(look);
}

static void check_losses(const struct look *look)
{
    bool loses = look->step->lose != LOSE_NOTHING || look->step->lose_files[0] != '\0';
    if (loses && first_evidence(look, FAULT_LOST) == NULL)
        report_no_evidence(look, "what the death took along");
}

static void check_kill(const struct look *look)
{
    for (uint32_t i = 0; i < look->step->victims && i < PLAN_MAX_VICTIMS; i++)
        check_victim(look, look->step->victim[i]);
    check_losses(look);
}

/* --- holds and stops -------------------------------------------------------------------------- */
static bool was_undone(unsigned reason)
{
    return reason == RELEASED_BY_UNSTICK || reason == RELEASED_BY_END ||
           reason == RELEASED_BY_QUIET;
}

/* What was let go only because nothing could go on was not what the plan asks for, unless it says
 * that it only tries. */
static bool report_undone(const struct look *look, const struct evidence *let_go)
{
    if (let_go == NULL || !was_undone(let_go->reason) || look->step->attempt)
        return false;
    struct finding *finding = find(look, VERDICT_VACUOUS);
    name_step(look, finding, "was undone");
    finding_say(finding, "%s was let go because %s, not because what releases it came true",
                action_of(look->step)->keeps == KEEPS_RANKS ? "the rank" : "the message",
                undone_text(let_go->reason));
    finding_show(finding, let_go->event);
    return true;
}

/* The record of the message's release, by the rank that held it. */
static const struct evidence *find_release(const struct look *look, const struct evidence *held)
{
    size_t next = 0;
    const struct evidence *evidence;
    while ((evidence = next_evidence(look, FAULT_RELEASED, &next)) != NULL)
        if (evidence->event.rank == held->event.rank && evidence->value == held->value &&
            evidence->event.incarnation == held->event.incarnation)
            return evidence;
    return NULL;
}

static void report_kept(const struct look *look, const struct evidence *held)
{
    struct finding *finding = find(look, VERDICT_HARNESS_ERROR);
    name_step(look, finding, "never let go what it held");
    finding_say(finding, "rank %d ended in order and had not handed it on", held->event.rank);
    finding_show(finding, held->event);
}

static void check_hold(const struct look *look)
{
    size_t next = 0;
    uint64_t count = 0;
    bool undone = false;
    for (const struct evidence *held; (held = next_evidence(look, FAULT_HELD, &next)) != NULL;) {
        const struct evidence *released = find_release(look, held);
        count++;
        if (released == NULL && !look->judging->evidence_lost &&
            finalized(look->judging, held->event.rank, held->event.incarnation))
            report_kept(look, held);
        undone = undone || report_undone(look, released);
    }
    if (count < look->step->count)
        report_no_evidence(look, "every message that it held");
    else if (!undone)
        saw(look);
}

/* Where the end of the rank's process is known it had a parent: if it had no process either, it was
 * not there any more. */
static void report_not_stopped(const struct look *look, const struct evidence *stopped)
{
    bool ended = stopped->value == 0 &&
                 find_end(look->judging, stopped->victim, stopped->event.incarnation) != NULL;
    struct finding *finding = find(look, ended ? VERDICT_VACUOUS : VERDICT_HARNESS_ERROR);
    name_step(look, finding, ended ? "stopped nobody" : "could not be done");
    finding_say(finding,
                ended ? "rank %d had ended when it was done"
                      : "rank %d has no parent of Faultline's that would let it go on",
                stopped->victim);
    finding_show(finding, stopped->event);
}

static void check_stopped(const struct look *look, int victim)
{
    const struct evidence *stopped = NULL, *refused = NULL;
    size_t next = 0;
    for (const struct evidence *e; (e = next_evidence(look, FAULT_STOPPED, &next)) != NULL;)
        if (e->victim == victim)
            *(e->error != 0 ? &refused : &stopped) = e;
    const struct evidence *continued = evidence_of(look, FAULT_CONTINUED, victim);
    if (refused != NULL)
        report_not_stopped(look, refused);
    else if (stopped == NULL)
        report_no_evidence(look, "the stop");
    else if (continued == NULL && !died(look->judging, victim, stopped->event.incarnation))
        report_no_evidence(look, "the rank going on");
    else if (!report_undone(look, continued))
        saw(look);
}

static void check_stop(const struct look *look)
{
    for (uint32_t i = 0; i < look->step->victims && i < PLAN_MAX_VICTIMS; i++)
        check_stopped(look, look->step->victim[i]);
}

/* --- deaths that ranks are told of -------------------------------------------------------------
 */

static void check_detection(const struct look *look, int victim)
{
    const struct evidence *told = evidence_of(look, FAULT_DETECTED, victim);
    int dead = look->step->choice;
    if (told == NULL) {
        report_no_evidence(look, "the rank being told");
    } else if (!died(look->judging, dead, told->event.incarnation)) {
        struct finding *finding = find(look, VERDICT_VACUOUS);
        name_step(look, finding, "told of no death");
        finding_say(finding, "rank %d did not die by the plan", dead);
        finding_show(finding, told->event);
    } else {
        saw(look);
    }
}

static void check_detect(const struct look *look)
{
    unsigned reason = look->fact != NULL ? (unsigned)look->fact->released_by : RELEASED_NOT;
    if (was_undone(reason)) {
        struct finding *finding = find(look, VERDICT_VACUOUS);
        name_step(look, finding, "was undone");
        finding_say(finding, "the death was told of before, because %s", undone_text(reason));
        return;
    }
    for (uint32_t i = 0; i < look->step->victims && i < PLAN_MAX_VICTIMS; i++)
        check_detection(look, look->step->victim[i]);
}

/* --- choices, answers, the store -------------------------------------------------------------- */
static void check_told(const struct look *look, const char *what)
{
    const struct action *action = action_of(look->step);
    size_t next = 0;
    bool any = false;
    for (const struct evidence *e; (e = next_evidence(look, action->evidence, &next)) != NULL;) {
        any = true;
        if (e->error == 0)
            continue;
        struct finding *finding = find(look, VERDICT_VACUOUS);
        name_step(look, finding, "could not be done");
        finding_say(finding, "%s", action->impossible);
        finding_show(finding, e->event);
        return;
    }
    if (any)
        saw(look);
    else
        report_no_evidence(look, what);
}

/* From the moment it is on; a message that is after another is not delayed by itself. */
static void check_awaited(const struct look *look)
{
    if (first_evidence(look, FAULT_AWAITED) == NULL)
        report_no_evidence(look, "it");
    else if (!action_of(look->step)->lasts)
        return;
    else if (first_evidence(look, FAULT_HELD) == NULL && !look->judging->evidence_lost)
        name_step(look, find(look, VERDICT_VACUOUS), "delayed no message");
    else
        saw(look);
}

static void check_store(const struct look *look)
{
    const struct evidence *evidence = first_evidence(look, FAULT_STORAGE);
    if (evidence == NULL)
        report_no_evidence(look, "the call on the store");
    else if (action_of(look->step)->kills == KILLS_ITSELF &&
             !died(look->judging, evidence->event.rank, evidence->event.incarnation))
        report_alive(look, evidence->event.rank, evidence);
    else
        saw(look);
    check_losses(look);
}

/* --- the whole -------------------------------------------------------------------------------- */
static void check_done(const struct look *look)
{
    switch (action_of(look->step)->evidence) {
    case FAULT_KILL:
        check_kill(look);
        break;
    case FAULT_HELD:
        check_hold(look);
        break;
    case FAULT_STOPPED:
        check_stop(look);
        break;
    case FAULT_DETECTED:
        check_detect(look);
        break;
    case FAULT_CHOSEN:
        check_told(look, "the choice");
        break;
    case FAULT_ANSWERED:
        check_told(look, "the answer");
        break;
    case FAULT_STORAGE:
        check_store(look);
        break;
    default:
        check_awaited(look);
        break;
    }
}

static void judge_installation(struct judging *judging)
{
    const struct plan *plan = judging->facts->plan;
    const struct step_fact *facts = judging->facts->steps;
    for (size_t i = 0; plan != NULL && i < plan->count; i++) {
        struct look look = {judging, (unsigned)i, &plan->steps[i], facts ? &facts[i] : NULL};
        if (facts != NULL && facts[i].done)
            check_done(&look);
        else
            check_not_done(&look);
    }
}

const struct oracle oracle_installed = {.judge = judge_installation};
