/* H.line: a line that was begun is committed, or given up with a reason, before every rank has
 * passed as many further potential checkpoints as the protocol promises (faultline_settles); and
 * where none is open the next one is begun before every rank has passed as many as it promises of
 * that (faultline_begins). In every incarnation: a protocol that silently never commits again
 * breaks it. Looks at notes alone. An incarnation in which the plan keeps messages, stops ranks or
 * lets storage fail is left out.
 *
 * Nor may a line be open where every rank has come to MPI_Finalize and the job comes to no end, for
 * none passes a potential checkpoint any more. There a plan may have kept messages that are on
 * their way again. */
#include "oracles/judging.h"

#include "base/memory.h"
#include "trace/calls.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct line_note {
    unsigned kind;  /* enum note_kind */
    uint64_t value; /* the line, or the number that is promised */
    uint64_t ticks;
    const struct trace *trace;
    uint64_t index;
    const struct trace *passes; /* a potential checkpoint: where its rank was first */
};

/* What was told of lines, and of potential checkpoints. */
struct line_notes {
    size_t count, room;
    struct line_note *note; /* owned */
};

/* What was told in one incarnation. */
struct incarnation_notes {
    struct line_notes lines;  /* what begins or settles one: by line, then the earliest first */
    struct line_notes passed; /* potential checkpoints: by rank, then the earliest first */
    bool some_pass_none;      /* some rank that did in an incarnation before */
    uint64_t promised;        /* potential checkpoints; 0: nothing is promised */
    struct line_note begins;  /* the promise of when the next line is begun; value 0: none */
};

static bool begins(const struct line_note *note)
{
    return note->kind == NOTE_INITIATED || note->kind == NOTE_NOTIFIED ||
           note->kind == NOTE_CHECKPOINT;
}

static bool settles(const struct line_note *note)
{
    return note->kind == NOTE_COMMIT || note->kind == NOTE_GIVEN_UP;
}

static void put(struct line_notes *list, struct line_note note)
{
    list->note = memory_room(list->note, list->count, &list->room, sizeof *list->note);
    list->note[list->count++] = note;
}

static int compare_numbers(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

/* At the same tick: as the traces and their records stand. */
static int compare_times(const struct line_note *a, const struct line_note *b)
{
    int order = compare_numbers(a->ticks, b->ticks);
    if (order == 0)
        order = (a->trace > b->trace) - (a->trace < b->trace);
    return order != 0 ? order : compare_numbers(a->index, b->index);
}

static int compare_lines(const void *left, const void *right)
{
    const struct line_note *a = left, *b = right;
    int order = compare_numbers(a->value, b->value);
    return order != 0 ? order : compare_times(a, b);
}

static int compare_passed(const void *left, const void *right)
{
    const struct line_note *a = left, *b = right;
    int order = (a->passes > b->passes) - (a->passes < b->passes);
    return order != 0 ? order : compare_times(a, b);
}

static void sort(struct line_notes *list, int (*compare)(const void *, const void *))
{
    if (list->count > 0)
        qsort(list->note, list->count, sizeof *list->note, compare);
}

/* What a rank passes on the process to which it has moved counts with what it passed before. */
static struct line_note passed_by_rank(const struct lives *lives, struct line_note note)
{
    const struct life *life = lives_find(lives, event_of(note.trace, note.index));
    while (life != NULL && (life->moved || (life->takes_over && life->before->left)))
        life = life->before;
    note.passes = life != NULL ? life->trace : note.trace;
    return note;
}

/* Some rank passed potential checkpoints in an incarnation before, and passes none in this one. So
 * it has not passed as many as are promised, however many the others have. */
static bool some_pass_none(const struct judging *judging, int incarnation)
{
    const struct lives *lives = &judging->reading.lives;
    int *newest = memory_new((size_t)lives->ranks, sizeof *newest); /* plus one; 0: never */
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *trace = &judging->traces->trace[t];
        uint64_t index = trace->count;
        while (trace->incarnation <= incarnation && note_before(trace, index, &index)) {
            if (trace->record[index].tag != NOTE_POTENTIAL)
                continue;
            const struct life *life = lives_find(lives, event_of(trace, index));
            if (life != NULL && newest[life->rank] <= trace->incarnation)
                newest[life->rank] = trace->incarnation + 1;
        }
    }
    bool found = false;
    for (int rank = 0; rank < lives->ranks; rank++)
        found |= newest[rank] != 0 && newest[rank] != incarnation + 1;
    free(newest);
    return found;
}

static void collect(const struct judging *judging, int incarnation, struct incarnation_notes *in)
{
    *in = (struct incarnation_notes){.promised = 0};
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *trace = &judging->traces->trace[t];
        uint64_t index = trace->count;
        while (trace->incarnation == incarnation && note_before(trace, index, &index)) {
            const struct record *record = &trace->record[index];
            struct line_note note = {.kind = (unsigned)record->tag,
                                     .value = record->bytes,
                                     .ticks = record->enter,
                                     .trace = trace,
                                     .index = index};
            if (begins(&note) || settles(&note))
                put(&in->lines, note);
            else if (note.kind == NOTE_POTENTIAL)
                put(&in->passed, passed_by_rank(&judging->reading.lives, note));
            else if (note.kind == NOTE_SETTLES && record->bytes > in->promised)
                in->promised = record->bytes;
            else if (note.kind == NOTE_BEGINS && record->bytes > in->begins.value)
                in->begins = note;
        }
    }
    sort(&in->lines, compare_lines);
    sort(&in->passed, compare_passed);
    in->some_pass_none = some_pass_none(judging, incarnation);
}

/* Something was done to the job that the protocol need not bear in time. */
static bool is_disturbed(const struct judging *judging, int incarnation)
{
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation == incarnation && evidence->kind != FAULT_AWAITED &&
            !evidence_kills(judging, evidence))
            return true;
    }
    return judging->evidence_lost;
}

/* The first from `from` on that is of another rank, or of the same rank and later than `ticks`. */
static size_t skip(const struct line_notes *list, size_t from, uint64_t ticks)
{
    const struct trace *passes = list->note[from].passes;
    size_t low = from, high = list->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (list->note[middle].passes == passes && list->note[middle].ticks <= ticks)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* With which the last rank that comes to potential checkpoints has passed as many since `ticks` as
 * are promised; NULL: some rank has not. */
static const struct line_note *overdue(const struct incarnation_notes *in, uint64_t ticks,
                                       uint64_t promised)
{
    const struct line_notes *list = &in->passed;
    const struct line_note *last = NULL;
    for (size_t at = 0; !in->some_pass_none && at < list->count;) {
        size_t later = skip(list, at, ticks), end = skip(list, at, UINT64_MAX);
        if (end - later < promised)
            return NULL;
        const struct line_note *passed = &list->note[later + promised - 1];
        if (last == NULL || passed->ticks > last->ticks)
            last = passed;
        at = end;
    }
    return last;
}

static void report(struct judging *judging, const struct line_note *begun,
                   const struct line_note *passed, const struct line_note *settled,
                   uint64_t promised)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_H_LINE, VERDICT_VIOLATION);
    finding_say(finding, "line %" PRIu64 " was begun: %s", begun->value,
                event_text(event_of(begun->trace, begun->index), event));
    finding_say(finding,
                "every rank has passed %" PRIu64 " further potential checkpoint%s, as many as the "
                "protocol promises: %s",
                promised, promised == 1 ? "" : "s",
                event_text(event_of(passed->trace, passed->index), event));
    if (settled == NULL)
        finding_say(finding, "it is neither committed nor given up in this incarnation");
    else
        finding_say(finding, "only then it is %s: %s",
                    settled->kind == NOTE_COMMIT ? "committed" : "given up",
                    event_text(event_of(settled->trace, settled->index), event));
    finding_show(finding, event_of(begun->trace, begun->index));
    finding_show(finding, event_of(passed->trace, passed->index));
}

static void judge_line(struct judging *judging, const struct incarnation_notes *in,
                       const struct line_note *begun, const struct line_note *settled)
{
    const struct line_note *passed = overdue(in, begun->ticks, in->promised);
    bool late = passed != NULL && (settled == NULL || settled->ticks > passed->ticks);
    judging_saw(judging, CLAIM_H_LINE, late || settled != NULL);
    if (late)
        report(judging, begun, passed, settled, in->promised);
}

/* What was told first of a line; NULL: nothing. Returns where the next line is in the list. */
static size_t read_line(const struct line_notes *lines, size_t at, const struct line_note **begun,
                        const struct line_note **settled)
{
    const struct line_note *note = lines->note;
    size_t end = at;
    *begun = *settled = NULL;
    for (; end < lines->count && note[end].value == note[at].value; end++) {
        if (*begun == NULL && begins(&note[end]))
            *begun = &note[end];
        if (*settled == NULL && settles(&note[end]))
            *settled = &note[end];
    }
    return end;
}

static void judge_all(struct judging *judging, const struct incarnation_notes *in)
{
    const struct line_note *begun, *settled;
    for (size_t at = 0; at < in->lines.count;) {
        at = read_line(&in->lines, at, &begun, &settled);
        if (begun != NULL)
            judge_line(judging, in, begun, settled);
    }
}

/* --- a job that comes to no end ----------------------------------------------------------------
 */

/* The plan still keeps messages from going on, or has stopped ranks, or let storage fail. */
static bool is_kept(const struct judging *judging, int incarnation)
{
    for (size_t i = 0; i < judging->evidence_count; i++) {
        const struct evidence *evidence = &judging->evidence[i];
        if (evidence->event.incarnation == incarnation &&
            (evidence->kind == FAULT_STORAGE || evidence_kills(judging, evidence)))
            return true;
    }
    return evidence_keeps(judging, incarnation) || judging->evidence_lost;
}

/* The call with which the program of the process came to MPI_Finalize, out of which it has not
 * come.
 */
static bool is_at_end(const struct trace *trace, uint64_t *index)
{
    for (*index = trace->count; *index > 0;)
        if (record_is_of_app(&trace->record[--*index]))
            return trace->record[*index].call == CALL_MPI_Finalize &&
                   atomic_load_explicit(&trace->record[*index].leave, memory_order_acquire) == 0;
    return false;
}

/* The rank that came to MPI_Finalize last of those that come to potential checkpoints; NULL: not
 * all are in there. */
static const struct trace *last_at_end(const struct incarnation_notes *in, uint64_t *index)
{
    const struct trace *last = NULL;
    for (size_t at = 0; at < in->passed.count; at = skip(&in->passed, at, UINT64_MAX)) {
        const struct trace *trace = in->passed.note[at].trace;
        uint64_t end;
        if (!is_at_end(trace, &end))
            return NULL;
        if (last == NULL || trace->record[end].enter > last->record[*index].enter) {
            last = trace;
            *index = end;
        }
    }
    return last;
}

/* Nobody comes to a potential checkpoint any more, and the line is open for ever. */
static void judge_end(struct judging *judging, const struct incarnation_notes *in)
{
    const struct line_note *begun, *settled;
    char event[EVENT_TEXT_BYTES];
    uint64_t index = 0;
    const struct trace *last = last_at_end(in, &index);
    for (size_t at = 0; last != NULL && at < in->lines.count;) {
        at = read_line(&in->lines, at, &begun, &settled);
        if (begun == NULL || settled != NULL)
            continue;
        judging_saw(judging, CLAIM_H_LINE, 1);
        struct finding *finding = judging_find(judging, CLAIM_H_LINE, VERDICT_VIOLATION);
        finding_say(finding, "line %" PRIu64 " was begun: %s", begun->value,
                    event_text(event_of(begun->trace, begun->index), event));
        finding_say(finding,
                    "every rank has come to MPI_Finalize, passes no potential checkpoint any more, "
                    "and waits there for ever: %s",
                    event_text(event_of(last, index), event));
        finding_say(finding, "it is neither committed nor given up");
        finding_show(finding, event_of(begun->trace, begun->index));
        finding_show(finding, event_of(last, index));
        finding_decide(finding, event_of(last, index));
    }
}

/* --- the next line --------------------------------------------------------------------------- */

static void report_none(struct judging *judging, const struct incarnation_notes *in,
                        const struct line_note *settled, const struct line_note *passed)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_H_LINE, VERDICT_VIOLATION);
    if (settled != NULL)
        finding_say(finding, "line %" PRIu64 " was %s, and no other was open: %s", settled->value,
                    settled->kind == NOTE_COMMIT ? "committed" : "given up",
                    event_text(event_of(settled->trace, settled->index), event));
    else
        finding_say(finding, "the incarnation began, and no line was open");
    finding_say(finding,
                "every rank has passed %" PRIu64 " potential checkpoint%s since, as many as the "
                "protocol promises, and no line has been begun: %s",
                in->begins.value, in->begins.value == 1 ? "" : "s",
                event_text(event_of(passed->trace, passed->index), event));
    if (settled != NULL)
        finding_show(finding, event_of(settled->trace, settled->index));
    else
        finding_show(finding, event_of(in->begins.trace, in->begins.index));
    finding_show(finding, event_of(passed->trace, passed->index));
}

/* From when `settled` was told (NULL: the beginning) until the next line is begun. */
static void judge_pause(struct judging *judging, const struct incarnation_notes *in,
                        const struct line_note *settled)
{
    uint64_t from = settled != NULL ? settled->ticks : in->begins.ticks;
    const struct line_note *next = NULL, *begun, *over;
    for (size_t at = 0; at < in->lines.count;) {
        at = read_line(&in->lines, at, &begun, &over);
        if (begun == NULL)
            continue;
        if (begun->ticks <= from && (over == NULL || over->ticks > from))
            return; /* this one is open */
        if (begun->ticks > from && (next == NULL || begun->ticks < next->ticks))
            next = begun;
    }
    const struct line_note *passed = overdue(in, from, in->begins.value);
    if (passed != NULL && (next == NULL || next->ticks > passed->ticks))
        report_none(judging, in, settled, passed);
}

static void judge_pauses(struct judging *judging, const struct incarnation_notes *in)
{
    const struct line_note *begun, *settled;
    judge_pause(judging, in, NULL);
    for (size_t at = 0; at < in->lines.count;) {
        at = read_line(&in->lines, at, &begun, &settled);
        if (settled != NULL)
            judge_pause(judging, in, settled);
    }
}

static void judge_lines(struct judging *judging)
{
    for (int i = 0; judging->asked[CLAIM_H_LINE] && i < judging->traces->incarnations; i++) {
        struct incarnation_notes in;
        bool in_time = !is_disturbed(judging, i);
        bool ends = i == judging->traces->incarnations - 1 && run_is_stuck(judging->facts) &&
                    !is_kept(judging, i);
        if (!in_time && !ends)
            continue;
        collect(judging, i, &in);
        if (in_time && in.promised > 0)
            judge_all(judging, &in);
        if (in_time && in.begins.value > 0)
            judge_pauses(judging, &in);
        if (ends && in.promised > 0)
            judge_end(judging, &in);
        free(in.lines.note);
        free(in.passed.note);
    }
}

const struct oracle oracle_line = {.judge = judge_lines, .needs_sound_traces = true};
