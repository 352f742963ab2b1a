/* Family T: transactions, by what processes tell of lines with the same numbers. Each process ends
 * a transaction with `commit` or `given-up`, may end it again after that, and goes back with
 * `restored`. All notes are looked at in the order of time, and how each line was ended by each
 * process of an incarnation. What the states are worth is left to H.result, and messages between
 * what was undone and what was done again to H.orphan and H.loss. */
#include "oracles/judging.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdlib.h>

struct ending_note {
    uint64_t ticks;
    const struct trace *trace;
    uint64_t index;
    unsigned kind;
    uint64_t line;
};

struct transactions {
    struct judging *judging;
    size_t count;
    struct ending_note *note; /* by time */
    struct ending_note *ends; /* by incarnation, line, process and time; how many: */
    size_t ends_count;
};

static bool is_end(unsigned kind)
{
    return kind == NOTE_COMMIT || kind == NOTE_GIVEN_UP;
}

static bool is_about_lines(unsigned kind)
{
    return is_end(kind) || kind == NOTE_CHECKPOINT || kind == NOTE_SAVED || kind == NOTE_RESTORED;
}

static int order(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

static int by_time(const void *left, const void *right)
{
    const struct ending_note *a = left, *b = right;
    int times = a->trace->incarnation != b->trace->incarnation
                    ? order((uint64_t)a->trace->incarnation, (uint64_t)b->trace->incarnation)
                    : order(a->ticks, b->ticks);
    return times != 0             ? times
           : a->trace != b->trace ? order((uint64_t)a->trace->rank, (uint64_t)b->trace->rank)
                                  : order(a->index, b->index);
}

static int by_end(const void *left, const void *right)
{
    const struct ending_note *a = left, *b = right;
    int lines = a->trace->incarnation != b->trace->incarnation
                    ? order((uint64_t)a->trace->incarnation, (uint64_t)b->trace->incarnation)
                    : order(a->line, b->line);
    return lines != 0             ? lines
           : a->trace != b->trace ? order((uint64_t)a->trace->rank, (uint64_t)b->trace->rank)
                                  : order(a->index, b->index);
}

static void read_notes(struct transactions *all)
{
    const struct trace_set *traces = all->judging->traces;
    size_t room = 0;
    for (size_t t = 0; t < traces->count; t++) {
        const struct trace *trace = &traces->trace[t];
        for (uint64_t i = 0; i < trace->count; i++) {
            const struct record *record = &trace->record[i];
            if (record->kind != RECORD_NOTE || !is_about_lines((unsigned)record->tag))
                continue;
            all->note = memory_room(all->note, all->count, &room, sizeof *all->note);
            all->note[all->count++] =
                (struct ending_note){record->enter, trace, i, (unsigned)record->tag, record->bytes};
        }
    }
    all->ends = memory_new(all->count, sizeof *all->ends);
    for (size_t i = 0; i < all->count; i++)
        if (is_end(all->note[i].kind))
            all->ends[all->ends_count++] = all->note[i];
    if (all->count > 0) {
        qsort(all->note, all->count, sizeof *all->note, by_time);
        qsort(all->ends, all->ends_count, sizeof *all->ends, by_end);
    }
}

static bool was_killed(const struct trace *trace)
{
    return trace->end == NULL || trace->end->tag != 0;
}

/* "process 2 commits transaction 3: r2#0:e40", and the same event for the witness. */
static void say(struct finding *finding, const struct ending_note *note, const char *what)
{
    char event[EVENT_TEXT_BYTES];
    struct event_ref ref = event_of(note->trace, note->index);
    finding_say(finding, "process %d %s transaction %" PRIu64 ": %s", note->trace->rank, what,
                note->line, event_text(ref, event));
    finding_show(finding, ref);
}

static const char *ending(const struct ending_note *note)
{
    return note->kind == NOTE_COMMIT ? "commits" : "undoes";
}

/* --- T.agree ---------------------------------------------------------------------------------- */

/* How one process has ended a line, time after time. */
struct endings {
    const struct ending_note *first;
    size_t count;
};

static struct endings endings_at(const struct transactions *all, size_t at, size_t end)
{
    struct endings endings = {&all->ends[at], 0};
    while (at + endings.count < end && all->ends[at + endings.count].trace == endings.first->trace)
        endings.count++;
    return endings;
}

static const struct ending_note *last_of(struct endings endings)
{
    return endings.first + endings.count - 1;
}

static void accuse_apart(struct transactions *all, const struct ending_note *one,
                         const struct ending_note *other)
{
    struct finding *finding = judging_find(all->judging, CLAIM_T_AGREE, VERDICT_VIOLATION);
    say(finding, one, ending(one));
    say(finding, other, ending(other));
}

/* It had begun when somebody first ended the line: who came later took no part in that. */
static bool was_there(struct endings of, uint64_t ticks)
{
    return of.first->trace->count > 0 && of.first->trace->record[0].enter <= ticks;
}

/* The k-th end is the same for all that were there, and so is the last one of who lives. */
static void compare(struct transactions *all, struct endings one, struct endings other,
                    uint64_t first_ticks)
{
    if (was_there(one, first_ticks) && was_there(other, first_ticks)) {
        for (size_t k = 0; k < one.count && k < other.count; k++) {
            if (one.first[k].kind != other.first[k].kind) {
                accuse_apart(all, &one.first[k], &other.first[k]);
                return;
            }
        }
    }
    const struct ending_note *last = last_of(one), *others = last_of(other);
    bool live = !was_killed(last->trace) && !was_killed(others->trace);
    if (live && last->kind != others->kind && all->judging->facts->end == RUN_FINISHED)
        accuse_apart(all, last, others);
}

static void judge_line(struct transactions *all, size_t from, size_t end)
{
    uint64_t first_ticks = UINT64_MAX;
    for (size_t i = from; i < end; i++)
        first_ticks = all->ends[i].ticks < first_ticks ? all->ends[i].ticks : first_ticks;
    struct endings longest = endings_at(all, from, end);
    size_t processes = 0;
    for (size_t at = from; at < end; processes++) {
        struct endings endings = endings_at(all, at, end);
        if (endings.count > longest.count)
            longest = endings;
        at += endings.count;
    }
    if (processes > 1)
        judging_saw(all->judging, CLAIM_T_AGREE, 1);
    for (size_t at = from; at < end;) {
        struct endings endings = endings_at(all, at, end);
        if (endings.first->trace != longest.first->trace)
            compare(all, longest, endings, first_ticks);
        at += endings.count;
    }
}

static void judge_agreement(struct transactions *all)
{
    for (size_t from = 0, end; from < all->ends_count; from = end) {
        const struct ending_note *first = &all->ends[from];
        for (end = from; end < all->ends_count && all->ends[end].line == first->line &&
                         all->ends[end].trace->incarnation == first->trace->incarnation;)
            end++;
        judge_line(all, from, end);
    }
}

/* --- T.undo ----------------------------------------------------------------------------------- */

/* What the process tells of lines next; NULL: nothing. */
static const struct ending_note *next_of(const struct transactions *all, size_t at)
{
    for (size_t i = at + 1; i < all->count; i++)
        if (all->note[i].trace == all->note[at].trace)
            return &all->note[i];
    return NULL;
}

static const struct ending_note *find_commit(const struct transactions *all, size_t before,
                                             uint64_t line)
{
    for (size_t i = 0; i < before; i++)
        if (all->note[i].kind == NOTE_COMMIT && all->note[i].line == line)
            return &all->note[i];
    return NULL;
}

static void judge_undone(struct transactions *all, size_t at)
{
    const struct ending_note *note = &all->note[at], *next = next_of(all, at);
    judging_saw(all->judging, CLAIM_T_UNDO, 1);
    bool stays = next != NULL && next->kind != NOTE_RESTORED;
    bool ends =
        next == NULL && !was_killed(note->trace) && all->judging->facts->end == RUN_FINISHED;
    if (!stays && !ends)
        return;
    struct finding *finding = judging_find(all->judging, CLAIM_T_UNDO, VERDICT_VIOLATION);
    say(finding, note, "undoes");
    if (stays)
        say(finding, next, "does not go back before it begins or ends");
    else
        finding_say(finding, "and comes to its end without having gone back");
}

/* All who committed the line may have died before they told so, and the job was started again; but
 * not if it was given up, and not saved once more. */
static bool may_lack_note(const struct transactions *all, size_t at)
{
    const struct ending_note *note = &all->note[at];
    bool may_be = note->trace->incarnation > 0;
    for (size_t i = 0; i < at; i++)
        if (all->note[i].line == note->line && all->note[i].kind == NOTE_GIVEN_UP)
            may_be = false;
        else if (all->note[i].line == note->line && all->note[i].kind == NOTE_SAVED)
            may_be = note->trace->incarnation > 0;
    return may_be;
}

static void judge_source(struct transactions *all, size_t at)
{
    const struct ending_note *note = &all->note[at];
    if (note->line == 0 || find_commit(all, at, note->line) != NULL || may_lack_note(all, at))
        return;
    struct finding *finding = judging_find(all->judging, CLAIM_T_UNDO, VERDICT_VIOLATION);
    say(finding, note, "goes back to the end of");
    finding_say(finding, "nobody has committed it by then");
}

/* --- T.durable -------------------------------------------------------------------------------- */

/* The newest that was committed before; NULL: none. */
static const struct ending_note *newest_before(const struct transactions *all, size_t at)
{
    const struct ending_note *newest = NULL;
    for (size_t i = 0; i < at; i++)
        if (all->note[i].kind == NOTE_COMMIT &&
            (newest == NULL || all->note[i].line > newest->line))
            newest = &all->note[i];
    return newest;
}

static void judge_kept(struct transactions *all, size_t at)
{
    const struct ending_note *note = &all->note[at], *newest = newest_before(all, at);
    if (newest == NULL)
        return;
    judging_saw(all->judging, CLAIM_T_DURABLE, 1);
    if (note->line >= newest->line)
        return;
    struct finding *finding = judging_find(all->judging, CLAIM_T_DURABLE, VERDICT_VIOLATION);
    say(finding, newest, "commits");
    say(finding, note, "goes back to the end of");
}

/* A process of a job that was started again notes the end of a transaction, and has not gone
 * back to what was committed before. */
static void judge_begun(struct transactions *all, size_t at)
{
    const struct ending_note *note = &all->note[at], *newest = newest_before(all, at);
    if (newest == NULL || newest->trace->incarnation == note->trace->incarnation)
        return;
    for (size_t i = 0; i < at; i++)
        if (all->note[i].trace == note->trace)
            return;
    judging_saw(all->judging, CLAIM_T_DURABLE, 1);
    struct finding *finding = judging_find(all->judging, CLAIM_T_DURABLE, VERDICT_VIOLATION);
    say(finding, newest, "commits");
    say(finding, note, "has begun anew, and comes to the end of");
}

/* From where on it has not been undone any more. */
static size_t last_try(const struct transactions *all, size_t at)
{
    for (size_t i = at; i > 0; i--)
        if (all->note[i - 1].kind == NOTE_GIVEN_UP && all->note[i - 1].line == all->note[at].line)
            return i;
    return 0;
}

/* Whoever had come to its end by then had saved it. */
static void judge_saved(struct transactions *all, size_t at)
{
    const struct ending_note *commit = &all->note[at];
    if (find_commit(all, at, commit->line) != NULL)
        return;
    for (size_t i = last_try(all, at); i < at; i++) {
        const struct ending_note *came = &all->note[i];
        if (came->kind != NOTE_CHECKPOINT || came->line != commit->line ||
            came->trace->incarnation != commit->trace->incarnation)
            continue;
        const struct ending_note *saved = next_of(all, i);
        if (saved != NULL && saved->kind == NOTE_SAVED && saved < commit)
            continue;
        struct finding *finding = judging_find(all->judging, CLAIM_T_DURABLE, VERDICT_VIOLATION);
        say(finding, came, "has come to the end of");
        say(finding, commit, "commits, before that one has saved it,");
        return;
    }
}

/* ---------------------------------------------------------------------------------------------- */

static void judge_transactions(struct judging *judging)
{
    struct transactions all = {.judging = judging};
    if (!judging_asked(judging, "T."))
        return;
    read_notes(&all);
    judge_agreement(&all);
    for (size_t i = 0; i < all.count; i++) {
        if (all.note[i].kind == NOTE_GIVEN_UP)
            judge_undone(&all, i);
        else if (all.note[i].kind == NOTE_COMMIT)
            judge_saved(&all, i);
        else if (all.note[i].kind == NOTE_CHECKPOINT)
            judge_begun(&all, i);
        else if (all.note[i].kind == NOTE_RESTORED) {
            judge_source(&all, i);
            judge_kept(&all, i);
        }
    }
    free(all.note);
    free(all.ends);
}

const struct oracle oracle_transactions = {.judge = judge_transactions, .needs_sound_traces = true};
