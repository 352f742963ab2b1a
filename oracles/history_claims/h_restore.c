/* H.restore: where the job is started again after a commit, every rank is brought back to the line
 * that was committed last, and to no other. Judged of each incarnation that began after a commit,
 * by what its ranks tell and by how it ended: a rank was restored to another line (judge_restored),
 * or it was not restored at all although it came to its end, waits in a deadlock, or ended the job
 * by itself (judge_unrestored; that also where it told that it is restored, and its program did not
 * go on from there).
 *
 * A commit may be on stable storage without its note, when its rank died in between: so a line that
 * nobody told to be committed may be restored if every rank had saved its part of it. Left out are
 * runs in which ranks live on when others die, and incarnations after the plan has let storage
 * fail. A rank that was killed on its way to the line was not yet due, and nobody is after all had
 * come to MPI_Finalize and begin from nothing: a protocol may remove its lines by then. */
#include "oracles/judging.h"

#include "trace/calls.h"

#include <inttypes.h>

/* What an incarnation has to be brought back to. One thing is said of each. */
struct due {
    struct judging *judging;
    int incarnation;
    bool accused;
    const struct trace *trace; /* that told of the newest commit before; NULL: none */
    uint64_t index;
    uint64_t line;
    const struct life *restored; /* the first life of this incarnation that told its line */
    uint64_t restored_index;
};

/* What the incarnation told first of the commit of the line; others may tell of it later. */
static bool first_commit(const struct trace_set *traces, int incarnation, uint64_t line,
                         const struct trace **trace, uint64_t *index)
{
    *trace = NULL;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *of = &traces->trace[t];
        uint64_t at;
        if (of->incarnation != incarnation || !note_find(of, NOTE_COMMIT, line, of->count, &at) ||
            (*trace != NULL && of->record[at].enter >= (*trace)->record[*index].enter))
            continue;
        *trace = of;
        *index = at;
    }
    return *trace != NULL;
}

/* Of the lines that the traces end with, the one that was committed last. */
static bool newest_commit(const struct trace_set *traces, int incarnation,
                          const struct trace **trace, uint64_t *index)
{
    *trace = NULL;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *of = &traces->trace[t], *first;
        uint64_t at, first_at;
        if (of->incarnation != incarnation ||
            !note_find(of, NOTE_COMMIT, LINE_ANY, of->count, &at) ||
            (*trace != NULL && of->record[at].bytes == (*trace)->record[*index].bytes) ||
            !first_commit(traces, incarnation, of->record[at].bytes, &first, &first_at) ||
            (*trace != NULL && first->record[first_at].enter < (*trace)->record[*index].enter))
            continue;
        *trace = first;
        *index = first_at;
    }
    return *trace != NULL;
}

/* The newest commit before the incarnation; of `line` unless that is LINE_ANY. */
static bool commit_before(const struct trace_set *traces, int incarnation, uint64_t line,
                          const struct trace **trace, uint64_t *index)
{
    for (int i = incarnation - 1; i >= 0; i--)
        if (line == LINE_ANY ? newest_commit(traces, i, trace, index)
                             : first_commit(traces, i, line, trace, index))
            return true;
    return false;
}

/* The process, or one that was the rank before it, has saved its part of the line. */
static bool has_saved(const struct life *life, uint64_t line)
{
    uint64_t index;
    for (const struct life *of = life->before; of != NULL; of = of->before)
        if (note_find(of->trace, NOTE_SAVED, line, of->to, &index) && index >= of->from)
            return true;
    return false;
}

static struct finding *accuse(struct due *due, const struct life *life, uint64_t index,
                              const char *what)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref of = event_of(life->trace, index), commit = event_of(due->trace, due->index);
    struct finding *finding = judging_find(due->judging, CLAIM_H_RESTORE, VERDICT_VIOLATION);
    finding_say(finding, "the newest line committed before incarnation %d is line %" PRIu64 ": %s",
                due->incarnation, due->line, event_text(commit, event));
    finding_say(finding, "rank %d %s: %s", life->rank, what, event_text(of, event));
    finding_show(finding, commit);
    finding_show(finding, of);
    due->accused = true;
    return finding;
}

/* --- who was restored --------------------------------------------------------------------------
 */

static void judge_restored(struct due *due, const struct life *life, uint64_t index)
{
    uint64_t line = life->trace->record[index].bytes, at;
    const struct trace *trace;
    char what[64], event[EVENT_TEXT_BYTES];
    snprintf(what, sizeof what, "is restored to line %" PRIu64, line);
    if (due->restored == NULL) {
        due->restored = life;
        due->restored_index = index;
    } else if (due->restored->trace->record[due->restored_index].bytes != line) {
        struct event_ref other = event_of(due->restored->trace, due->restored_index);
        struct finding *finding = accuse(due, life, index, what);
        finding_say(finding, "rank %d is restored to another: %s", due->restored->rank,
                    event_text(other, event));
        finding_show(finding, other);
        return;
    }
    if (line == due->line)
        return;
    if (commit_before(due->judging->traces, due->incarnation, line, &trace, &at))
        finding_say(accuse(due, life, index, what), "so an older line was taken");
    else if (has_saved(life, due->line) && !has_saved(life, line))
        finding_say(accuse(due, life, index, what), "it had not even saved its part of that line");
}

/* --- who was not -------------------------------------------------------------------------------
 */

/* Ended the job, or itself, badly and by itself, before all others. */
static bool ended_it(const struct judging *judging, const struct life *life)
{
    for (size_t i = 0; i < judging->facts->rank_end_count; i++) {
        const struct rank_end *end = &judging->facts->rank_ends[i];
        if (end->first && end->incarnation == life->trace->incarnation &&
            end->rank == life->trace->rank)
            return true;
    }
    return false;
}

/* The program has gone on from where it was restored: the call in which that was told has returned,
 * or another one was made. */
static bool has_gone_on(const struct life *life, uint64_t restored)
{
    const struct trace *trace = life->trace;
    for (uint64_t at = life->to; at > life->from; at--) {
        const struct record *record = &trace->record[at - 1];
        if (record_is_of_app(record))
            return at > restored || atomic_load_explicit(&record->leave, memory_order_acquire) >
                                        trace->record[restored].enter;
    }
    return false;
}

/* Of a rank that was not restored, or (restored not NULL) has told that it was. */
static const char *why_due(const struct due *due, const struct life *life, const uint64_t *restored)
{
    const struct judging *judging = due->judging;
    if (restored == NULL && life_closed(life))
        return "came to its end and was not restored; the last of it";
    if (due->incarnation != judging->traces->incarnations - 1 ||
        evidence_kills_in(judging, due->incarnation))
        return NULL;
    if (judging->facts->end == RUN_FAILED && ended_it(judging, life) &&
        (restored == NULL || !has_gone_on(life, *restored)))
        return "ended the job before it went on from that line; the last of it";
    if (restored == NULL && judging->facts->end == RUN_DEADLOCK &&
        !evidence_keeps(judging, due->incarnation))
        return "waits for ever before it is restored; the last of it";
    return NULL;
}

static bool last_event(const struct life *life, uint64_t *index)
{
    for (*index = life->to; *index > life->from;)
        if (record_is_event(&life->trace->record[--*index]))
            return true;
    return false;
}

static void judge_unrestored(struct due *due, const struct life *life, const uint64_t *restored)
{
    uint64_t index;
    const char *what = why_due(due, life, restored);
    if (what != NULL && last_event(life, &index))
        finding_decide_at_end(accuse(due, life, index, what));
}

/* The first life that the rank has in the incarnation; those that it moves to later go back to what
 * was saved for that. */
static bool begins_with(const struct due *due, const struct life *life)
{
    return life->trace->incarnation == due->incarnation && !life->moved && !life->takes_over &&
           (life->before == NULL || life->before->trace->incarnation < due->incarnation);
}

/* Oldest first. */
static bool first_restored(const struct life *life, uint64_t *index)
{
    bool found = false;
    for (uint64_t at = life->to; note_find(life->trace, NOTE_RESTORED, LINE_ANY, at, &at);) {
        if (at < life->from)
            break;
        *index = at;
        found = true;
    }
    return found;
}

static bool anybody_restored(const struct due *due)
{
    const struct lives *lives = &due->judging->reading.lives;
    uint64_t index;
    for (size_t i = 0; i < lives->count; i++)
        if (lives->life[i].trace->incarnation == due->incarnation &&
            first_restored(&lives->life[i], &index))
            return true;
    return false;
}

/* The program of every rank of some incarnation since the commit has come to MPI_Finalize. */
static bool job_was_over(const struct due *due)
{
    const struct lives *lives = &due->judging->reading.lives;
    for (int i = due->trace->incarnation; i < due->incarnation; i++) {
        size_t ranks = 0, over = 0;
        for (size_t l = 0; l < lives->count; l++) {
            const struct life *life = &lives->life[l];
            if (life->trace->incarnation != i)
                continue;
            ranks++;
            over += life_is_over(life);
        }
        if (ranks > 0 && over == ranks)
            return true;
    }
    return false;
}

static void judge_incarnation(struct due *due)
{
    const struct lives *lives = &due->judging->reading.lives;
    if (job_was_over(due) && !anybody_restored(due))
        return;
    judging_saw(due->judging, CLAIM_H_RESTORE, 1);
    for (size_t i = 0; i < lives->count && !due->accused; i++) {
        const struct life *life = &lives->life[i];
        uint64_t index;
        if (!begins_with(due, life))
            continue;
        bool restored = first_restored(life, &index);
        if (restored)
            judge_restored(due, life, index);
        if (life->before != NULL && !due->accused)
            judge_unrestored(due, life, restored ? &index : NULL);
    }
}

static void judge_restore(struct judging *judging)
{
    if (!judging->asked[CLAIM_H_RESTORE] || judging->facts->survivors)
        return;
    for (int i = 1; i < judging->traces->incarnations && !evidence_disturbs_store(judging, i);
         i++) {
        struct due due = {.judging = judging, .incarnation = i};
        if (!commit_before(judging->traces, i, LINE_ANY, &due.trace, &due.index))
            continue;
        due.line = due.trace->record[due.index].bytes;
        judge_incarnation(&due);
    }
}

const struct oracle oracle_restore = {.judge = judge_restore, .needs_sound_traces = true};
