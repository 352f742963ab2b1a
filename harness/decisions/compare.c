/* See compare.h. */
#include "decisions/compare.h"

#include <stdio.h>
#include <string.h>

#define SHAPE_TEXT_BYTES 200

/* One rank in one incarnation of a run, and how far it has been read. */
struct side {
    const struct decisions *decisions;
    const struct decision_event *event;
    uint32_t count;
    uint32_t at;
};

static struct side side_of(const struct decisions *decisions,
                           const struct decision_section *section)
{
    if (section == NULL)
        return (struct side){.decisions = decisions};
    return (struct side){decisions, decisions->event + section->first_event, section->events, 0};
}

static uint32_t number_at(const struct side *side, uint32_t at)
{
    return (uint32_t)(side->event - side->decisions->event) + at;
}

static uint32_t request_at(const struct side *side, uint32_t at)
{
    return decision_request_at(side->decisions, number_at(side, at));
}

static const struct decision_shape *shape_at(const struct side *side, uint32_t at)
{
    return &side->decisions->shape[side->event[at].shape];
}

static uint32_t window_end(const struct side *side)
{
    uint32_t at = side->at;
    while (at < side->count && decision_is_negative(shape_at(side, at)))
        at++;
    return at;
}

static void text_at(const struct side *side, uint32_t at, char text[SHAPE_TEXT_BYTES])
{
    if (at >= side->count)
        snprintf(text, SHAPE_TEXT_BYTES, "nothing more");
    else
        decision_text(shape_at(side, at), request_at(side, at),
                      decision_file_at(side->decisions, number_at(side, at)), text,
                      SHAPE_TEXT_BYTES);
}

/* Says that event `a` of the first should have been event `b` of the second. */
static void note_difference(struct difference *difference, const struct decision_section *section,
                            const struct side *recorded, uint32_t a, const struct side *replayed,
                            uint32_t b, const char *how)
{
    char expected[SHAPE_TEXT_BYTES], got[SHAPE_TEXT_BYTES];
    uint32_t last = recorded->count > 0 ? recorded->event[recorded->count - 1].index : 0;
    text_at(recorded, a, expected);
    text_at(replayed, b, got);
    if (how[0] == '\0' && strcmp(expected, got) == 0)
        how = ", with another outcome";
    snprintf(difference->text, sizeof difference->text, "r%d#%d: event %u: expected %s%s; got %s",
             section->rank, section->incarnation,
             a < recorded->count ? recorded->event[a].index : last + 1, expected, how, got);
}

/* How often the poll of event `which` says no in the window of `side`. */
static uint64_t count_noes(const struct side *side, const struct decision_shape *shape,
                           uint32_t request)
{
    uint64_t count = 0;
    for (uint32_t i = side->at; i < side->count && decision_is_negative(shape_at(side, i)); i++)
        if (request_at(side, i) == request && decision_same_question(shape_at(side, i), shape))
            count += side->event[i].value;
    return count;
}

/* The first poll of the window of `a` that says no more or less often in that of `b`. */
static bool find_uneven(const struct side *a, const struct side *b, uint32_t *at)
{
    for (uint32_t i = a->at; i < window_end(a); i++) {
        const struct decision_shape *shape = shape_at(a, i);
        uint32_t request = request_at(a, i);
        *at = i;
        if (count_noes(a, shape, request) != count_noes(b, shape, request))
            return true;
    }
    return false;
}

static bool windows_differ(struct side *recorded, struct side *replayed,
                           const struct decision_section *section, struct difference *difference)
{
    uint32_t at;
    if (find_uneven(recorded, replayed, &at)) {
        note_difference(difference, section, recorded, at, replayed, window_end(replayed),
                        ", so often");
        return true;
    }
    if (find_uneven(replayed, recorded, &at)) {
        note_difference(difference, section, recorded, window_end(recorded), replayed, at, "");
        return true;
    }
    recorded->at = window_end(recorded);
    replayed->at = window_end(replayed);
    return false;
}

static bool same_event(const struct side *a, const struct side *b)
{
    return memcmp(shape_at(a, a->at), shape_at(b, b->at), sizeof(struct decision_shape)) == 0 &&
           request_at(a, a->at) == request_at(b, b->at);
}

/* A rank that others ended is ended after its last event, which may be after the entry of the
 * next call: of that nothing came. */
static bool only_entered(const struct decision_section *section, const struct side *recorded,
                         const struct side *replayed)
{
    if (recorded->at < recorded->count || section->end != DECISION_ENDED)
        return false;
    for (uint32_t i = replayed->at; i < replayed->count; i++)
        if ((shape_at(replayed, i)->state & SHAPE_INCOMPLETE) == 0)
            return false;
    return true;
}

/* Of one rank in one incarnation; stops at the first difference in what it did. */
static void compare_section(const struct decision_section *section, struct side recorded,
                            struct side replayed, struct difference *difference)
{
    while (!windows_differ(&recorded, &replayed, section, difference)) {
        if ((recorded.at >= recorded.count && replayed.at >= replayed.count) ||
            only_entered(section, &recorded, &replayed))
            return;
        if (recorded.at >= recorded.count || replayed.at >= replayed.count ||
            !same_event(&recorded, &replayed)) {
            note_difference(difference, section, &recorded, recorded.at, &replayed, replayed.at,
                            "");
            break;
        }
        if (!difference->payload &&
            recorded.event[recorded.at].value != replayed.event[replayed.at].value) {
            difference->payload = true;
            note_difference(difference, section, &recorded, recorded.at, &replayed, replayed.at,
                            ", with the same data");
        }
        recorded.at++;
        replayed.at++;
    }
    difference->decisions = true;
}

void decisions_compare(const struct decisions *recorded, const struct decisions *replayed,
                       struct difference *difference)
{
    memset(difference, 0, sizeof *difference);
    for (uint32_t i = 0; i < recorded->header->sections && !difference->decisions; i++) {
        const struct decision_section *section = &recorded->section[i];
        compare_section(
            section, side_of(recorded, section),
            side_of(replayed, decisions_find(replayed, section->rank, section->incarnation)),
            difference);
    }
    if (!difference->decisions &&
        replayed->header->incarnations != recorded->header->incarnations) {
        difference->decisions = true;
        snprintf(difference->text, sizeof difference->text, "%d incarnations, there were %d",
                 replayed->header->incarnations, recorded->header->incarnations);
    }
}
