/* C.restore: which line a restart takes. A commit may have become durable without its note, when
 * the rank died in between; so a line counts as committed, too, if some rank could know that every
 * rank had saved its part.
 *
 *     rank 0:  saved 2   <- "saved" from rank 1   writes the commit of line 2   killed, no note
 *     rank 1:  saved 2   sends "saved" to rank 0
 *
 * The newest commit note is of line 1, but a restart from line 2 is right as well. It would be
 * wrong if rank 1 had not sent its message: nobody could have known that line 2 was whole. causal.c
 * finds what each rank could know at the end of an incarnation; c_possible_commit derives the
 * newest such line from it.
 *
 * Judged in this order: all ranks restored the same line (all_the_same); that line is the newest
 * committed one, or a newer one that may be committed (judge_line). If no rank restored anything,
 * the job started from nothing, which is wrong if there was a commit; but only a rank that ran to
 * its end, or began to make a line not above the committed one, shows that: another may have been
 * cut off before it restored (fresh_start_of). */
#include "oracles/c3/c_family.h"

#include <inttypes.h>
#include <stdio.h>

/* The newest commit before an incarnation. */
struct newest_commit {
    bool there;
    uint64_t line;
    uint64_t ticks;
    struct event_ref event;
};

static void look_for_commit(const struct trace *trace, struct newest_commit *commit)
{
    uint64_t index;
    if (!note_find(trace, NOTE_COMMIT, LINE_ANY, UINT64_MAX, &index))
        return;
    const struct record *note = &trace->record[index];
    if (commit->there && note->enter < commit->ticks)
        return;
    *commit = (struct newest_commit){true, note->bytes, note->enter, event_of(trace, index)};
}

static struct newest_commit commit_before(const struct trace_set *traces, int incarnation)
{
    struct newest_commit commit = {0};
    for (int i = incarnation - 1; i >= 0 && !commit.there; i--)
        for (size_t k = 0; k < traces->count; k++)
            if (traces->trace[k].incarnation == i)
                look_for_commit(&traces->trace[k], &commit);
    return commit;
}

static bool any_commit(const struct trace_set *traces)
{
    return commit_before(traces, traces->incarnations).there;
}

uint64_t c_possible_commit(const struct lines *lines, const struct causal *causal)
{
    uint64_t possible = 0;
    for (int knower = 0; knower < lines->ranks; knower++) {
        const struct known *known = causal->final[knower];
        uint64_t least = UINT64_MAX;
        for (int rank = 0; rank < lines->ranks; rank++) {
            const struct known *of = causal->uncertain ? causal->final[rank] : known;
            uint64_t saved = of == NULL ? 0 : of[rank].saved;
            if (!lines->of[rank].helper)
                least = saved < least ? saved : least;
        }
        possible = least != UINT64_MAX && least > possible ? least : possible;
    }
    return possible;
}

static bool is_closed(const struct trace *trace)
{
    return atomic_load_explicit(&trace->header->closed, memory_order_acquire) != 0;
}

/* A rank that noted no `restored` started from nothing: it came to its end, or ... */
struct fresh_start {
    bool there;
    bool noted;             /* ... it began to make a line that is not above the one to restore: */
    struct event_ref event; /* its first note that says so */
};

static struct fresh_start fresh_start_of(const struct rank_lines *rank, uint64_t line)
{
    struct fresh_start fresh = {0};
    if (rank->trace == NULL || rank->helper || rank->restored.there)
        return fresh;
    fresh.there = is_closed(rank->trace);
    for (uint64_t at = rank->trace->count; note_before(rank->trace, at, &at);) {
        const struct record *note = &rank->trace->record[at];
        if ((note->tag == NOTE_CHECKPOINT || note->tag == NOTE_INITIATED) && note->bytes <= line)
            fresh = (struct fresh_start){true, true, event_of(rank->trace, at)};
    }
    return fresh;
}

/* Says the rest of a sentence that begins with "rank 1 ...". */
static void say_fresh(struct finding *finding, int rank, const char *what,
                      const struct fresh_start *fresh, const struct rank_lines *of)
{
    char event[EVENT_TEXT_BYTES];
    if (!fresh->noted) {
        finding_say(finding, "rank %d %s and ran to its end", rank, what);
        return;
    }
    finding_say(finding, "rank %d %s and began to make line %" PRIu64 ": %s", rank, what,
                of->trace->record[fresh->event.index].bytes, event_text(fresh->event, event));
    finding_show(finding, fresh->event);
}

static void report_different(struct judging *judging, int a, const struct rank_lines *one, int b,
                             const struct rank_lines *other)
{
    char event[EVENT_TEXT_BYTES];
    struct fresh_start fresh = fresh_start_of(other, one->base);
    struct finding *finding = judging_find(judging, CLAIM_C_RESTORE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d was restored to line %" PRIu64 ": %s", a, one->base,
                event_text(one->restored.event, event));
    finding_show(finding, one->restored.event);
    if (other->restored.there) {
        finding_say(finding, "rank %d was restored to line %" PRIu64 " in the same restart: %s", b,
                    other->base, event_text(other->restored.event, event));
        finding_show(finding, other->restored.event);
    } else {
        say_fresh(finding, b, "was restored to no line", &fresh, other);
    }
    finding_say(finding, "so their states belong to different lines");
}

/* False if two ranks differ; it is told. */
static bool all_the_same(struct judging *judging, const struct lines *lines, int *first)
{
    *first = -1;
    for (int rank = 0; rank < lines->ranks && *first < 0; rank++)
        if (lines->of[rank].restored.there)
            *first = rank;
    for (int rank = 0; rank < lines->ranks && *first >= 0; rank++) {
        const struct rank_lines *one = &lines->of[*first];
        const struct rank_lines *other = &lines->of[rank];
        if ((other->restored.there && other->base != one->base) ||
            fresh_start_of(other, one->base).there) {
            report_different(judging, *first, one, rank, other);
            return false;
        }
    }
    return true;
}

static void show_restored(struct finding *finding, const struct lines *lines, int first)
{
    char event[EVENT_TEXT_BYTES];
    const struct rank_lines *rank = &lines->of[first];
    finding_say(finding, "rank %d was restored to line %" PRIu64 ": %s", first, rank->base,
                event_text(rank->restored.event, event));
    finding_show(finding, rank->restored.event);
}

static void say_commit(struct finding *finding, const struct newest_commit *commit)
{
    char event[EVENT_TEXT_BYTES];
    if (!commit->there) {
        finding_say(finding, "no line had been committed before");
        return;
    }
    finding_say(finding, "the newest committed line before it is line %" PRIu64 ": %s",
                commit->line, event_text(commit->event, event));
    finding_show(finding, commit->event);
}

/* Who had not saved its part of the line, in the newest incarnation that took it. */
static void say_unsaved(struct finding *finding, const struct judging *judging, int below,
                        uint64_t line)
{
    uint64_t index;
    for (int rank = 0; rank < judging->traces->ranks; rank++) {
        bool saved = trace_set_is_helper(judging->traces, rank);
        for (int i = below - 1; i >= 0 && !saved; i--) {
            const struct trace *trace = trace_set_find(judging->traces, rank, i);
            saved = trace != NULL && note_find(trace, NOTE_SAVED, line, UINT64_MAX, &index);
        }
        if (saved)
            continue;
        finding_say(finding, "rank %d had not even saved its part of line %" PRIu64, rank, line);
        return;
    }
    finding_say(finding,
                "when the job ended no rank could know that every rank had saved its part of "
                "line %" PRIu64 ", so nobody can have committed it",
                line);
}

static bool may_be_committed(const struct newest_commit *commit, const uint64_t *possible,
                             int incarnation, uint64_t line)
{
    for (int i = commit->there ? commit->event.incarnation : 0; i < incarnation; i++)
        if (possible[i] >= line && line > (commit->there ? commit->line : 0))
            return true;
    return false;
}

static void judge_line(struct judging *judging, const struct lines *lines, int first,
                       const struct newest_commit *commit, const uint64_t *possible)
{
    uint64_t line = lines->of[first].base;
    struct finding *finding;
    if ((commit->there && line == commit->line) ||
        may_be_committed(commit, possible, lines->incarnation, line))
        return;
    if (!any_commit(judging->traces)) {
        finding = judging_find(judging, CLAIM_C_RESTORE, VERDICT_UNKNOWN);
        show_restored(finding, lines, first);
        finding_say(finding, "the protocol told of no commit in the whole run");
        return;
    }
    finding = judging_find(judging, CLAIM_C_RESTORE, VERDICT_VIOLATION);
    show_restored(finding, lines, first);
    say_commit(finding, commit);
    if (commit->there && line < commit->line)
        finding_say(finding, "so an older line was taken");
    else
        say_unsaved(finding, judging, lines->incarnation, line);
}

static void judge_fresh_start(struct judging *judging, const struct lines *lines,
                              const struct newest_commit *commit)
{
    char what[64];
    struct fresh_start fresh = {0};
    int rank = -1;
    while (commit->there && !fresh.there && ++rank < lines->ranks)
        fresh = fresh_start_of(&lines->of[rank], commit->line);
    if (!fresh.there)
        return; /* cut off before it was restored, or nothing to be restored */
    judging_saw(judging, CLAIM_C_RESTORE, 1);
    struct finding *finding = judging_find(judging, CLAIM_C_RESTORE, VERDICT_VIOLATION);
    say_commit(finding, commit);
    snprintf(what, sizeof what, "started again from nothing in incarnation %d", lines->incarnation);
    say_fresh(finding, rank, what, &fresh, &lines->of[rank]);
    finding_decide(finding, event_of(lines->of[rank].trace, 0));
}

void c_judge_restore(struct judging *judging, const struct lines *lines, const uint64_t *possible)
{
    struct newest_commit commit = commit_before(judging->traces, lines->incarnation);
    int first;
    bool same = all_the_same(judging, lines, &first);
    if (first < 0) {
        judge_fresh_start(judging, lines, &commit);
        return;
    }
    judging_saw(judging, CLAIM_C_RESTORE, 1);
    if (same)
        judge_line(judging, lines, first, &commit, possible);
}
