/* Family F, looked at again: what processes noted when the world was repaired. */
#include "verify/shown.h"

#include <string.h>

static int number_of(struct at note)
{
    return (int)note.record->bytes;
}

/* Notes of the process up to that one, or all. */
static int times(const struct trace *trace, uint64_t index)
{
    int count = 0;
    for (struct at at = {.trace = trace}; at_next(&at) && at.index <= index;)
        count += at_is_note(at, NOTE_REPAIRED, 0);
    return count;
}

/* The process is heard of at `ticks` or later. */
static bool is_heard(const struct trace *trace, uint64_t ticks)
{
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (record_is_event(at.record) && at.record->enter >= ticks)
            return true;
    return false;
}

/* When the process began the repair that the note ends. */
static uint64_t began(struct at note)
{
    uint64_t ticks = 0;
    for (struct at at = {.trace = note.trace}; at_next(&at) && at.index < note.index;)
        if (at.record->call == CALL_MPIX_Comm_shrink && at.record->level == LEVEL_WIRE &&
            at.record->kind == RECORD_CALL)
            ticks = at.record->enter;
    return ticks;
}

static bool is_of_mode(struct at note, const char *mode)
{
    char text[16];
    if (note.record == NULL)
        return false;
    trace_text(note.trace, note.index, text, sizeof text);
    return strcmp(text, mode) == 0;
}

static bool is_moved(const struct shown *shown, struct at note)
{
    return note.trace->rank < shown->traces->world && number_of(note) != note.trace->rank;
}

bool shows_number_lost(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_REPAIRED, 0);
    return is_of_mode(note, "blank") && is_moved(shown, note);
}

bool shows_renumbered_wrongly(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_REPAIRED, 0);
    int least = 0, most = 0;
    if (!is_of_mode(note, "shrink"))
        return false;
    int generation = times(note.trace, note.index);
    for (int process = 0; process < note.trace->rank; process++) {
        const struct trace *other = trace_set_find(shown->traces, process, note.trace->incarnation);
        if (other == NULL)
            continue;
        int noted = times(other, UINT64_MAX);
        least += noted >= generation;
        most += noted >= generation ||
                (noted == generation - 1 && has_died(other) && is_heard(other, began(note)));
    }
    return number_of(note) < least || number_of(note) > most;
}

/* The rank of a process by then: the newest that it has noted, or the one it began with; -1: none
 * yet. */
static int newest_number(const struct shown *shown, const struct trace *trace, uint64_t ticks)
{
    int number = trace->rank < shown->traces->world ? trace->rank : -1;
    for (struct at at = {.trace = trace}; at_next(&at);)
        if (at_is_note(at, NOTE_REPAIRED, 0) && at.record->enter <= ticks)
            number = number_of(at);
    return number;
}

bool shows_replaced_wrongly(const struct shown *shown)
{
    struct at note = shown_note(shown, NOTE_REPAIRED, 0);
    if (!is_of_mode(note, "replace"))
        return false;
    if (note.trace->rank < shown->traces->world)
        return is_moved(shown, note);
    for (size_t t = 0; t < shown->traces->count; t++) {
        const struct trace *other = &shown->traces->trace[t];
        if (other != note.trace && other->incarnation == note.trace->incarnation &&
            newest_number(shown, other, note.record->enter) == number_of(note) &&
            is_heard(other, note.record->enter + 1))
            return true;
    }
    return false;
}

static bool has_come_to_end(const struct shown *shown, struct at note)
{
    return note.trace->rank < shown->traces->world && !has_died(note.trace);
}

bool shows_other_state(const struct shown *shown)
{
    struct at a = shown_note(shown, NOTE_REPAIRED, 0), b = shown_note(shown, NOTE_REPAIRED, 1);
    char mode[16];
    if (a.record == NULL || b.record == NULL)
        return false;
    trace_text(a.trace, a.index, mode, sizeof mode);
    return !is_of_mode(b, mode) || (has_come_to_end(shown, a) && has_come_to_end(shown, b) &&
                                    times(a.trace, UINT64_MAX) != times(b.trace, UINT64_MAX));
}
