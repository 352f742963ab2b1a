/* F.blank, F.shrink, F.replace, F.last: what FT-MPI's modes make of the numbers of the ranks. Looks
 * at the notes `repaired`, one by each process that lives when the world has been repaired. The
 * k-th of each process of the first world belong together, for each of them takes part in every
 * repair. That messages to a blank are discarded, and collectives go on, is left to family H. */
#include "oracles/judging.h"

#include "base/memory.h"
#include "oracles/reading/deaths.h"
#include "trace/calls.h"

#include <stdlib.h>
#include <string.h>

#define MODE_BYTES 16

struct repaired {
    const struct trace *trace;
    uint64_t index;
    int number;     /* that the process has from now on */
    int generation; /* among the notes of its process, from 1 */
    int attempts;   /* shrinks since the one before */
    uint64_t began; /* ticks of the last of these */
    char mode[MODE_BYTES];
};

struct repairs {
    const struct judging *judging;
    size_t count, room;
    struct repaired *repaired; /* by trace, then as they were told; owned */
};

static void read_trace(struct repairs *repairs, const struct trace *trace)
{
    struct repaired next = {.trace = trace};
    for (uint64_t i = 0; i < trace->count; i++) {
        const struct record *record = &trace->record[i];
        if (record->kind == RECORD_CALL && record->level == LEVEL_WIRE &&
            record->call == CALL_MPIX_Comm_shrink) {
            next.attempts++;
            next.began = record->enter;
        }
        if (record->kind != RECORD_NOTE || record->tag != NOTE_REPAIRED)
            continue;
        next.index = i;
        next.number = (int)record->bytes;
        next.generation++;
        trace_text(trace, i, next.mode, sizeof next.mode);
        repairs->repaired = memory_room(repairs->repaired, repairs->count, &repairs->room,
                                        sizeof *repairs->repaired);
        repairs->repaired[repairs->count++] = next;
        next.attempts = 0;
    }
}

static bool is_newcomer(const struct repairs *repairs, const struct trace *trace)
{
    return trace->rank >= repairs->judging->traces->world;
}

/* How often the process has told. */
static int repairs_of(const struct repairs *repairs, const struct trace *trace)
{
    int count = 0;
    for (size_t i = 0; i < repairs->count; i++)
        count += repairs->repaired[i].trace == trace;
    return count;
}

/* What the process has told last by then; NULL: nothing. */
static const struct repaired *newest(const struct repairs *repairs, const struct trace *trace,
                                     uint64_t ticks)
{
    const struct repaired *last = NULL;
    for (size_t i = 0; i < repairs->count; i++)
        if (repairs->repaired[i].trace == trace &&
            trace->record[repairs->repaired[i].index].enter <= ticks)
            last = &repairs->repaired[i];
    return last;
}

static bool has_ended_badly(const struct trace *trace)
{
    return trace->end != NULL && (trace->end->tag != 0 || trace->end->bytes != 0);
}

/* --- numbers ---------------------------------------------------------------------------------- */

static struct finding *accuse(struct judging *judging, enum claim_id claim,
                              const struct repaired *repaired)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref note = event_of(repaired->trace, repaired->index);
    struct finding *finding = judging_find(judging, claim, VERDICT_VIOLATION);
    finding_say(finding, "process %d is rank %d after repair %d, mode %s: %s",
                repaired->trace->rank, repaired->number, repaired->generation, repaired->mode,
                event_text(note, event));
    finding_show(finding, note);
    return finding;
}

static void judge_kept(struct judging *judging, enum claim_id claim,
                       const struct repaired *repaired)
{
    if (repaired->number != repaired->trace->rank)
        finding_say(accuse(judging, claim, repaired),
                    "it was rank %d, and lives: it keeps its number", repaired->trace->rank);
}

/* Below it are those that were repaired as often, and perhaps some that died before they told. */
static void judge_shrunk(const struct repairs *repairs, struct judging *judging,
                         const struct repaired *repaired)
{
    int below = 0, perhaps = 0;
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *other = &judging->traces->trace[t];
        if (other->incarnation != repaired->trace->incarnation ||
            other->rank >= repaired->trace->rank)
            continue;
        int times = repairs_of(repairs, other);
        below += times >= repaired->generation;
        perhaps += times == repaired->generation - 1 && has_ended_badly(other) &&
                   death_last_heard(other) >= repaired->began;
    }
    if (repaired->number < below || repaired->number > below + perhaps)
        finding_say(accuse(judging, CLAIM_F_SHRINK, repaired),
                    "%d of the processes before it live then%s: the old order, without holes",
                    below, perhaps > 0 ? ", or some more that died in the repair" : "");
}

/* A new process has the number of nobody that lives on. */
static void judge_newcomer(const struct repairs *repairs, struct judging *judging,
                           const struct repaired *repaired)
{
    uint64_t now = repaired->trace->record[repaired->index].enter;
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *other = &judging->traces->trace[t];
        const struct repaired *last = newest(repairs, other, now);
        if (other == repaired->trace || other->incarnation != repaired->trace->incarnation ||
            death_last_heard(other) <= now)
            continue;
        int number = last != NULL ? last->number : is_newcomer(repairs, other) ? -1 : other->rank;
        if (number != repaired->number)
            continue;
        struct finding *finding = accuse(judging, CLAIM_F_REPLACE, repaired);
        finding_say(finding, "process %d is that rank, and lives", other->rank);
        if (last != NULL)
            finding_show(finding, event_of(other, last->index));
    }
}

static void judge_number(const struct repairs *repairs, struct judging *judging,
                         const struct repaired *repaired)
{
    if (strcmp(repaired->mode, "blank") == 0) {
        judging_saw(judging, CLAIM_F_BLANK, 1);
        judge_kept(judging, CLAIM_F_BLANK, repaired);
    } else if (strcmp(repaired->mode, "shrink") == 0) {
        judging_saw(judging, CLAIM_F_SHRINK, 1);
        judge_shrunk(repairs, judging, repaired);
    } else if (strcmp(repaired->mode, "replace") == 0) {
        judging_saw(judging, CLAIM_F_REPLACE, 1);
        if (is_newcomer(repairs, repaired->trace))
            judge_newcomer(repairs, judging, repaired);
        else
            judge_kept(judging, CLAIM_F_REPLACE, repaired);
    }
}

/* --- one repair after another ----------------------------------------------------------------- */

static void accuse_two(struct judging *judging, const struct repaired *a, const struct repaired *b,
                       const char *why)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref other = event_of(b->trace, b->index);
    struct finding *finding = accuse(judging, CLAIM_F_LAST, a);
    finding_say(finding, "process %d is rank %d after repair %d, mode %s: %s", b->trace->rank,
                b->number, b->generation, b->mode, event_text(other, event));
    finding_say(finding, "%s", why);
    finding_show(finding, other);
}

/* All processes of the first world that live to the end have been repaired equally often. */
static void judge_last(const struct repairs *repairs, struct judging *judging)
{
    const struct repaired *before = NULL;
    for (size_t i = 0; i < repairs->count; i++) {
        const struct repaired *repaired = &repairs->repaired[i];
        bool is_last = i + 1 == repairs->count || repaired[1].trace != repaired->trace;
        judging_saw(judging, CLAIM_F_LAST, repaired->generation > 1 || repaired->attempts > 1);
        if (strcmp(repaired->mode, repairs->repaired[0].mode) != 0)
            accuse_two(judging, &repairs->repaired[0], repaired,
                       "the mode is one for the whole job");
        if (judging->facts->end != RUN_FINISHED || !is_last ||
            is_newcomer(repairs, repaired->trace) || has_ended_badly(repaired->trace))
            continue;
        if (before != NULL && before->trace->incarnation == repaired->trace->incarnation &&
            before->generation != repaired->generation)
            accuse_two(judging, before, repaired,
                       "both live to the end: each takes part in every repair");
        before = repaired;
    }
}

static void judge_modes(struct judging *judging)
{
    if (!judging_asked(judging, "F."))
        return;
    struct repairs repairs = {.judging = judging};
    for (size_t t = 0; t < judging->traces->count; t++)
        read_trace(&repairs, &judging->traces->trace[t]);
    for (size_t i = 0; i < repairs.count; i++)
        judge_number(&repairs, judging, &repairs.repaired[i]);
    judge_last(&repairs, judging);
    free(repairs.repaired);
}

const struct oracle oracle_modes = {.judge = judge_modes, .needs_sound_traces = true};
