/* K.save: checkpoint on failure. Nothing is saved before a rank has died; who lives then saves
 * before it leaves, all the same line, to which the dead rank had come too; and the job goes on
 * from the newest line that was committed. That messages do not cross that line, and that the state
 * of the dead rank is rebuilt rightly, is left to family H. Looks at notes, and at how processes
 * ended; a process is one rank. */
#include "oracles/judging.h"

#include <inttypes.h>

struct job {
    struct judging *judging;
    int incarnation;
    const struct trace *dead;   /* the first that was killed; NULL: nobody was */
    struct event_ref committed; /* newest of this incarnation, */
    uint64_t line;              /* ... and its line; 0: none */
    struct event_ref before;    /* the same of the incarnations before */
    uint64_t line_before;
};

static const struct trace *next_of(const struct job *job, size_t *at)
{
    const struct trace_set *traces = job->judging->traces;
    while (*at < traces->count) {
        const struct trace *trace = &traces->trace[(*at)++];
        if (trace->incarnation == job->incarnation)
            return trace;
    }
    return NULL;
}

static bool was_killed(const struct trace *trace)
{
    return trace->end != NULL && trace->end->tag != 0;
}

static bool is_note(const struct record *record, unsigned kind)
{
    return record->kind == RECORD_NOTE && (unsigned)record->tag == kind;
}

/* The newest that the process did itself; false: nothing. */
static bool last_event(const struct trace *trace, uint64_t *index)
{
    for (*index = trace->count; *index > 0;)
        if (record_is_event(&trace->record[--*index]))
            return true;
    return false;
}

static struct finding *accuse(const struct job *job, struct event_ref first, const char *what,
                              uint64_t line)
{
    char event[EVENT_TEXT_BYTES];
    struct finding *finding = judging_find(job->judging, CLAIM_K_SAVE, VERDICT_VIOLATION);
    finding_say(finding, "rank %d %s line %" PRIu64 ": %s", first.rank, what, line,
                event_text(first, event));
    finding_show(finding, first);
    return finding;
}

/* A process, by the last that it did. */
static void accuse_process(struct finding *finding, const struct trace *trace, const char *what)
{
    char event[EVENT_TEXT_BYTES];
    uint64_t index;
    if (last_event(trace, &index)) {
        finding_say(finding, "rank %d %s; the last of it: %s", trace->rank, what,
                    event_text(event_of(trace, index), event));
        finding_show(finding, event_of(trace, index));
    }
}

/* --- what is saved ---------------------------------------------------------------------------- */

static bool anybody_died_before(const struct job *job, uint64_t ticks)
{
    const struct trace *trace;
    uint64_t index;
    for (size_t t = 0; (trace = next_of(job, &t)) != NULL;)
        if (was_killed(trace) && (!last_event(trace, &index) || trace->record[index].enter < ticks))
            return true;
    return false;
}

/* It took it in this life, or in one before. */
static bool has_come_to(const struct job *job, int rank, uint64_t line)
{
    uint64_t index;
    for (int incarnation = 0; incarnation <= job->incarnation; incarnation++) {
        const struct trace *trace = trace_set_find(job->judging->traces, rank, incarnation);
        if (trace != NULL && (note_find(trace, NOTE_CHECKPOINT, line, trace->count, &index) ||
                              note_find(trace, NOTE_RESTORED, line, trace->count, &index)))
            return true;
    }
    return false;
}

static void judge_saved(const struct job *job, const struct trace *trace, uint64_t index)
{
    const struct record *note = &trace->record[index];
    const struct trace *other;
    if (!anybody_died_before(job, note->enter)) {
        finding_say(accuse(job, event_of(trace, index), "saves", note->bytes),
                    "nobody of its incarnation has died by then");
        return;
    }
    judging_saw(job->judging, CLAIM_K_SAVE, 1);
    for (size_t t = 0; (other = next_of(job, &t)) != NULL;)
        if (!has_come_to(job, other->rank, note->bytes))
            accuse_process(accuse(job, event_of(trace, index), "saves", note->bytes), other,
                           "never came to that line");
}

/* --- who leaves ------------------------------------------------------------------------------- */

/* The newest such note of the process, by line; false: there is none. */
static bool newest(const struct trace *trace, unsigned kind, uint64_t *line)
{
    uint64_t index;
    if (!note_find(trace, kind, LINE_ANY, trace->count, &index))
        return false;
    *line = trace->record[index].bytes;
    return true;
}

static void judge_left(const struct job *job, const struct trace *trace)
{
    uint64_t line;
    bool saved = newest(trace, NOTE_SAVED, &line);
    if (job->line != 0 && (!saved || line != job->line)) {
        accuse_process(accuse(job, job->committed, "commits", job->line), trace,
                       "lives, and has not saved that line");
    } else if (job->line == 0 && !saved && !newest(trace, NOTE_GIVEN_UP, &line)) {
        struct finding *finding = judging_find(job->judging, CLAIM_K_SAVE, VERDICT_VIOLATION);
        accuse_process(finding, job->dead, "dies");
        accuse_process(finding, trace, "leaves without having saved, and gives no reason");
    }
}

/* --- where the job goes on -------------------------------------------------------------------- */

static void judge_restored(const struct job *job, const struct trace *trace, uint64_t index)
{
    uint64_t line = trace->record[index].bytes;
    if (job->line_before == line)
        return;
    struct finding *finding = accuse(job, event_of(trace, index), "goes on from", line);
    char event[EVENT_TEXT_BYTES];
    if (job->line_before == 0) {
        finding_say(finding, "no line was committed before");
        return;
    }
    finding_say(finding, "line %" PRIu64 " is the newest that was committed before: %s",
                job->line_before, event_text(job->before, event));
    finding_show(finding, job->before);
}

/* The job has come to its end without going back to what was saved. */
static void judge_from_nothing(const struct job *job, const struct trace *trace)
{
    uint64_t line;
    if (job->line_before != 0 && !newest(trace, NOTE_RESTORED, &line))
        accuse_process(accuse(job, job->before, "commits", job->line_before), trace,
                       "begins from nothing after that");
}

/* --- one incarnation after another ------------------------------------------------------------ */

static void read_incarnation(struct job *job)
{
    const struct trace *trace;
    uint64_t index, ticks = 0;
    job->dead = NULL;
    job->line = 0;
    for (size_t t = 0; (trace = next_of(job, &t)) != NULL;) {
        if (was_killed(trace) && job->dead == NULL)
            job->dead = trace;
        if (!note_find(trace, NOTE_COMMIT, LINE_ANY, trace->count, &index) ||
            trace->record[index].enter < ticks)
            continue;
        ticks = trace->record[index].enter;
        job->committed = event_of(trace, index);
        job->line = trace->record[index].bytes;
    }
}

static void judge_incarnation(struct job *job, bool last)
{
    const struct trace *trace;
    read_incarnation(job);
    for (size_t t = 0; (trace = next_of(job, &t)) != NULL;) {
        for (uint64_t i = 0; i < trace->count; i++) {
            if (is_note(&trace->record[i], NOTE_SAVED))
                judge_saved(job, trace, i);
            else if (is_note(&trace->record[i], NOTE_RESTORED))
                judge_restored(job, trace, i);
        }
        if (!last && job->dead != NULL && !was_killed(trace))
            judge_left(job, trace);
        if (last && job->judging->facts->end == RUN_FINISHED)
            judge_from_nothing(job, trace);
    }
    if (job->line != 0) {
        job->line_before = job->line;
        job->before = job->committed;
    }
}

static void judge_on_failure(struct judging *judging)
{
    struct job job = {.judging = judging};
    if (!judging->asked[CLAIM_K_SAVE])
        return;
    for (; job.incarnation < judging->traces->incarnations; job.incarnation++)
        judge_incarnation(&job, job.incarnation + 1 == judging->traces->incarnations);
}

const struct oracle oracle_on_failure = {.judge = judge_on_failure, .needs_sound_traces = true};
