/* K.save, looked at again. */
#include "verify/shown.h"

/* By a signal; one that leaves has a status of its own. */
static bool was_killed(const struct trace *trace)
{
    return trace->end != NULL && trace->end->tag != 0;
}

static bool has_note(const struct trace *trace, enum note_kind kind, uint64_t line)
{
    return at_first_note(trace, kind, line).record != NULL;
}

/* Some process of that incarnation was killed, and is heard of no more from `ticks` on. */
static bool died_by(const struct shown *shown, int incarnation, uint64_t ticks)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        bool heard = false;
        if (trace->incarnation != incarnation || !was_killed(trace))
            continue;
        for (struct at at = {.trace = trace}; at_next(&at);)
            heard |= record_is_event(at.record) && at.record->enter >= ticks;
        if (!heard)
            return true;
    }
    return false;
}

/* The process, and those that were the same rank before it, never took or restored the line. */
static bool lacks_line(const struct shown *shown, const struct trace *of, uint64_t line)
{
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *trace = &shown->traces->trace[t];
        if (trace->rank == of->rank && trace->incarnation <= of->incarnation &&
            (has_note(trace, NOTE_CHECKPOINT, line) || has_note(trace, NOTE_RESTORED, line)))
            return false;
    }
    return true;
}

/* The other process of the witness; the same if there is none. */
static const struct trace *other_than(const struct shown *shown, const struct trace *besides)
{
    for (size_t i = 0; i < shown->count; i++)
        if (shown->event[i].record != NULL && shown->event[i].trace != besides)
            return shown->event[i].trace;
    return besides;
}

/* The newest note of the process is of another line, or there is none. */
static bool newest_is_other(const struct trace *trace, enum note_kind kind, uint64_t line)
{
    uint64_t newest = 0;
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at_is_note(at, kind, 0))
            newest = at.record->bytes;
    return newest != line;
}

/* After the commit, and before that restart, no other line was committed. */
static bool is_newest_commit(const struct shown *shown, struct at commit, int incarnation)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COMMIT, 0) && at.trace->incarnation < incarnation &&
            at.record->bytes != commit.record->bytes &&
            (at.trace->incarnation > commit.trace->incarnation ||
             (at.trace->incarnation == commit.trace->incarnation &&
              at.record->enter > commit.record->enter)))
            return false;
    return commit.trace->incarnation < incarnation;
}

static bool nothing_committed(const struct shown *shown, int incarnation)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COMMIT, 0) && at.trace->incarnation < incarnation)
            return false;
    return true;
}

static bool shows_left(const struct shown *shown)
{
    bool killed = false, left = false;
    for (size_t i = 0; i < shown->count; i++) {
        const struct trace *trace = shown->event[i].trace;
        if (shown->event[i].record == NULL || trace->incarnation + 1 == shown->lives)
            return false;
        killed |= was_killed(trace);
        left |= !was_killed(trace) && !has_note(trace, NOTE_SAVED, 0) &&
                !has_note(trace, NOTE_GIVEN_UP, 0);
    }
    return killed && left;
}

static bool shows_saved(const struct shown *shown)
{
    struct at saved = shown_note(shown, NOTE_SAVED, 0);
    return saved.record != NULL &&
           (!died_by(shown, saved.trace->incarnation, saved.record->enter) ||
            lacks_line(shown, other_than(shown, saved.trace), saved.record->bytes));
}

static bool shows_restored(const struct shown *shown)
{
    struct at restored = shown->restored, commit = shown->commit;
    if (restored.record == NULL)
        return false;
    if (commit.record == NULL)
        return nothing_committed(shown, restored.trace->incarnation);
    return restored.record->bytes != commit.record->bytes &&
           is_newest_commit(shown, commit, restored.trace->incarnation);
}

static bool shows_not_committed(const struct shown *shown)
{
    struct at commit = shown->commit;
    if (commit.record == NULL)
        return false;
    const struct trace *other = other_than(shown, commit.trace);
    if (other->incarnation == commit.trace->incarnation)
        return !was_killed(other) && newest_is_other(other, NOTE_SAVED, commit.record->bytes);
    return shown->witness->finished && !has_note(other, NOTE_RESTORED, 0) &&
           is_newest_commit(shown, commit, other->incarnation);
}

/* The last that a process does may be any note: what the events are of is not asked first. */
bool shows_saved_wrongly(const struct shown *shown)
{
    return shows_saved(shown) || shows_restored(shown) || shows_not_committed(shown) ||
           shows_left(shown);
}
