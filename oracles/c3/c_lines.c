/* C.1.1, C.commit, C.initiate: the order in which a line is begun, taken, left and committed, by
 * what each rank can know, not by the clock. */
#include "oracles/c3/c_family.h"

#include <inttypes.h>

/* Clocks of processors may differ by less than this. */
static uint64_t slack_of(const struct judging *judging)
{
    return (uint64_t)(judging->traces->trace[0].header->ticks_per_second * MATCH_CLOCK_SLACK_S);
}

static bool was_taken(const struct lines *lines, uint64_t number)
{
    for (size_t i = 0; i < lines->taken_count; i++)
        if (lines->taken[i] == number)
            return true;
    return false;
}

/* --- before every rank had done its part ------------------------------------------------------ */

/* A note that must come after a mark of every rank. */
struct demand {
    enum claim_id claim;
    const char *did;   /* "stopped logging for" */
    const char *must;  /* "had taken its checkpoint of" */
    const char *never; /* "never took its checkpoint of" */
};

static const struct mark *mark_of(const struct lines *lines, int rank, uint64_t number, bool saved)
{
    static const struct mark none;
    const struct line *line = lines_find(&lines->of[rank], number);
    return line == NULL ? &none : saved ? &line->saved : &line->checkpoint;
}

/* One rank that is missing: when, and whether that is certain. */
static bool is_certain(const struct judging *judging, const struct causal *causal,
                       const struct causal_note *note, const struct mark *mark)
{
    return !causal->uncertain || !mark->there || mark->ticks > note->ticks + slack_of(judging);
}

static void say_missing(struct finding *finding, const struct demand *demand,
                        const struct causal_note *note, int rank, const struct mark *mark)
{
    char event[EVENT_TEXT_BYTES];
    if (!mark->there)
        finding_say(finding, "rank %d %s line %" PRIu64 " in this incarnation", rank, demand->never,
                    note->line);
    else if (mark->ticks > note->ticks)
        finding_say(finding, "rank %d %s line %" PRIu64 " only later: %s", rank, demand->must,
                    note->line, event_text(mark->event, event));
    else
        finding_say(finding,
                    "rank %d %s line %" PRIu64
                    " earlier in time (%s), but no chain of messages leads from there to rank %d",
                    rank, demand->must, note->line, event_text(mark->event, event),
                    note->event.rank);
    if (mark->there)
        finding_show(finding, mark->event);
}

/* As far as the rank of the note knows. A helper has no part. */
static bool has_done_part(const struct lines *lines, const struct causal_note *note, int rank,
                          bool saved)
{
    const struct known *known = &note->known[rank];
    return lines->of[rank].helper || (saved ? known->saved : known->checkpoint) >= note->line;
}

static void demand_all(struct judging *judging, const struct lines *lines,
                       const struct causal *causal, const struct causal_note *note,
                       const struct demand *demand)
{
    bool saved = demand->claim == CLAIM_C_COMMIT;
    struct finding *finding = NULL;
    bool certain = false, found = false;
    char event[EVENT_TEXT_BYTES];
    for (int rank = 0; rank < lines->ranks; rank++) {
        if (!has_done_part(lines, note, rank, saved))
            certain |= is_certain(judging, causal, note, mark_of(lines, rank, note->line, saved));
    }
    for (int rank = 0; rank < lines->ranks; rank++) {
        if (has_done_part(lines, note, rank, saved))
            continue;
        if (!found) {
            finding =
                judging_find(judging, demand->claim, certain ? VERDICT_VIOLATION : VERDICT_UNKNOWN);
            finding_say(finding, "rank %d %s line %" PRIu64 ": %s", note->event.rank, demand->did,
                        note->line, event_text(note->event, event));
            finding_show(finding, note->event);
            finding_decide(finding, note->event);
        }
        found = true;
        say_missing(finding, demand, note, rank, mark_of(lines, rank, note->line, saved));
    }
    if (found && !certain)
        finding_say(finding, "not all messages of the wire could be matched, so that a chain may "
                             "have gone unseen");
}

static void judge_stop(struct judging *judging, const struct lines *lines,
                       const struct causal *causal, const struct causal_note *note,
                       enum claim_id claim)
{
    const struct demand demand = {claim, "stopped logging for", "took its checkpoint of",
                                  "never took its checkpoint of"};
    if (!was_taken(lines, note->line))
        return; /* of an earlier incarnation: all of that lies before */
    judging_saw(judging, claim, 1);
    demand_all(judging, lines, causal, note, &demand);
}

void c_judge_stops(struct judging *judging, const struct lines *lines, const struct causal *causal,
                   enum claim_id claim)
{
    for (size_t i = 0; i < causal->note_count; i++)
        if (causal->note[i].kind == NOTE_STOP_LOG)
            judge_stop(judging, lines, causal, &causal->note[i], claim);
}

/* --- commit -------------------------------------------------------------------------------- */

/* A line that this incarnation did not take was saved by the one that did, or not at all. */
static void judge_old_commit(struct judging *judging, int incarnation,
                             const struct causal_note *note)
{
    char event[EVENT_TEXT_BYTES];
    for (int rank = 0; rank < judging->traces->ranks; rank++) {
        bool saved = trace_set_is_helper(judging->traces, rank);
        uint64_t index;
        for (int i = incarnation; i >= 0 && !saved; i--) {
            const struct trace *trace = trace_set_find(judging->traces, rank, i);
            saved = trace != NULL && note_find(trace, NOTE_SAVED, note->line, UINT64_MAX, &index);
        }
        if (saved)
            continue;
        struct finding *finding = judging_find(judging, CLAIM_C_COMMIT, VERDICT_VIOLATION);
        finding_say(finding, "rank %d committed line %" PRIu64 ": %s", note->event.rank, note->line,
                    event_text(note->event, event));
        finding_say(finding, "rank %d never saved its part of line %" PRIu64, rank, note->line);
        finding_show(finding, note->event);
        return;
    }
}

/* The causal half. What a commit relies on must also be durable by then: that half belongs here,
 * once the trace says what was written, synced and renamed. */
static void judge_commit(struct judging *judging, const struct lines *lines,
                         const struct causal *causal, const struct causal_note *note)
{
    static const struct demand demand = {CLAIM_C_COMMIT, "committed", "saved its part of",
                                         "never saved its part of"};
    judging_saw(judging, CLAIM_C_COMMIT, 1);
    if (was_taken(lines, note->line))
        demand_all(judging, lines, causal, note, &demand);
    else
        judge_old_commit(judging, lines->incarnation, note);
}

/* --- initiate ------------------------------------------------------------------------------ */

/* The line begun last before `note`, by any rank; NULL: none in this incarnation. */
static const struct causal_note *begun_before(const struct causal *causal,
                                              const struct causal_note *note)
{
    const struct causal_note *newest = NULL;
    for (size_t i = 0; i < causal->note_count; i++) {
        const struct causal_note *other = &causal->note[i];
        bool before = other->ticks < note->ticks ||
                      (other->ticks == note->ticks && other->event.rank < note->event.rank);
        if (other->kind == NOTE_INITIATED && other != note && before &&
            (newest == NULL || other->ticks >= newest->ticks))
            newest = other;
    }
    return newest;
}

static const struct causal_note *commit_of(const struct causal *causal, uint64_t line)
{
    for (size_t i = 0; i < causal->note_count; i++)
        if (causal->note[i].kind == NOTE_COMMIT && causal->note[i].line == line)
            return &causal->note[i];
    return NULL;
}

static bool knows_commit(const struct lines *lines, const struct causal_note *note, uint64_t line)
{
    for (int rank = 0; rank < lines->ranks; rank++)
        if (note->known[rank].commit >= line)
            return true;
    return false;
}

static void report_not_committed(struct judging *judging, const struct causal *causal,
                                 const struct causal_note *note, const struct causal_note *before)
{
    char event[EVENT_TEXT_BYTES];
    const struct causal_note *commit = commit_of(causal, before->line);
    bool certain =
        !causal->uncertain || commit == NULL || commit->ticks > note->ticks + slack_of(judging);
    struct finding *finding =
        judging_find(judging, CLAIM_C_INITIATE, certain ? VERDICT_VIOLATION : VERDICT_UNKNOWN);
    finding_say(finding, "rank %d began line %" PRIu64 ": %s", before->event.rank, before->line,
                event_text(before->event, event));
    finding_say(finding, "rank %d began line %" PRIu64 ": %s", note->event.rank, note->line,
                event_text(note->event, event));
    finding_show(finding, before->event);
    finding_show(finding, note->event);
    if (commit == NULL) {
        finding_say(finding, "line %" PRIu64 " was never committed in this incarnation",
                    before->line);
        return;
    }
    if (commit->ticks > note->ticks)
        finding_say(finding, "rank %d committed line %" PRIu64 " only later: %s",
                    commit->event.rank, before->line, event_text(commit->event, event));
    else
        finding_say(finding,
                    "rank %d committed line %" PRIu64
                    " earlier in time (%s), but no chain of messages leads from there to rank %d",
                    commit->event.rank, before->line, event_text(commit->event, event),
                    note->event.rank);
    finding_show(finding, commit->event);
}

static void report_not_grown(struct judging *judging, const struct causal_note *note, uint64_t line,
                             struct event_ref by, const char *how)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(judging, CLAIM_C_INITIATE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s line %" PRIu64 ": %s", by.rank, how, line,
                event_text(by, event));
    finding_say(finding, "rank %d then began line %" PRIu64 ", which is not newer: %s",
                note->event.rank, note->line, event_text(note->event, event));
    finding_show(finding, by);
    finding_show(finding, note->event);
}

static void judge_initiate(struct judging *judging, const struct lines *lines,
                           const struct causal *causal, const struct causal_note *note)
{
    const struct causal_note *before = begun_before(causal, note);
    const struct rank_lines *own = &lines->of[note->event.rank];
    if (before == NULL && own->base == 0)
        return;
    judging_saw(judging, CLAIM_C_INITIATE, 1);
    if (before != NULL && before->line >= note->line)
        report_not_grown(judging, note, before->line, before->event, "began");
    else if (own->base >= note->line)
        report_not_grown(judging, note, own->base, own->restored.event, "was restored to");
    else if (before != NULL && !knows_commit(lines, note, before->line))
        report_not_committed(judging, causal, note, before);
}

void c_judge_lines(struct judging *judging, const struct lines *lines, const struct causal *causal)
{
    c_judge_stops(judging, lines, causal, CLAIM_C_1_1);
    for (size_t i = 0; i < causal->note_count; i++) {
        const struct causal_note *note = &causal->note[i];
        if (note->kind == NOTE_COMMIT)
            judge_commit(judging, lines, causal, note);
        else if (note->kind == NOTE_INITIATED)
            judge_initiate(judging, lines, causal, note);
    }
}
