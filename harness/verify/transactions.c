/* Family T, looked at again. */
#include "verify/shown.h"

static bool was_killed(const struct trace *trace)
{
    return trace->end == NULL || trace->end->tag != 0;
}

static bool is_end(struct at at, uint64_t line)
{
    return at_is_note(at, NOTE_COMMIT, line) || at_is_note(at, NOTE_GIVEN_UP, line);
}

static bool is_about_lines(struct at at)
{
    return is_end(at, 0) || at_is_note(at, NOTE_CHECKPOINT, 0) || at_is_note(at, NOTE_SAVED, 0) ||
           at_is_note(at, NOTE_RESTORED, 0);
}

/* Ends of the same line in the trace, before the one at `end`, or after. */
static unsigned ends_beside(struct at end, bool after)
{
    unsigned count = 0;
    for (struct at at = {.trace = end.trace}; at_next(&at);)
        if (is_end(at, end.record->bytes))
            count += after ? at.index > end.index : at.index < end.index;
    return count;
}

/* Nobody has ended the line before the process began. */
static bool took_part(const struct shown *shown, struct at end)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == end.trace->incarnation && is_end(at, end.record->bytes) &&
            at.record->enter < end.trace->record[0].enter)
            return false;
    return true;
}

static bool are_apart(const struct shown *shown, struct at a, struct at b)
{
    if (!is_end(a, 0) || !is_end(b, a.record->bytes) || a.record->tag == b.record->tag ||
        a.trace == b.trace || a.trace->incarnation != b.trace->incarnation)
        return false;
    bool same_try = took_part(shown, a) && took_part(shown, b) &&
                    ends_beside(a, false) == ends_beside(b, false);
    bool both_last = ends_beside(a, true) == 0 && ends_beside(b, true) == 0;
    return same_try ||
           (both_last && shown->witness->finished && !was_killed(a.trace) && !was_killed(b.trace));
}

bool shows_ended_apart(const struct shown *shown)
{
    return any_two(shown, are_apart);
}

/* The next note of the process about lines; record NULL: none. */
static struct at next_of(struct at note)
{
    while (at_next(&note))
        if (is_about_lines(note))
            return note;
    return (struct at){0};
}

/* Somebody committed the line before the note. */
static bool was_committed(const struct shown *shown, struct at note)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, NOTE_COMMIT, note.record->bytes) &&
            (at.trace->incarnation < note.trace->incarnation ||
             (at.trace->incarnation == note.trace->incarnation &&
              at.record->enter <= note.record->enter)))
            return true;
    return false;
}

/* When the last such note of the line before the other one was written; 0: never. */
static uint64_t last_noted(const struct shown *shown, struct at note, enum note_kind kind)
{
    uint64_t last = 0;
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at_is_note(at, kind, note.record->bytes) && at.record->enter >= last &&
            (at.trace->incarnation < note.trace->incarnation ||
             (at.trace->incarnation == note.trace->incarnation &&
              at.record->enter <= note.record->enter)))
            last = at.record->enter;
    return last;
}

/* Nobody has committed the line by then; in a job that was started again they may have died before
 * they noted it, if it was not given up after it was last saved. */
static bool is_uncommitted(const struct shown *shown, struct at restored)
{
    if (restored.record == NULL || restored.record->bytes == 0 || was_committed(shown, restored))
        return false;
    uint64_t given_up = last_noted(shown, restored, NOTE_GIVEN_UP);
    return restored.trace->incarnation == 0 ||
           (given_up != 0 && given_up > last_noted(shown, restored, NOTE_SAVED));
}

static bool is_not_undone(const struct shown *shown, struct at undone)
{
    if (undone.record == NULL)
        return false;
    struct at next = next_of(undone);
    if (next.record != NULL)
        return !at_is_note(next, NOTE_RESTORED, 0);
    return shown->witness->finished && !was_killed(undone.trace);
}

bool shows_not_undone(const struct shown *shown)
{
    return is_not_undone(shown, shown_note(shown, NOTE_GIVEN_UP, 0)) ||
           is_uncommitted(shown, shown->restored);
}

static bool was_given_up(const struct shown *shown, struct at from, struct at to)
{
    for (struct at at = {0}; at_next_of_all(shown->traces, &at);)
        if (at.trace->incarnation == from.trace->incarnation &&
            at_is_note(at, NOTE_GIVEN_UP, from.record->bytes) &&
            at.record->enter >= from.record->enter && at.record->enter <= to.record->enter)
            return true;
    return false;
}

/* The process had come to the end of what was committed, and had not saved it by then. */
static bool is_unsaved(const struct shown *shown, struct at came, struct at commit)
{
    if (came.record == NULL || came.record->bytes != commit.record->bytes ||
        came.trace->incarnation != commit.trace->incarnation ||
        came.record->enter > commit.record->enter || was_given_up(shown, came, commit))
        return false;
    struct at saved = next_of(came);
    return saved.record == NULL || !at_is_note(saved, NOTE_SAVED, 0) ||
           saved.record->enter > commit.record->enter ||
           (saved.trace == commit.trace && saved.index > commit.index);
}

/* The job was started again, and the process has gone back to nothing. */
static bool has_begun_anew(struct at came, struct at commit)
{
    if (came.record == NULL || commit.trace->incarnation >= came.trace->incarnation)
        return false;
    for (struct at at = {.trace = came.trace}; at_next(&at) && at.index < came.index;)
        if (at_is_note(at, NOTE_RESTORED, 0))
            return false;
    return true;
}

bool shows_lost_again(const struct shown *shown)
{
    struct at restored = shown->restored, commit = shown->commit;
    if (commit.record == NULL)
        return false;
    if (is_unsaved(shown, shown->checkpoint, commit) || has_begun_anew(shown->checkpoint, commit))
        return true;
    return restored.record != NULL && restored.record->bytes < commit.record->bytes &&
           (commit.trace->incarnation < restored.trace->incarnation ||
            (commit.trace->incarnation == restored.trace->incarnation &&
             commit.record->enter <= restored.record->enter));
}
