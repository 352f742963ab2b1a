/* H.result: what the program declares as its results is what it declares without faults, and what
 * its ranks print, where a scenario asks for that. Of a rank that died, and in whose place nobody
 * came, nothing is asked for. A member to copy: it looks at notes and facts only. The results are
 * those of effective histories: one that was declared before the line that was restored counts, one
 * that was rolled back does not. */
#include "oracles/judging.h"

#include <inttypes.h>
#include <string.h>

/* The newest result of that name in the piece. */
static bool find_in_piece(const struct piece *piece, const struct reference_result *reference,
                          uint64_t *index)
{
    const struct trace *trace = piece->trace;
    *index = trace->count;
    while (note_before(trace, *index, index)) {
        char name[sizeof reference->name];
        if (*index < piece->from)
            return false;
        if (*index >= piece->to || trace->record[*index].tag != NOTE_RESULT)
            continue;
        trace_text(trace, *index, name, sizeof name);
        if (strcmp(name, reference->name) == 0)
            return true;
    }
    return false;
}

/* The newest in the rank's effective history: the trace it is in, or NULL. */
static const struct trace *find_result(const struct histories *histories,
                                       const struct reference_result *reference, uint64_t *index)
{
    if (reference->rank < 0 || reference->rank >= histories->ranks)
        return NULL;
    const struct history *history = &histories->of[reference->rank];
    for (size_t i = history->piece_count; i > 0; i--)
        if (find_in_piece(&history->piece[i - 1], reference, index))
            return history->piece[i - 1].trace;
    return NULL;
}

static void report_missing(struct judging *judging, const struct reference_result *reference)
{
    struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_VIOLATION);
    finding_say(finding, "without faults rank %d declares the result \"%s\", %" PRIu64 " bytes",
                reference->rank, reference->name, reference->bytes);
    finding_say(finding, "in this run it finished without declaring it");
    finding_decide_at_end(finding);
}

/* On as many ranks as before it may come earlier, on as many as after the restart later. */
static void report_untold(struct judging *judging, const struct reference_result *reference)
{
    struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_UNKNOWN);
    finding_say(finding, "without faults rank %d declares the result \"%s\", %" PRIu64 " bytes",
                reference->rank, reference->name, reference->bytes);
    finding_say(finding, "in this run, which was restarted on another number of ranks, it did not: "
                         "whether it should have is not known");
}

static void report_different(struct judging *judging, const struct reference_result *reference,
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
    finding_decide_at_end(finding);
}

static void compare(struct judging *judging, const struct histories *histories)
{
    const struct run_facts *facts = judging->facts;
    for (size_t i = 0; i < facts->reference_count; i++) {
        const struct reference_result *reference = &facts->references[i];
        uint64_t index;
        if (reference->near)
            continue; /* A.exact's */
        const struct trace *trace = find_result(histories, reference, &index);
        bool dead = lives_is_dead(&judging->reading.lives, reference->rank);
        if (trace == NULL && (facts->end != RUN_FINISHED || dead))
            continue; /* it did not come to that */
        judging_saw(judging, CLAIM_H_RESULT, 1);
        if (trace == NULL && trace_set_resized(judging->traces) > 0)
            report_untold(judging, reference);
        else if (trace == NULL)
            report_missing(judging, reference);
        else if (trace->record[index].bytes != reference->bytes ||
                 trace->record[index].hash != reference->hash)
            report_different(judging, reference, &trace->record[index], event_of(trace, index));
    }
}

/* --- what ranks print ------------------------------------------------------------------------ */

static void report_lines(const struct printed *printed, struct finding *finding)
{
    if (printed->line == 0)
        finding_say(finding, "rank %d has printed too little: after its last line one is missing",
                    printed->rank);
    else
        finding_say(finding, "rank %d has printed, in line %" PRIu64 " of its output: \"%s\"",
                    printed->rank, printed->line, printed->text);
    if (printed->reference_line == 0)
        finding_say(finding, "without faults it prints no such line");
    else
        finding_say(finding, "without faults it prints, in line %" PRIu64 ": \"%s\"",
                    printed->reference_line, printed->reference_text);
}

static void judge_printed(struct judging *judging, const struct printed *printed)
{
    if (printed->state == PRINTED_UNKNOWN) {
        struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_UNKNOWN);
        finding_say(finding, "what rank %d has printed cannot be compared: %s", printed->rank,
                    printed->text);
        return;
    }
    if (lives_is_dead(&judging->reading.lives, printed->rank) &&
        judging->facts->end == RUN_FINISHED)
        return;
    judging_saw(judging, CLAIM_H_RESULT, 1);
    if (printed->state == PRINTED_SAME)
        return;
    struct finding *finding = judging_find(judging, CLAIM_H_RESULT, VERDICT_VIOLATION);
    report_lines(printed, finding);
    const struct life *life =
        lives_newest(&judging->reading.lives, printed->rank, judging->traces->incarnations - 1);
    if (life != NULL && life->to > 0)
        finding_show(finding, event_of(life->trace, life->to - 1));
    finding_decide_at_end(finding);
}

static void judge_results(struct judging *judging)
{
    for (size_t i = 0; judging->asked[CLAIM_H_RESULT] && i < judging->facts->printed_count; i++)
        judge_printed(judging, &judging->facts->printed[i]);
    int incarnations = judging->traces->incarnations;
    if (!judging->asked[CLAIM_H_RESULT] || judging->facts->reference_count == 0 ||
        incarnations == 0)
        return;
    const struct histories *histories = reading_histories(&judging->reading, incarnations - 1);
    if (!histories_report_unknown(judging, histories, CLAIM_H_RESULT))
        compare(judging, histories);
}

const struct oracle oracle_result = {.judge = judge_results, .needs_sound_traces = true};
