/* See causal.h. A walk over the run (walk.h) in whose vector clocks only the notes about lines
 * count:
 *
 *     rank 0:  5: checkpoint 1    9: send --+
 *     rank 1:                               +--> 4: recv    7: commit 1
 *
 * At its record 7, rank 1 knows of rank 0's checkpoint 1, because the message was sent after it:
 * the clock says that one note of rank 0 happened before. Had rank 0 sent at its record 3, it would
 * say none. What the ranks had noted by then is kept by its number; so a clock is looked up, rank
 * by rank. Memory: what is known at each note, 24 bytes a rank. */
#include "oracles/matching/causal.h"

#include "base/memory.h"
#include "oracles/matching/walk.h"

#include <stdlib.h>

/* How far a rank was with its lines by each of its notes. */
struct progress {
    size_t count, room;
    struct known *known;
};

struct causal_reading {
    const struct links *links;
    struct causal *causal;     /* by incarnation */
    struct progress *progress; /* by place of the trace */
};

static bool moves_a_line(const struct record *record)
{
    switch (record->tag) {
    case NOTE_CHECKPOINT:
    case NOTE_SAVED:
    case NOTE_COMMIT:
    case NOTE_STOP_LOG:
    case NOTE_INITIATED:
        return record->kind == RECORD_NOTE;
    default:
        return false;
    }
}

static void raise(uint64_t *field, uint64_t line)
{
    if (line > *field)
        *field = line;
}

static void go_on(struct progress *progress, const struct record *note)
{
    struct known known = {0};
    if (progress->count > 0)
        known = progress->known[progress->count - 1];
    if (note->tag == NOTE_CHECKPOINT)
        raise(&known.checkpoint, note->bytes);
    else if (note->tag == NOTE_SAVED)
        raise(&known.saved, note->bytes);
    else if (note->tag == NOTE_COMMIT)
        raise(&known.commit, note->bytes);
    progress->known =
        memory_room(progress->known, progress->count, &progress->room, sizeof *progress->known);
    progress->known[progress->count++] = known;
}

/* What a clock of this incarnation says; by rank, owned by the caller. */
static struct known *known_by(const struct causal_reading *reading, int incarnation,
                              const uint64_t *clock)
{
    const struct trace_set *set = reading->links->set;
    struct known *known = memory_new((size_t)set->ranks, sizeof *known);
    for (size_t i = 0; i < set->count; i++)
        if (set->trace[i].incarnation == incarnation && clock[i] > 0)
            known[set->trace[i].rank] = reading->progress[i].known[clock[i] - 1];
    return known;
}

static bool wants(void *context, const struct walk_event *event)
{
    struct causal_reading *reading = context;
    if (event->forced)
        reading->causal[event->trace->incarnation].uncertain = true;
    return moves_a_line(event->record);
}

static bool on_note(void *context, const struct walk_event *event)
{
    struct causal_reading *reading = context;
    int incarnation = event->trace->incarnation;
    struct causal *causal = &reading->causal[incarnation];
    const struct record *note = event->record;
    go_on(&reading->progress[event->place], note);
    causal->note =
        memory_room(causal->note, causal->note_count, &causal->note_room, sizeof *causal->note);
    causal->note[causal->note_count++] =
        (struct causal_note){event_of(event->trace, event->index), (unsigned)note->tag, note->bytes,
                             note->enter, known_by(reading, incarnation, event->clock)};
    return true;
}

static void on_end(void *context, size_t place, const uint64_t *clock)
{
    struct causal_reading *reading = context;
    const struct trace *trace = &reading->links->set->trace[place];
    reading->causal[trace->incarnation].final[trace->rank] =
        known_by(reading, trace->incarnation, clock);
}

static int by_rank(const void *left, const void *right)
{
    const struct causal_note *a = left;
    const struct causal_note *b = right;
    if (a->event.rank != b->event.rank)
        return a->event.rank < b->event.rank ? -1 : 1;
    return (a->event.index > b->event.index) - (a->event.index < b->event.index);
}

struct causal *causal_read(const struct links *links)
{
    const struct trace_set *set = links->set;
    struct causal *causal = memory_new((size_t)set->incarnations, sizeof *causal);
    struct causal_reading reading = {links, causal,
                                     memory_new(set->count, sizeof *reading.progress)};
    for (int i = 0; i < set->incarnations; i++)
        causal[i] = (struct causal){.ranks = set->ranks,
                                    .final = memory_new((size_t)set->ranks, sizeof(struct known *)),
                                    .uncertain = links->doubtful[i]};
    walk_run(links,
             &(struct walk){.context = &reading, .wanted = wants, .event = on_note, .end = on_end});
    for (int i = 0; i < set->incarnations; i++)
        if (causal[i].note_count > 1)
            qsort(causal[i].note, causal[i].note_count, sizeof *causal[i].note, by_rank);
    for (size_t i = 0; i < set->count; i++)
        free(reading.progress[i].known);
    free(reading.progress);
    return causal;
}

void causal_release(struct causal *causal)
{
    for (size_t i = 0; i < causal->note_count; i++)
        free(causal->note[i].known);
    for (int rank = 0; rank < causal->ranks; rank++)
        free(causal->final[rank]);
    free(causal->note);
    free(causal->final);
    *causal = (struct causal){0};
}
