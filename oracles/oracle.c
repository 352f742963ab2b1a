/* What judging a run shares; see oracle.h and judging.h. */
#include "oracles/oracle.h"

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

/* --- findings ------------------------------------------------------------------------------ */

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

bool piece_restored_by(const struct piece *piece, struct event_ref *note)
{
    if (piece->restored == 0)
        return false;
    *note = event_of(piece->trace, piece->restored - 1);
    return true;
}

/* --- what is asked for --------------------------------------------------------------------- */

static enum error_code ask(struct judging *judging, const char *const *ids, size_t id_count,
                           struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; i < id_count && code == OK; i++) {
        code = claim_check_name(ids[i], error);
        for (size_t claim = 0; claim < claim_count; claim++)
            judging->asked[claim] |= claim_is_named(&claims[claim], ids[i]);
    }
    for (size_t claim = 0; claim < claim_count; claim++)
        judging->asked[claim] |= claims[claim].always;
    return code;
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

/* What was asked for is vacuous: a claim by its id, a family when all of it is. */
static bool is_vacuous(const struct judging *judging, const char *id)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        if (!claims[claim].always && claim_is_named(&claims[claim], id) &&
            judging->result[claim].verdict != VERDICT_VACUOUS)
            return false;
    const struct claim *claim = claim_find(id);
    return claim != NULL ? !claim->always : strcmp(id, "I") != 0;
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

static enum error_code collect(struct judging *judging, struct error *error)
{
    struct judgement *judgement = judging->judgement;
    judgement->results = calloc(claim_count, sizeof *judgement->results);
    if (judgement->results == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for the results");
    for (size_t claim = 0; claim < claim_count; claim++)
        if (judging->asked[claim])
            judgement->results[judgement->result_count++] = judging->result[claim];
    for (size_t i = 0; i < judging->traces->count; i++)
        judgement->records += judging->traces->trace[i].count;
    sort_findings(judgement);
    return OK;
}

/* The traces say what happened, and what happened on the wire is MPI. */
static bool is_sound(const struct judging *judging)
{
    return judging->result[CLAIM_I_LEGAL].verdict < VERDICT_HARNESS_ERROR &&
           judging->result[CLAIM_I_COMPLETE].verdict < VERDICT_HARNESS_ERROR &&
           judging->facts->end != RUN_VOID;
}

static void leave_out(struct judging *judging)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        if (!claims[claim].always)
            judging_unknown(judging, (enum claim_id)claim);
}

/* Where the traces are not complete, what seems wrong on the wire is what they leave out. */
static void doubt_wire(struct judging *judging)
{
    struct judgement *judgement = judging->judgement;
    struct claim_result *legal = &judging->result[CLAIM_I_LEGAL];
    size_t kept = 0;
    if (judging->result[CLAIM_I_COMPLETE].verdict < VERDICT_HARNESS_ERROR)
        return;
    for (size_t i = 0; i < judgement->finding_count; i++)
        if (judgement->findings[i].claim != &claims[CLAIM_I_LEGAL])
            judgement->findings[kept++] = judgement->findings[i];
    memset(&judgement->findings[kept], 0,
           (judgement->finding_count - kept) * sizeof *judgement->findings);
    judgement->finding_count = kept;
    judging->kept[CLAIM_I_LEGAL] = 0;
    legal->verdict = VERDICT_UNKNOWN;
    legal->violations = 0;
}

static enum error_code prepare(struct judging *judging, const char *const *ids, size_t id_count,
                               struct error *error)
{
    for (size_t claim = 0; claim < claim_count; claim++)
        judging->result[claim].claim = &claims[claim];
    judging->faulted = judging->traces->incarnations > 1;
    judging->seen = calloc(judging->traces->count + 1, sizeof *judging->seen);
    judging->judgement->findings =
        calloc(CLAIM_COUNT * FINDINGS_KEPT, sizeof *judging->judgement->findings);
    judging->evidence = calloc(EVIDENCE_KEPT, sizeof *judging->evidence);
    if (judging->seen == NULL || judging->judgement->findings == NULL || judging->evidence == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for findings");
    return ask(judging, ids, id_count, error);
}

enum error_code judge(const struct trace_set *traces, const struct run_facts *facts,
                      const char *const *ids, size_t id_count, struct judgement *judgement,
                      struct error *error)
{
    struct judging judging = {.traces = traces, .facts = facts, .judgement = judgement};
    memset(judgement, 0, sizeof *judgement);
    enum error_code code = prepare(&judging, ids, id_count, error);
    bool left_out = false;
    for (size_t i = 0; i < sizeof oracles / sizeof oracles[0] && code == OK; i++) {
        if (!oracles[i]->needs_sound_traces || is_sound(&judging))
            code = oracles[i]->judge(&judging, error);
        else
            left_out = true;
        if (oracles[i] == &oracle_complete)
            doubt_wire(&judging);
    }
    if (left_out)
        leave_out(&judging);
    if (code == OK) {
        mark_vacuous(&judging);
        code = collect(&judging, error);
        judgement->verdict = overall(&judging, ids, id_count);
    }
    free(judging.seen);
    judgement->evidence = judging.evidence;
    judgement->evidence_count = judging.evidence_count;
    return code;
}

void judgement_release(struct judgement *judgement)
{
    free(judgement->results);
    free(judgement->findings);
    free(judgement->evidence);
    memset(judgement, 0, sizeof *judgement);
}
