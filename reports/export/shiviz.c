/* ShiViz: a line that says how to read the others (a regular expression), a line for what separates
 * executions (nothing: there is one), then a line for each event with its vector clock. ShiViz asks
 * that a process's own entry goes up by one with each of its events, and stays usable up to about
 * 2,000 events. So what the wire saw and Faultline's own notes are shown, and of a large run only
 * what happened before or after the witness, or the last events; the first line says so. */
#include "base/memory.h"
#include "reports/export/export.h"
#include "reports/text/trace_line.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define EVENTS_MOST 2000
#define PAST_LEAST 1200 /* of a slice that is cut: what came before the witness explains it */
#define WITNESS_MOST 64

/* An event of the witness, in a walk of all candidates. */
struct seen_witness {
    size_t place;
    uint64_t own;     /* its number in its trace's entry of the clocks */
    uint64_t ordinal; /* among the candidates */
    uint64_t *clock;  /* owned */
};

struct shiviz {
    uint64_t candidates; /* of the run */
    size_t witness_count;
    struct seen_witness witness[WITNESS_MOST];
    /* Ordinals of what happened before a witness (the last ones, a ring) and after (the first). */
    uint64_t past[EVENTS_MOST], future[EVENTS_MOST];
    uint64_t past_count, future_count; /* all of them */
    /* Ordinals of what is shown, ascending; none: all that are not below `from`. */
    uint64_t shown[EVENTS_MOST + WITNESS_MOST];
    size_t shown_count;
    uint64_t from;
    uint64_t asked; /* candidates that the last walk came to */
    uint64_t written;
};

static bool is_witness(const struct export *export, const struct walk_event *event)
{
    return walk_event_is_of(event, export->witness, export->witness_count);
}

static bool is_candidate(void *context, const struct walk_event *event)
{
    return event->record->level != LEVEL_APP || is_witness(context, event);
}

/* --- what is shown of a large run ------------------------------------------------------------- */

static bool find_witness(void *context, const struct walk_event *event)
{
    struct export *export = context;
    struct shiviz *shiviz = export->state;
    size_t bytes = export->set->count * sizeof *event->clock;
    if (shiviz->witness_count == WITNESS_MOST || !is_witness(export, event))
        return true;
    struct seen_witness *witness = &shiviz->witness[shiviz->witness_count++];
    *witness = (struct seen_witness){event->place, event->clock[event->place], event->ordinal,
                                     memory_new(1, bytes)};
    memcpy(witness->clock, event->clock, bytes);
    return true;
}

static bool sort_by_witness(void *context, const struct walk_event *event)
{
    struct shiviz *shiviz = ((struct export *)context)->state;
    bool before = false, after = false;
    for (size_t i = 0; i < shiviz->witness_count; i++) {
        const struct seen_witness *witness = &shiviz->witness[i];
        before |= witness->clock[event->place] >= event->clock[event->place];
        after |= event->clock[witness->place] >= witness->own;
    }
    if (before)
        shiviz->past[shiviz->past_count++ % EVENTS_MOST] = event->ordinal;
    else if (after && shiviz->future_count++ < EVENTS_MOST)
        shiviz->future[shiviz->future_count - 1] = event->ordinal;
    return true;
}

static int by_number(const void *left, const void *right)
{
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The witness itself, what came before as far as there is room, what came after in the rest. */
static void choose(struct shiviz *shiviz)
{
    uint64_t room = EVENTS_MOST - shiviz->witness_count; /* for the others */
    uint64_t future = least(shiviz->future_count, room - least(shiviz->past_count, PAST_LEAST));
    uint64_t past = least(shiviz->past_count, room - future);
    size_t count = 0, kept = 0;
    for (size_t i = 0; i < shiviz->witness_count; i++)
        shiviz->shown[count++] = shiviz->witness[i].ordinal;
    for (uint64_t i = shiviz->past_count - past; i < shiviz->past_count; i++)
        shiviz->shown[count++] = shiviz->past[i % EVENTS_MOST];
    for (uint64_t i = 0; i < future; i++)
        shiviz->shown[count++] = shiviz->future[i];
    qsort(shiviz->shown, count, sizeof *shiviz->shown, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || shiviz->shown[i] != shiviz->shown[i - 1])
            shiviz->shown[kept++] = shiviz->shown[i];
    shiviz->shown_count = kept;
}

/* In the file, and for whoever asked for it. */
static void say_what_is_shown(struct export *export)
{
    const struct shiviz *shiviz = export->state;
    if (shiviz->shown_count > 0)
        snprintf(export->said, sizeof export->said,
                 "%zu of %" PRIu64 " events of the wire: what happened before or after the witness",
                 shiviz->shown_count, shiviz->candidates);
    else if (shiviz->from > 0)
        snprintf(export->said, sizeof export->said, "the last %d of %" PRIu64 " events of the wire",
                 EVENTS_MOST, shiviz->candidates);
}

static void shiviz_begin(struct export *export)
{
    struct shiviz *shiviz = export->state = memory_new(1, sizeof *shiviz);
    struct walk walk = {.context = export, .wanted = is_candidate, .event = find_witness};
    shiviz->candidates = walk_run(export->links, &walk).told;
    if (shiviz->candidates > EVENTS_MOST && shiviz->witness_count > 0) {
        walk.event = sort_by_witness;
        (void)walk_run(export->links, &walk);
        choose(shiviz);
    } else if (shiviz->candidates > EVENTS_MOST) {
        shiviz->from = shiviz->candidates - EVENTS_MOST;
    }
    say_what_is_shown(export);
    fputs("(?<host>\\S+) (?<clock>\\{[^}]*\\}) (?<event>.*)\n\n", export->out);
}

static bool shiviz_wanted(struct export *export, const struct walk_event *event)
{
    struct shiviz *shiviz = export->state;
    if (!is_candidate(export, event))
        return false;
    uint64_t ordinal = shiviz->asked++;
    if (shiviz->shown_count == 0)
        return ordinal >= shiviz->from;
    return bsearch(&ordinal, shiviz->shown, shiviz->shown_count, sizeof ordinal, by_number) != NULL;
}

/* --- lines ------------------------------------------------------------------------------------ */

static void write_clock(const struct export *export, const struct walk_event *event)
{
    const char *between = "";
    putc('{', export->out);
    for (size_t i = 0; i < export->set->count; i++) {
        char name[EVENT_TEXT_BYTES];
        if (event->clock[i] == 0)
            continue;
        fprintf(export->out, "%s\"%s\":%" PRIu64, between,
                export_process_text(&export->set->trace[i], name), event->clock[i]);
        between = ", ";
    }
    putc('}', export->out);
}

/* The words of a note or a fault begin with its kind. */
static const char *name_of(const struct record *record, char name[TRACE_EVENT_NAME_BYTES])
{
    bool named = record->kind != RECORD_NOTE && record->kind != RECORD_FAULT;
    return named ? trace_event_name(record, name) : record_kind_text(record->kind);
}

static void shiviz_event(struct export *export, const struct walk_event *event)
{
    struct shiviz *shiviz = export->state;
    char process[EVENT_TEXT_BYTES], name[TRACE_EVENT_NAME_BYTES], words[TRACE_LINE_BYTES + 1];
    trace_event_words(event->trace, event->index, words);
    fprintf(export->out, "%s ", export_process_text(event->trace, process));
    write_clock(export, event);
    fprintf(export->out, " e%" PRIu64 " %s%s%s", event->index, name_of(event->record, name),
            words[0] != '\0' ? " " : "", words);
    if (is_witness(export, event))
        fputs(" [witness]", export->out);
    if (shiviz->written++ == 0 && export->said[0] != '\0')
        fprintf(export->out, " [%s]", export->said);
    putc('\n', export->out);
}

static void shiviz_release(struct export *export)
{
    struct shiviz *shiviz = export->state;
    for (size_t i = 0; i < shiviz->witness_count; i++)
        free(shiviz->witness[i].clock);
    free(shiviz);
}

const struct exporter export_shiviz = {.name = "shiviz",
                                       .begin = shiviz_begin,
                                       .wanted = shiviz_wanted,
                                       .event = shiviz_event,
                                       .release = shiviz_release};
