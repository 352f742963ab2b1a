/* See reading.h. */
#include "oracles/reading/reading.h"

#include "base/memory.h"

#include <stdlib.h>

void reading_begin(struct reading *reading, const struct trace_set *traces, bool finished)
{
    *reading = (struct reading){.traces = traces, .finished = finished};
    reading->of = memory_new((size_t)traces->incarnations, sizeof *reading->of);
    lives_read(traces, &reading->lives);
    uncounted_read(&reading->lives, &reading->uncounted);
}

void reading_end(struct reading *reading)
{
    for (int i = 0; i < reading->traces->incarnations; i++)
        reading_forget(reading, i);
    free(reading->of);
    uncounted_release(&reading->uncounted);
    lives_release(&reading->lives);
    *reading = (struct reading){0};
}

const struct histories *reading_histories(struct reading *reading, int incarnation)
{
    struct incarnation *of = &reading->of[incarnation];
    if (!of->has_histories)
        histories_effective(&reading->lives, incarnation, &of->histories);
    of->has_histories = true;
    return &of->histories;
}

const struct lines *reading_lines(struct reading *reading, int incarnation)
{
    struct incarnation *of = &reading->of[incarnation];
    if (!of->has_lines)
        lines_read(reading->traces, incarnation, &of->lines);
    of->has_lines = true;
    return &of->lines;
}

struct message_notes *reading_message_notes(struct reading *reading, int incarnation)
{
    struct incarnation *of = &reading->of[incarnation];
    if (!of->has_told)
        message_notes_read(reading->traces, incarnation, &of->notes);
    of->has_told = true;
    for (size_t i = 0; i < of->notes.count; i++)
        of->notes.note[i].taken = false;
    return &of->notes;
}

void reading_forget(struct reading *reading, int incarnation)
{
    struct incarnation *of = &reading->of[incarnation];
    if (of->has_histories)
        histories_release(&of->histories);
    if (of->has_lines)
        lines_release(&of->lines);
    message_notes_release(&of->notes);
    *of = (struct incarnation){0};
}
