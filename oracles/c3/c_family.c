/* Family C as a whole: which incarnations are judged, and in which order. */
#include "oracles/c3/c_family.h"

#include "base/memory.h"

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
    const struct lives *lives = &judging->reading.lives;
    return lives_any_on(lives, incarnation) ||
           (judging->facts->survivors && lives_any_died(lives, incarnation));
}

void c_report_lives_on(struct judging *judging, int incarnation, const char *family)
{
    struct finding *finding = NULL;
    for (size_t claim = 0; claim < CLAIM_COUNT; claim++) {
        if (strncmp(claims[claim].id, family, strlen(family)) != 0 || !judging->asked[claim])
            continue;
        judging_unknown(judging, (enum claim_id)claim);
        if (finding != NULL)
            continue;
        finding = judging_find(judging, (enum claim_id)claim, VERDICT_UNKNOWN);
        finding_say(finding, "some ranks lived on while others died, in incarnation %d",
                    incarnation);
        finding_say(finding, "what this family claims of recovery speaks of jobs that are started "
                             "again as a whole");
    }
}

static void judge_order(struct judging *judging, int incarnation)
{
    const struct lines *lines = reading_lines(&judging->reading, incarnation);
    const struct causal *causal = &judging->causal[incarnation];
    uint64_t *possible = judging->c3->possible;
    c_judge_lines(judging, lines, causal);
    if (incarnation > 0)
        c_judge_restore(judging, lines, possible);
    possible[incarnation] = c_possible_commit(lines, causal);
}

static void begin_run(struct judging *judging)
{
    size_t count = (size_t)judging->traces->incarnations;
    judging->c3 = memory_new(1, sizeof *judging->c3);
    judging->c3->complete = memory_new(count, sizeof *judging->c3->complete);
    judging->c3->possible = memory_new(count, sizeof *judging->c3->possible);
}

static void listen(struct judging *judging, struct pass *pass)
{
    if (!judging_asked(judging, "C."))
        return;
    if (judging->c3 == NULL)
        begin_run(judging);
    if (judging->c3->lives_on)
        return;
    judging->c3->lives_on = c_lives_on(judging, pass->incarnation);
    if (judging->c3->lives_on) {
        c_report_lives_on(judging, pass->incarnation, "C.");
        return;
    }
    if (any_asked(judging, true))
        judge_order(judging, pass->incarnation);
    if (any_asked(judging, false))
        c_listen_messages(judging, pass);
    if (judging->asked[CLAIM_C_NONDET])
        c_judge_nondet(judging, pass->incarnation);
}

static void end_run(struct judging *judging)
{
    if (judging->c3 == NULL)
        return;
    free(judging->c3->early);
    free(judging->c3->complete);
    free(judging->c3->possible);
    free(judging->c3);
}

const struct oracle oracle_c3 = {
    .application = listen, .judge = end_run, .needs_sound_traces = true};
