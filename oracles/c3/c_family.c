/* Family C as a whole: which incarnations are judged, and in which order. */
#include "oracles/c3/c_family.h"

#include <stdlib.h>
#include <string.h>

static const enum claim_id of_order[] = {CLAIM_C_1_1, CLAIM_C_COMMIT, CLAIM_C_INITIATE,
                                         CLAIM_C_RESTORE};
#define OF_ORDER (sizeof of_order / sizeof of_order[0])

static bool is_of_family(size_t claim)
{
    return strncmp(claims[claim].id, "C.", 2) == 0;
}

static bool is_of_order(size_t claim)
{
    for (size_t i = 0; i < OF_ORDER; i++)
        if (claim == (size_t)of_order[i])
            return true;
    return false;
}

/* order: of those that need causality; else of those that need messages. */
static bool any_asked(const struct judging *judging, bool order)
{
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++)
        if (judging->asked[claim] && is_of_family(claim) && claim != CLAIM_C_NONDET &&
            is_of_order(claim) == order)
            return true;
    return false;
}

const struct trace *c_trace(const struct judging *judging, struct event_ref event)
{
    return trace_set_find(judging->traces, event.rank, event.incarnation);
}

bool c_lives_on(const struct judging *judging, int incarnation)
{
    for (int rank = 0; rank < judging->traces->ranks && incarnation > 0; rank++)
        if (trace_set_find(judging->traces, rank, incarnation) == NULL &&
            history_lives_on(judging->traces, rank, incarnation))
            return true;
    return false;
}

void c_tell_lives_on(struct judging *judging, int incarnation, const char *family)
{
    struct finding *finding = NULL;
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++) {
        if (strncmp(claims[claim].id, family, strlen(family)) != 0 || !judging->asked[claim])
            continue;
        judging_unknown(judging, (enum claim_id)claim);
        if (finding != NULL)
            continue;
        finding = judging_find(judging, (enum claim_id)claim, VERDICT_UNKNOWN);
        finding_say(finding,
                    "some ranks lived on while others were started again as incarnation %d",
                    incarnation);
        finding_say(finding, "what this family claims of recovery speaks of jobs that are started "
                             "again as a whole");
    }
}

static enum error_code judge_order(struct judging *judging, int incarnation, uint64_t *possible,
                                   struct error *error)
{
    struct lines lines = {0};
    struct causal causal = {0};
    enum error_code code = lines_read(judging->traces, incarnation, &lines, error);
    if (code == OK)
        code = causal_read(judging->traces, incarnation, &causal, error);
    if (code == OK) {
        c_judge_lines(judging, &lines, &causal);
        if (incarnation > 0)
            c_judge_restore(judging, &lines, possible);
        possible[incarnation] = c_possible_commit(&lines, &causal);
    }
    causal_release(&causal);
    lines_release(&lines);
    return code;
}

static enum error_code judge_family(struct judging *judging, struct error *error)
{
    bool order = any_asked(judging, true), messages = any_asked(judging, false);
    bool nondet = judging->asked[CLAIM_C_NONDET];
    size_t count = (size_t)judging->traces->incarnations;
    if (judging->traces->count == 0 || !(order || messages || nondet))
        return OK;
    struct early_list early = {.complete = calloc(count + 1, sizeof *early.complete)};
    uint64_t *possible = calloc(count + 1, sizeof *possible);
    enum error_code code = OK;
    if (early.complete == NULL || possible == NULL)
        code = error_set(error, ERROR_MEMORY, "no memory for %zu incarnations", count);
    for (int i = 0; i < (int)count && code == OK; i++) {
        if (c_lives_on(judging, i)) {
            c_tell_lives_on(judging, i, "C.");
            break;
        }
        if (order)
            code = judge_order(judging, i, possible, error);
        if (messages && code == OK)
            code = c_judge_messages(judging, i, &early, error);
        if (nondet && code == OK)
            code = c_judge_nondet(judging, i, error);
    }
    free(early.early);
    free(early.complete);
    free(possible);
    return code;
}

const struct oracle oracle_c3 = {judge_family, true};
