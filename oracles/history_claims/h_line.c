/* H.line: a line that was begun is committed, or given up with a reason, before every rank has
 * passed as many further potential checkpoints as the protocol promises (faultline_settles), in
 * every incarnation: a protocol that silently never commits again breaks it. Looks at notes
 * alone. An incarnation in which the plan keeps messages, stops ranks or lets storage fail is left
 * out. */
#include "oracles/judging.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

struct told {
    unsigned kind;  /* enum note_kind */
    uint64_t value; /* the line, or the number that is promised */
    uint64_t ticks;
    const struct trace *trace;
    uint64_t index;
};

/* What was told in one incarnation, of each trace in its order, the newest first. */
struct told_in {
    size_t count;
    struct told *told; /* owned */
    uint64_t promised; /* potential checkpoints; 0: nothing is promised */
};

static bool concerns(unsigned kind)
{
    return kind == NOTE_INITIATED || kind == NOTE_NOTIFIED || kind == NOTE_CHECKPOINT ||
           kind == NOTE_COMMIT || kind == NOTE_GIVEN_UP || kind == NOTE_POTENTIAL ||
           kind == NOTE_SETTLES;
}

static void collect(const struct judging *judging, int incarnation, struct told_in *in)
{
    size_t room = 0;
    *in = (struct told_in){.count = 0};
    for (size_t t = 0; t < judging->traces->count; t++) {
        const struct trace *trace = &judging->traces->trace[t];
        uint64_t index = trace->count;
        while (trace->incarnation == incarnation && note_before(trace, index, &index)) {
            const struct record *note = &trace->record[index];
            if (!concerns((unsigned)note->tag))
                continue;
            in->told = memory_room(in->told, in->count, &room, sizeof *in->told);
            in->told[in->count++] =
                (struct told){(unsigned)note->tag, note->bytes, note->enter, trace, index};
            if (note->tag == (int)NOTE_SETTLES && note->bytes > in->promised)
                in->promised = note->bytes;
        }
    }
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

static bool begins(const struct told *told)
{
    return told->kind == NOTE_INITIATED || told->kind == NOTE_NOTIFIED ||
           told->kind == NOTE_CHECKPOINT;
}

/* The earliest that begins the line, or settles it; NULL: none does. */
static const struct told *first(const struct told_in *in, uint64_t line, bool begin)
{
    const struct told *found = NULL;
    for (size_t i = 0; i < in->count; i++) {
        const struct told *told = &in->told[i];
        bool fits = begin ? begins(told) : told->kind == NOTE_COMMIT || told->kind == NOTE_GIVEN_UP;
        if (fits && told->value == line && (found == NULL || told->ticks < found->ticks))
            found = told;
    }
    return found;
}

/* Of one trace, from `*at` on, which is left behind it: the potential checkpoint with which so many
 * are passed since `begun` as are promised; NULL: not so many are. `*comes`: it tells of any. */
static const struct told *passed_by(const struct told_in *in, const struct told *begun, size_t *at,
                                    bool *comes)
{
    const struct trace *trace = in->told[*at].trace;
    size_t end = *at;
    uint64_t later = 0;
    const struct told *passed = NULL;
    *comes = false;
    while (end < in->count && in->told[end].trace == trace)
        end++;
    for (size_t i = end; i > *at; i--) { /* the oldest first */
        const struct told *told = &in->told[i - 1];
        *comes |= told->kind == NOTE_POTENTIAL;
        if (told->kind == NOTE_POTENTIAL && told->ticks > begun->ticks && ++later == in->promised)
            passed = told;
    }
    *at = end;
    return passed;
}

/* The last of these, where every rank that comes to potential checkpoints has one; else NULL. */
static const struct told *overdue(const struct told_in *in, const struct told *begun)
{
    const struct told *last = NULL;
    for (size_t at = 0; at < in->count;) {
        bool comes;
        const struct told *passed = passed_by(in, begun, &at, &comes);
        if (comes && passed == NULL)
            return NULL;
        if (passed != NULL && (last == NULL || passed->ticks > last->ticks))
            last = passed;
    }
    return last;
}

static void tell(struct judging *judging, const struct told *begun, const struct told *passed,
                 const struct told *settled, uint64_t promised)
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

static void judge_line(struct judging *judging, const struct told_in *in, const struct told *begun)
{
    const struct told *passed = overdue(in, begun);
    const struct told *settled = first(in, begun->value, false);
    bool late = passed != NULL && (settled == NULL || settled->ticks > passed->ticks);
    judging_saw(judging, CLAIM_H_LINE, late || settled != NULL);
    if (late)
        tell(judging, begun, passed, settled, in->promised);
}

static void judge_lines(struct judging *judging)
{
    for (int i = 0; judging->asked[CLAIM_H_LINE] && i < judging->traces->incarnations; i++) {
        struct told_in in;
        if (is_disturbed(judging, i))
            continue;
        collect(judging, i, &in);
        for (size_t k = 0; in.promised > 0 && k < in.count; k++)
            if (begins(&in.told[k]) && first(&in, in.told[k].value, true) == &in.told[k])
                judge_line(judging, &in, &in.told[k]);
        free(in.told);
    }
}

const struct oracle oracle_line = {.judge = judge_lines, .needs_sound_traces = true};
