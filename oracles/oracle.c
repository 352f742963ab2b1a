/* What judging a run shares; see oracle.h and judging.h. */
#include "oracles/oracle.h"

#include "base/memory.h"
#include "oracles/judging.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* In the order in which they are judged. */
static const struct oracle *const oracles[] = {
#define ORACLE(name) &oracle_##name,
#include "oracles/claims.def"
};

const char *verdict_text(enum verdict verdict)
{
    static const char *const texts[] = {
#define X(name, text) text,
        VERDICTS(X)
#undef X
    };
    return (unsigned)verdict < VERDICT_COUNT ? texts[verdict] : "?";
}

enum verdict verdict_from_text(const char *text)
{
    for (int i = 0; text != NULL && i < VERDICT_COUNT; i++)
        if (strcmp(verdict_text((enum verdict)i), text) == 0)
            return (enum verdict)i;
    return VERDICT_COUNT;
}

/* --- findings ------------------------------------------------------------------------------ */

const char *message_text(int source, int destination, uint32_t comm, int32_t tag, uint64_t number,
                         char buffer[MESSAGE_TEXT_BYTES])
{
    char where[32] = "", which[32] = "";
    if (comm != COMM_WORLD_ID)
        snprintf(where, sizeof where, ", communicator %#" PRIx32, comm);
    if (number > 0)
        snprintf(which, sizeof which, ", #%" PRIu64, number);
    snprintf(buffer, MESSAGE_TEXT_BYTES, "m(%d→%d, tag %d%s%s)", source, destination, tag, where,
             which);
    return buffer;
}

bool run_is_stuck(const struct run_facts *facts)
{
    return facts->end == RUN_DEADLOCK ||
           (facts->end == RUN_TIME_LIMIT && (strstr(facts->end_text, RUN_POLLED) != NULL ||
                                             strstr(facts->end_text, RUN_STUCK) != NULL));
}

void judging_saw(struct judging *judging, enum claim_id claim, uint64_t count)
{
    judging->result[claim].situations += count;
}

static void weigh(struct judging *judging, enum claim_id claim, enum verdict verdict)
{
    struct claim_result *result = &judging->result[claim];
    if (verdict > result->verdict)
        result->verdict = verdict;
    result->violations += verdict == VERDICT_VIOLATION;
}

struct finding *judging_find(struct judging *judging, enum claim_id claim, enum verdict verdict)
{
    if (!judging->asked[claim])
        return NULL;
    weigh(judging, claim, verdict);
    if (judging->kept[claim] == FINDINGS_KEPT)
        return NULL;
    judging->kept[claim]++;
    struct finding *finding = &judging->judgement->findings[judging->judgement->finding_count++];
    finding->claim = &claims[claim];
    finding->verdict = verdict;
    return finding;
}

void judging_unsupported(struct judging *judging, const struct unsupported *unsupported)
{
    if (judging->unsupported.kind == UNSUPPORTED_NOTHING ||
        unsupported->ticks < judging->unsupported.ticks)
        judging->unsupported = *unsupported;
}

void judging_unknown(struct judging *judging, enum claim_id claim)
{
    if (judging->asked[claim])
        weigh(judging, claim, VERDICT_UNKNOWN);
}

void finding_say(struct finding *finding, const char *format, ...)
{
    if (finding == NULL || finding->why_count == FINDING_WHY_LINES)
        return;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(finding->why[finding->why_count++], FINDING_WHY_BYTES, format, arguments);
    va_end(arguments);
}

void finding_show(struct finding *finding, struct event_ref event)
{
    if (finding == NULL || finding->witness_count == FINDING_WITNESSES)
        return;
    for (unsigned i = 0; i < finding->witness_count; i++)
        if (event_same(finding->witness[i], event))
            return;
    finding->witness[finding->witness_count++] = event;
}

void finding_decide(struct finding *finding, struct event_ref event)
{
    if (finding == NULL)
        return;
    finding->decided = DECIDED_BY_EVENT;
    finding->decided_by = event;
}

void finding_decide_at_end(struct finding *finding)
{
    if (finding != NULL)
        finding->decided = DECIDED_AT_END;
}

bool histories_report_unknown(struct judging *judging, const struct histories *histories,
                              enum claim_id claim)
{
    const struct history *unknown = histories_unknown(histories);
    if (unknown == NULL || !judging->asked[claim])
        return unknown != NULL;
    if (judging->history_told) {
        judging_unknown(judging, claim);
        return true;
    }
    judging->history_told = true;
    struct finding *finding = judging_find(judging, claim, VERDICT_UNKNOWN);
    finding_say(finding, "%s", unknown->why);
    finding_say(finding, "so its effective history is not known, and nothing that rests on "
                         "effective histories can be judged");
    return true;
}

/* --- what is asked for --------------------------------------------------------------------- */

static enum error_code ask(struct judging *judging, const char *const *ids, size_t id_count,
                           struct error *error)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        judging->asked[claim] =
            claims[claim].always || claim_is_asked(&claims[claim], ids, id_count);
    return claims_check(ids, id_count, error);
}

bool judging_asked(const struct judging *judging, const char *prefix)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        if (judging->asked[claim] && strncmp(claims[claim].id, prefix, strlen(prefix)) == 0)
            return true;
    return false;
}

/* --- vacuity ------------------------------------------------------------------------------- */

/* A claim whose situation never arose proves nothing. */
static void mark_vacuous(struct judging *judging)
{
    for (size_t claim = 0; claim < claim_count; claim++) {
        struct claim_result *result = &judging->result[claim];
        if (!claims[claim].always && result->verdict == VERDICT_PASS && result->situations == 0)
            result->verdict = VERDICT_VACUOUS;
    }
}

/* What was asked for is vacuous: a claim by its id, a family when all of it is that nobody took
 * back. */
static bool is_vacuous(const struct judging *judging, const char *id)
{
    bool asked = false;
    for (size_t claim = 0; claim < claim_count; claim++) {
        if (claims[claim].always || !judging->asked[claim] || !claim_is_named(&claims[claim], id))
            continue;
        if (judging->result[claim].verdict != VERDICT_VACUOUS)
            return false;
        asked = true;
    }
    return asked;
}

static enum verdict overall(const struct judging *judging, const char *const *ids, size_t id_count)
{
    enum verdict verdict = VERDICT_PASS;
    for (size_t claim = 0; claim < claim_count; claim++) {
        enum verdict own = judging->result[claim].verdict;
        bool weighs = own != VERDICT_VACUOUS || claims[claim].always;
        if (judging->asked[claim] && weighs && own > verdict)
            verdict = own;
    }
    for (size_t i = 0; i < id_count; i++)
        if (verdict < VERDICT_VACUOUS && is_vacuous(judging, ids[i]))
            verdict = VERDICT_VACUOUS;
    return verdict;
}

/* --- judging ------------------------------------------------------------------------------- */

static int worst_first(const void *left, const void *right)
{
    const struct finding *a = left;
    const struct finding *b = right;
    if (a->verdict != b->verdict)
        return a->verdict > b->verdict ? -1 : 1;
    if (a->claim != b->claim)
        return a->claim < b->claim ? -1 : 1;
    return 0;
}

/* Stable: findings of a claim stay in the order in which they were found. */
static void sort_findings(struct judgement *judgement)
{
    for (size_t i = 1; i < judgement->finding_count; i++)
        for (size_t j = i; j > 0; j--) {
            struct finding *pair = &judgement->findings[j - 1];
            if (worst_first(&pair[0], &pair[1]) <= 0)
                break;
            struct finding moved = pair[0];
            pair[0] = pair[1];
            pair[1] = moved;
        }
}

static void collect(struct judging *judging)
{
    struct judgement *judgement = judging->judgement;
    judgement->results = memory_new(claim_count, sizeof *judgement->results);
    for (size_t claim = 0; claim < claim_count; claim++)
        if (judging->asked[claim])
            judgement->results[judgement->result_count++] = judging->result[claim];
    for (size_t i = 0; i < judging->traces->count; i++)
        judgement->records += judging->traces->trace[i].count;
    sort_findings(judgement);
}

/* The traces say what happened, and what happened on the wire is MPI. */
static bool is_sound(const struct judging *judging)
{
    return judging->result[CLAIM_I_LEGAL].verdict < VERDICT_HARNESS_ERROR &&
           judging->result[CLAIM_I_COMPLETE].verdict < VERDICT_HARNESS_ERROR &&
           judging->facts->end != RUN_VOID;
}

/* What was found of the claim is not to be believed. */
static void forget(struct judging *judging, enum claim_id claim)
{
    struct judgement *judgement = judging->judgement;
    struct claim_result *result = &judging->result[claim];
    size_t kept = 0;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].claim != &claims[claim])
            judgement->findings[kept++] = judgement->findings[i];
    memset(&judgement->findings[kept], 0,
           (judgement->finding_count - kept) * sizeof *judgement->findings);
    judgement->finding_count = kept;
    judging->kept[claim] = 0;
    result->verdict = VERDICT_PASS;
    result->violations = 0;
    judging_unknown(judging, claim);
}

static void leave_out(struct judging *judging)
{
    for (size_t claim = 0; claim < claim_count; claim++) {
        if (claims[claim].always)
            continue;
        forget(judging, (enum claim_id)claim);
        judging->result[claim].situations = 0;
    }
}

/* --- more failures than are promised -------------------------------------------------------- */

/* The first rank that ended badly by itself did so before more had died than is promised. Its own
 * end may be the death that is too many: it is a failure of the protocol all the same. */
static bool ended_before(const struct judging *judging)
{
    for (size_t i = 0; i < judging->facts->rank_end_count; i++) {
        const struct rank_end *end = &judging->facts->rank_ends[i];
        const struct trace *trace = trace_set_find(judging->traces, end->rank, end->incarnation);
        if (end->first && end->incarnation == judging->traces->incarnations - 1)
            return trace != NULL && trace->end != NULL &&
                   trace->end->enter <= judging->unsupported.ticks;
    }
    return false;
}

/* It shows something that was done only then, or was not done at all. */
static bool comes_after(const struct judging *judging, const struct finding *finding)
{
    if (finding->claim == &claims[CLAIM_H_PROGRESS] && judging->facts->end == RUN_FAILED)
        return !ended_before(judging);
    bool after = finding->decided == DECIDED_AT_END || finding->witness_count == 0;
    for (unsigned i = 0; i < finding->witness_count; i++) {
        const struct event_ref *event = &finding->witness[i];
        const struct trace *trace =
            trace_set_find(judging->traces, event->rank, event->incarnation);
        after |= trace == NULL || event->index >= trace->count ||
                 trace->record[event->index].enter >= judging->unsupported.ticks;
    }
    return after;
}

static void say_unsupported(const struct unsupported *unsupported, struct finding *finding)
{
    if (unsupported->kind == UNSUPPORTED_REPLICAS)
        finding_say(finding, "unsupported: both processes of rank %d have died", unsupported->rank);
    else if (unsupported->kind == UNSUPPORTED_IN_ALL)
        finding_say(finding,
                    "unsupported: process %d died, the program promises to survive %" PRIu64
                    ", and says that it cannot go on",
                    unsupported->rank, unsupported->promised);
    else
        finding_say(
            finding,
            "unsupported: rank %d died while others were down, and the protocol promises to "
            "survive %" PRIu64 " at a time",
            unsupported->rank, unsupported->promised);
    finding_say(finding, "what comes after that is no violation");
}

/* Violations of the claim for which that is true are unknown. */
static void doubt(struct judging *judging, size_t claim,
                  bool (*is_doubtful)(const struct judging *, const struct finding *))
{
    struct judgement *judgement = judging->judgement;
    struct claim_result *result = &judging->result[claim];
    uint64_t kept = 0;
    for (size_t i = 0; i < judgement->finding_count; i++) {
        struct finding *finding = &judgement->findings[i];
        if (finding->claim != &claims[claim] || finding->verdict != VERDICT_VIOLATION)
            continue;
        if (is_doubtful(judging, finding))
            finding->verdict = VERDICT_UNKNOWN;
        else
            kept++;
    }
    if (result->verdict == VERDICT_VIOLATION && kept == 0) {
        result->verdict = VERDICT_UNKNOWN;
        result->violations = 0;
    }
}

/* Nothing is promised from there on: what is found of it is no violation, and the run is no pass.
 */
static void allow_unsupported(struct judging *judging)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        if (claim != CLAIM_P_LAST && claim != CLAIM_A_EXACT) /* they are about just that */
            doubt(judging, claim, comes_after);
    say_unsupported(&judging->unsupported,
                    judging_find(judging, CLAIM_H_PROGRESS, VERDICT_UNKNOWN));
}

/* --- a job that is restarted on another number of ranks -------------------------------------- */

/* A line was restored on another number of ranks than it was taken on. No rank goes on from one
 * rank's checkpoint then: effective histories do not reach over that restart. */
static bool restored_elsewhere(const struct judging *judging, int resized)
{
    const struct lives *lives = &judging->reading.lives;
    uint64_t index;
    for (size_t i = 0; i < lives->count; i++) {
        const struct life *life = &lives->life[i];
        if (life->trace->incarnation >= resized && history_first_restored(life, &index) &&
            life->trace->record[index].bytes > 0)
            return true;
    }
    return false;
}

/* It rests on something that came only then, or on the end of the run. */
static bool is_of_resized(const struct judging *judging, const struct finding *finding)
{
    int resized = trace_set_resized(judging->traces);
    bool is = finding->decided == DECIDED_AT_END || finding->witness_count == 0;
    for (unsigned i = 0; i < finding->witness_count; i++)
        is |= finding->witness[i].incarnation >= resized;
    return is;
}

static bool is_any(const struct judging *judging, const struct finding *finding)
{
    return judging != NULL && finding != NULL;
}

/* It looks at one message or collective at a time, and at no line that every rank takes. */
static bool goes_by_messages(size_t claim)
{
    return claims[claim].history == HISTORY_MESSAGES || claim == CLAIM_H_PROBE;
}

static void say_resized(struct judging *judging, int resized, struct finding *finding)
{
    finding_say(
        finding,
        "incarnation %d had %d ranks and the one before it %d: which rank goes on from what "
        "is not known",
        resized, trace_set_world(judging->traces, resized),
        trace_set_world(judging->traces, resized - 1));
    finding_say(finding,
                "what rests on lines, or on what a rank did before and after that restart, "
                "cannot be judged; H.result and H.progress can");
}

/* What rests on histories and on lines is unknown; results are compared all the same (h_result.c).
 */
static void allow_resized(struct judging *judging)
{
    int resized = trace_set_resized(judging->traces);
    bool told = false, elsewhere = resized > 0 && restored_elsewhere(judging, resized);
    for (size_t claim = 0; resized > 0 && claim < claim_count; claim++) {
        if (!judging->asked[claim] || claims[claim].always || claim == CLAIM_H_RESULT ||
            (goes_by_messages(claim) && !elsewhere))
            continue;
        doubt(judging, claim, goes_by_messages(claim) ? is_of_resized : is_any);
        if (judging->result[claim].verdict > VERDICT_UNKNOWN)
            continue;
        if (told)
            judging_unknown(judging, (enum claim_id)claim);
        else
            say_resized(judging, resized,
                        judging_find(judging, (enum claim_id)claim, VERDICT_UNKNOWN));
        told = true;
    }
}

/* --- the passes ---------------------------------------------------------------------------- */

#define ORACLES (sizeof oracles / sizeof oracles[0])

/* What was seen of each rank is handed on by trace. */
static void keep_seen(struct judging *judging, int incarnation, const struct stream_seen *seen)
{
    for (size_t i = 0; i < judging->traces->count; i++)
        if (judging->traces->trace[i].incarnation == incarnation)
            judging->seen[i] = seen[judging->traces->trace[i].rank];
}

static void pass_wire(struct judging *judging, int incarnation)
{
    struct pass pass;
    struct stream_seen *seen = memory_new((size_t)judging->traces->ranks, sizeof *seen);
    pass_begin(&pass, &judging->reading, LEVEL_WIRE, incarnation);
    for (size_t i = 0; i < ORACLES; i++)
        if (oracles[i]->wire != NULL)
            oracles[i]->wire(judging, &pass);
    if (judging->needs_causality)
        links_listen(&pass, &judging->links);
    if (judging->meetings != NULL)
        meetings_listen(&pass, &judging->meetings[incarnation]);
    pass_read(&pass, seen);
    keep_seen(judging, incarnation, seen);
    pass_finish(&pass);
    pass_release(&pass);
    free(seen);
}

/* ahead: the newest, for those who want to have it before the others. */
static void pass_application(struct judging *judging, int incarnation, bool ahead)
{
    struct pass pass;
    pass_begin(&pass, &judging->reading, LEVEL_APP, incarnation);
    for (size_t i = 0; i < ORACLES; i++) {
        bool listens = oracles[i]->newest_first
                           ? ahead || !pass.newest || judging->traces->incarnations == 1
                           : !ahead;
        if (oracles[i]->application != NULL && listens)
            oracles[i]->application(judging, &pass);
    }
    pass_read(&pass, NULL);
    pass_finish(&pass);
    pass_release(&pass);
    if (pass.newest)
        return;
    reading_forget(&judging->reading, incarnation);
    if (judging->causal != NULL)
        causal_release(&judging->causal[incarnation]);
    if (judging->meetings != NULL)
        meetings_release(&judging->meetings[incarnation]);
}

static void judge_all(struct judging *judging)
{
    int count = judging->traces->incarnations;
    for (int i = 0; i < count; i++)
        pass_wire(judging, i);
    for (size_t i = 0; i < ORACLES; i++) {
        if (!oracles[i]->needs_sound_traces && oracles[i]->judge != NULL)
            oracles[i]->judge(judging);
        /* Where the traces are not complete, what seems wrong on the wire is what they leave out.
         */
        if (oracles[i] == &oracle_complete &&
            judging->result[CLAIM_I_COMPLETE].verdict >= VERDICT_HARNESS_ERROR)
            forget(judging, CLAIM_I_LEGAL);
    }
    if (!is_sound(judging)) {
        leave_out(judging);
        return;
    }
    if (judging->needs_causality)
        judging->causal = causal_read(&judging->links);
    if (count > 1)
        pass_application(judging, count - 1, true);
    for (int i = 0; i < count; i++)
        pass_application(judging, i, false);
    for (size_t i = 0; i < ORACLES; i++)
        if (oracles[i]->needs_sound_traces && oracles[i]->judge != NULL)
            oracles[i]->judge(judging);
}

/* --- the whole ----------------------------------------------------------------------------- */

static bool needs_causality(const struct judging *judging)
{
    return judging->asked[CLAIM_C_1_1] || judging->asked[CLAIM_C_COMMIT] ||
           judging->asked[CLAIM_C_INITIATE] || judging->asked[CLAIM_C_RESTORE] ||
           judging->asked[CLAIM_S_DONE] || judging_asked(judging, "D.");
}

static void begin(struct judging *judging)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        judging->result[claim].claim = &claims[claim];
    judging->faulted = judging->traces->incarnations > 1;
    judging->seen = memory_new(judging->traces->count, sizeof *judging->seen);
    judging->evidence = memory_new(EVIDENCE_KEPT, sizeof *judging->evidence);
    judging->judgement->findings =
        memory_new(CLAIM_COUNT * FINDINGS_KEPT, sizeof *judging->judgement->findings);
    if (judging_asked(judging, "D."))
        judging->meetings =
            memory_new((size_t)judging->traces->incarnations, sizeof *judging->meetings);
    reading_begin(&judging->reading, judging->traces, judging->facts->end == RUN_FINISHED);
}

static void end(struct judging *judging)
{
    for (int i = 0; judging->causal != NULL && i < judging->traces->incarnations; i++)
        causal_release(&judging->causal[i]);
    for (int i = 0; judging->meetings != NULL && i < judging->traces->incarnations; i++)
        meetings_release(&judging->meetings[i]);
    free(judging->causal);
    free(judging->meetings);
    links_release(&judging->links);
    free(judging->seen);
    table_release(&judging->told);
    reading_end(&judging->reading);
    judging->judgement->evidence = judging->evidence;
    judging->judgement->evidence_count = judging->evidence_count;
}

enum error_code judge(const struct trace_set *traces, const struct run_facts *facts,
                      const char *const *ids, size_t id_count, struct judgement *judgement,
                      struct error *error)
{
    struct judging judging = {.traces = traces, .facts = facts, .judgement = judgement};
    memset(judgement, 0, sizeof *judgement);
    enum error_code code = ask(&judging, ids, id_count, error);
    if (code != OK)
        return code;
    judging.needs_causality = needs_causality(&judging);
    if (judging.needs_causality)
        code = links_begin(traces, &judging.links, error);
    if (code != OK) {
        links_release(&judging.links);
        return code;
    }
    begin(&judging);
    judge_all(&judging);
    if (judging.unsupported.kind != UNSUPPORTED_NOTHING)
        allow_unsupported(&judging);
    allow_resized(&judging);
    mark_vacuous(&judging);
    collect(&judging);
    judgement->verdict = overall(&judging, ids, id_count);
    end(&judging);
    return OK;
}

void judgement_release(struct judgement *judgement)
{
    free(judgement->results);
    free(judgement->findings);
    free(judgement->evidence);
    memset(judgement, 0, sizeof *judgement);
}
