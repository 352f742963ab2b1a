/* A.exact: the result after losses is that of a run without faults, within the tolerance that the
 * program declares; after more losses than it promises to survive, it may say that it has none.
 * Looks at the notes `near`, `survives` and `cannot`, and at who died. A number is known by its
 * name, for a rank that lives may declare what was a dead one's. That a job ends, by itself and
 * without a word, is H.progress's affair. */
#include "oracles/judging.h"

#include "base/memory.h"
#include "oracles/reading/deaths.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_near(double number, double wanted, double tolerance)
{
    if (isnan(number) || isnan(wanted))
        return isnan(number) && isnan(wanted);
    return number == wanted || fabs(number - wanted) <= tolerance;
}

/* --- who says that it cannot ------------------------------------------------------------------ */

struct loss {
    int process;
    uint64_t ticks; /* of the last that was heard of it */
};

static int by_time(const void *left, const void *right)
{
    const struct loss *a = left, *b = right;
    return (a->ticks > b->ticks) - (a->ticks < b->ticks);
}

/* Processes of that incarnation that may have died before `ticks`, in the order of their deaths.
 * Owned by the caller. */
static struct loss *losses_before(const struct judging *judging, int incarnation, uint64_t ticks,
                                  size_t *count)
{
    const struct trace_set *traces = judging->traces;
    struct loss *losses = memory_new(traces->count, sizeof *losses);
    *count = 0;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        uint64_t heard = death_last_heard(trace);
        if (trace->incarnation == incarnation && heard < ticks &&
            death_of(traces, judging->facts->end == RUN_FINISHED, trace) != DEATH_NONE)
            losses[(*count)++] = (struct loss){trace->rank, heard};
    }
    if (*count > 0)
        qsort(losses, *count, sizeof *losses, by_time);
    return losses;
}

static void accuse_of_giving_up(struct judging *judging, const struct trace *trace, uint64_t cannot,
                                uint64_t promised, size_t lost)
{
    char event[EVENT_TEXT_BYTES], reason[128];
    uint64_t told;
    struct finding *finding = judging_find(judging, CLAIM_A_EXACT, VERDICT_VIOLATION);
    trace_text(trace, cannot, reason, sizeof reason);
    finding_say(finding, "process %d says that it cannot give a result (\"%s\"): %s", trace->rank,
                reason, event_text(event_of(trace, cannot), event));
    finding_say(finding, "%zu process%s had died by then", lost, lost == 1 ? "" : "es");
    if (note_find(trace, NOTE_SURVIVES, LINE_ANY, cannot, &told)) {
        finding_say(finding, "it promises to survive %" PRIu64 ": %s", promised,
                    event_text(event_of(trace, told), event));
        finding_show(finding, event_of(trace, told));
    } else {
        finding_say(finding, "and it promises nothing: it survives 0");
    }
    finding_show(finding, event_of(trace, cannot));
}

/* True: more had died than it promises to survive. */
static bool judge_cannot(struct judging *judging, const struct trace *trace, uint64_t cannot)
{
    size_t count;
    uint64_t told, promised = 0;
    if (note_find(trace, NOTE_SURVIVES, LINE_ANY, cannot, &told))
        promised = trace->record[told].bytes;
    struct loss *losses =
        losses_before(judging, trace->incarnation, trace->record[cannot].enter, &count);
    bool may = count > promised;
    judging_saw(judging, CLAIM_A_EXACT, 1);
    if (may)
        judging_unsupported(judging, &(struct unsupported){.kind = UNSUPPORTED_IN_ALL,
                                                           .ticks = losses[promised].ticks,
                                                           .rank = losses[promised].process,
                                                           .promised = promised});
    else
        accuse_of_giving_up(judging, trace, cannot, promised, count);
    free(losses);
    return may;
}

/* In the newest incarnation some process says so; and it may. */
struct said {
    bool cannot, may;
};

static struct said judge_all_that_cannot(struct judging *judging)
{
    struct said said = {false, false};
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *trace = &judging->traces->trace[t];
        uint64_t cannot;
        if (!note_find(trace, NOTE_CANNOT, LINE_ANY, trace->count, &cannot))
            continue;
        bool may = judge_cannot(judging, trace, cannot);
        bool newest = trace->incarnation == judging->traces->incarnations - 1;
        said.cannot |= newest;
        said.may |= newest && may;
    }
    return said;
}

/* --- numbers ---------------------------------------------------------------------------------- */

/* A number that a rank has declared under the name last. */
struct declared {
    int rank;
    const struct trace *trace;
    uint64_t index;
    char name[sizeof((struct reference_result *)NULL)->name];
    size_t order;
};

struct numbers {
    struct judging *judging;
    size_t count, room;
    struct declared *declared; /* by name, then rank; owned */
};

static void read_piece(struct numbers *numbers, int rank, const struct piece *piece)
{
    for (uint64_t i = piece->from; i < piece->to; i++) {
        const struct record *note = &piece->trace->record[i];
        if (note->kind != RECORD_NOTE || note->tag != NOTE_NEAR)
            continue;
        struct declared declared = {
            .rank = rank, .trace = piece->trace, .index = i, .order = numbers->count};
        trace_text(piece->trace, i, declared.name, sizeof declared.name);
        numbers->declared = memory_room(numbers->declared, numbers->count, &numbers->room,
                                        sizeof *numbers->declared);
        numbers->declared[numbers->count++] = declared;
    }
}

/* The newest first. */
static int by_name(const void *left, const void *right)
{
    const struct declared *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    if (order == 0)
        order = (a->rank > b->rank) - (a->rank < b->rank);
    return order != 0 ? order : (a->order < b->order) - (a->order > b->order);
}

/* Of each name and rank the newest stays. */
static void read_numbers(struct numbers *numbers, const struct histories *histories)
{
    size_t kept = 0;
    for (int rank = 0; rank < histories->ranks; rank++)
        for (size_t i = 0; i < histories->of[rank].piece_count; i++)
            read_piece(numbers, rank, &histories->of[rank].piece[i]);
    if (numbers->count > 0)
        qsort(numbers->declared, numbers->count, sizeof *numbers->declared, by_name);
    for (size_t i = 0; i < numbers->count; i++) {
        const struct declared *now = &numbers->declared[i];
        if (kept == 0 || numbers->declared[kept - 1].rank != now->rank ||
            strcmp(numbers->declared[kept - 1].name, now->name) != 0)
            numbers->declared[kept++] = *now;
    }
    numbers->count = kept;
}

/* What is declared under the name without faults: by that rank, or, where it declares none, by any.
 * *wanted: the first of these. 1: it is near one of them, 0: near none, -1: there is none. */
static int compare(const struct judging *judging, const struct declared *declared,
                   const struct reference_result **wanted)
{
    const struct record *note = &declared->trace->record[declared->index];
    *wanted = NULL;
    for (int own = 1; own >= 0 && *wanted == NULL; own--)
        for (size_t i = 0; i < judging->facts->reference_count; i++) {
            const struct reference_result *reference = &judging->facts->references[i];
            if (!reference->near || (own && reference->rank != declared->rank) ||
                strcmp(reference->name, declared->name) != 0)
                continue;
            if (is_near(trace_number(note), trace_number_of(reference->hash),
                        trace_tolerance(note)))
                return 1;
            if (*wanted == NULL)
                *wanted = reference;
        }
    return *wanted == NULL ? -1 : 0;
}

static void judge_number(struct judging *judging, const struct declared *declared)
{
    char text[EVENT_TEXT_BYTES];
    const struct reference_result *wanted;
    struct event_ref event = event_of(declared->trace, declared->index);
    const struct record *note = &declared->trace->record[declared->index];
    int result = compare(judging, declared, &wanted);
    judging_saw(judging, CLAIM_A_EXACT, result >= 0);
    if (result != 0)
        return;
    struct finding *finding = judging_find(judging, CLAIM_A_EXACT, VERDICT_VIOLATION);
    finding_say(finding, "rank %d declares \"%s\" as %.17g: %s", declared->rank, declared->name,
                trace_number(note), event_text(event, text));
    finding_say(finding, "without faults it is %.17g, and the tolerance is %g",
                trace_number_of(wanted->hash), trace_tolerance(note));
    finding_show(finding, event);
    finding_decide_at_end(finding);
}

static bool is_declared(const struct numbers *numbers, const char *name)
{
    size_t low = 0, high = numbers->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(numbers->declared[middle].name, name);
        if (order == 0)
            return true;
        if (order < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return false;
}

/* Told of the first that is missing: the others are missing for the same reason. */
static void judge_missing(const struct numbers *numbers)
{
    const struct run_facts *facts = numbers->judging->facts;
    for (size_t i = 0; i < facts->reference_count; i++) {
        const struct reference_result *reference = &facts->references[i];
        if (!reference->near || is_declared(numbers, reference->name))
            continue;
        judging_saw(numbers->judging, CLAIM_A_EXACT, 1);
        struct finding *finding = judging_find(numbers->judging, CLAIM_A_EXACT, VERDICT_VIOLATION);
        finding_say(finding, "without faults the job declares the result \"%s\", by rank %d",
                    reference->name, reference->rank);
        finding_say(finding, "in this run nobody declares it, and nobody says that it cannot");
        finding_decide_at_end(finding);
        return;
    }
}

static void judge_exact(struct judging *judging)
{
    int incarnations = judging->traces->incarnations;
    if (incarnations == 0)
        return;
    struct said said = judge_all_that_cannot(judging);
    if (!judging->asked[CLAIM_A_EXACT] || said.may)
        return;
    const struct histories *histories = reading_histories(&judging->reading, incarnations - 1);
    struct numbers numbers = {.judging = judging};
    if (histories_report_unknown(judging, histories, CLAIM_A_EXACT))
        return;
    read_numbers(&numbers, histories);
    for (size_t i = 0; i < numbers.count; i++)
        judge_number(judging, &numbers.declared[i]);
    if (judging->facts->end == RUN_FINISHED && !said.cannot)
        judge_missing(&numbers);
    free(numbers.declared);
}

const struct oracle oracle_exact = {.judge = judge_exact, .needs_sound_traces = true};
