/* See random_place.h. */
#include "strategy/random_place.h"

#include "strategy/steps.h"

#include <string.h>

#define EARLY_NTH 3    /* most interesting things happen to the first few */
#define DRAWS_MAX 20   /* of a point, until one is early enough */
#define FIRST_LINE 80  /* of 100 */
#define LAST_PART 6    /* one in so many is a last one */
#define RECOVERY_NTH 5 /* phases or calls from the start of a life */

/* Half of the time one of the first, else any but the last ones: with faults there may be fewer. */
static uint64_t draw_nth(struct draw *draw, uint64_t count)
{
    uint64_t early = count < EARLY_NTH ? count : EARLY_NTH;
    uint64_t most = count - count / LAST_PART;
    return draw_between(draw, 1, draw_chance(draw, 50) ? early : most);
}

/* What comes once or a few times with each line. */
static bool is_of_lines(const struct survey_point *point)
{
    return point->kind == SURVEY_PHASE || point->kind == SURVEY_NOTE ||
           point->kind == SURVEY_MESSAGE || point->kind == SURVEY_STORE;
}

struct plan_condition place_at(const struct survey *survey, const struct survey_point *point,
                               struct draw *draw)
{
    uint64_t count = point->count;
    if (is_of_lines(point) && survey->lines > 1) {
        uint64_t lines = (uint64_t)survey->lines;
        count = (count * (uint64_t)place_line(survey, draw) + lines - 1) / lines;
    }
    return steps_at(point, draw_nth(draw, count), false);
}

const struct survey_point *place_point(const struct survey *survey, struct draw *draw,
                                       struct survey_filter filter)
{
    size_t count = survey_points(survey, filter);
    int64_t line = place_line(survey, draw);
    const struct survey_point *point = NULL;
    for (int i = 0; i < DRAWS_MAX && (point == NULL || point->line > line); i++)
        point = survey_point(survey, filter, draw_below(draw, count));
    return point;
}

struct plan_condition place_of(const struct survey *survey, struct draw *draw,
                               struct survey_filter filter)
{
    return place_at(survey, place_point(survey, draw, filter), draw);
}

/* The n-th send of a message of this name, from 0; NULL: there are not so many. */
static const struct survey_point *send_of(const struct survey *survey, const char *name, size_t n)
{
    const struct survey_filter sends = {SURVEY_MESSAGE, LEVEL_WIRE, EVENT_SEND};
    const struct survey_point *point;
    for (size_t i = 0; (point = survey_point(survey, sends, i)) != NULL; i++)
        if (strcmp(point->condition.message, name) == 0 && n-- == 0)
            return point;
    return NULL;
}

struct plan_condition place_of_message(const struct survey *survey, struct draw *draw)
{
    const char *name = survey->wire[draw_below(draw, survey->wires)].name;
    size_t points = 0;
    while (send_of(survey, name, points) != NULL)
        points++;
    return place_at(survey, send_of(survey, name, draw_below(draw, points)), draw);
}

struct plan_condition place_of_send(const struct survey *survey, struct draw *draw, uint64_t wanted)
{
    struct survey_filter app = {SURVEY_CHANNEL, LEVEL_APP, EVENT_SEND};
    struct survey_filter wire = {SURVEY_CHANNEL, LEVEL_WIRE, EVENT_SEND};
    bool upper =
        survey_points(survey, wire) == 0 || (survey_is_passed_on(survey) && draw_chance(draw, 70));
    struct survey_filter filter = upper ? app : wire;
    const struct survey_point *point =
        survey_point(survey, filter, draw_below(draw, survey_points(survey, filter)));
    struct plan_condition condition = place_at(survey, point, draw);
    uint64_t last = point->count > wanted ? point->count - wanted + 1 : 1;
    if (condition.nth > last)
        condition.nth = last;
    return condition;
}

/* Of these, those that the program has: messages, collective calls, or both. */
struct plan_condition place_of_program(const struct survey *survey, struct draw *draw, int32_t rank)
{
    static const struct survey_filter channels = {SURVEY_CHANNEL, LEVEL_APP, EVENT_SEND};
    static const enum plan_event events[] = {EVENT_RECV, EVENT_DELIVER, EVENT_DELIVER, EVENT_SEND};
    bool messages = survey_points(survey, channels) > 0;
    bool collective = survey->collectives > 0 && (!messages || draw_chance(draw, 50));
    uint64_t drawn = draw_below(draw, sizeof events / sizeof events[0]);
    struct plan_condition condition = plan_step_default(ACTION_AWAIT).when;
    condition.event = collective ? EVENT_COLLECTIVE : events[drawn];
    condition.rank = rank;
    condition.nth = draw_between(draw, 1, EARLY_NTH);
    if (condition.event == EVENT_DELIVER)
        condition.position = POSITION_AFTER;
    return condition;
}

int64_t place_line(const struct survey *survey, struct draw *draw)
{
    uint64_t lines = survey->lines > 0 ? (uint64_t)survey->lines : 1;
    uint64_t most = lines > 2 ? lines - 1 : lines; /* with faults there may be fewer */
    return draw_chance(draw, FIRST_LINE) ? 1 : (int64_t)draw_between(draw, 1, most);
}

void place_state(const struct survey *survey, struct draw *draw, int32_t rank, bool past_line,
                 struct plan_condition *condition)
{
    unsigned regions = steps_regions(survey);
    unsigned first = past_line ? REGION_LOGGING : REGION_BEFORE;
    steps_state(condition, rank, (enum plan_region)draw_between(draw, first, regions),
                place_line(survey, draw));
}

/* Which messages are late or early depends on timing. That some are does not, where there were
 * several. */
#define NOTED_PER_CERTAIN 3

static bool logs(const struct survey *survey)
{
    return survey->late >= NOTED_PER_CERTAIN || survey->early >= NOTED_PER_CERTAIN;
}

static struct plan_condition place_of_logging(const struct survey *survey, struct draw *draw)
{
    struct plan_condition condition = plan_step_default(ACTION_AWAIT).when;
    bool late = survey->early < NOTED_PER_CERTAIN ||
                (survey->late >= NOTED_PER_CERTAIN && draw_chance(draw, 50));
    condition.event = late ? EVENT_LOGGED : EVENT_EARLY;
    condition.nth =
        draw_between(draw, 1, (late ? survey->late : survey->early) / NOTED_PER_CERTAIN);
    return condition;
}

struct plan_condition place_anywhere(const struct survey *survey, struct draw *draw)
{
    enum { PHASE, NOTE, MESSAGE, CALL, CHANNEL, STORE, LOGGING, PLACES };
    static const struct survey_filter filter[PLACES] = {
        [PHASE] = {.kind = SURVEY_PHASE},
        [NOTE] = {.kind = SURVEY_NOTE},
        [MESSAGE] = {.kind = SURVEY_MESSAGE, .level = LEVEL_WIRE},
        [CALL] = {.kind = SURVEY_CALL},
        [CHANNEL] = {.kind = SURVEY_CHANNEL, .level = LEVEL_WIRE},
        [STORE] = {.kind = SURVEY_STORE},
    };
    static const unsigned often[PLACES] = {[PHASE] = 30,   [NOTE] = 20, [MESSAGE] = 15, [CALL] = 15,
                                           [CHANNEL] = 10, [STORE] = 5, [LOGGING] = 5};
    unsigned weight[PLACES];
    for (unsigned i = 0; i < LOGGING; i++)
        weight[i] = survey_points(survey, filter[i]) > 0 ? often[i] : 0;
    weight[LOGGING] = logs(survey) ? often[LOGGING] : 0;
    unsigned place = draw_weighted(draw, weight, PLACES);
    if (place == LOGGING)
        return place_of_logging(survey, draw);
    struct plan_condition condition = place_of(survey, draw, filter[place]);
    bool instant = place == PHASE || place == NOTE || condition.event == EVENT_DELIVER;
    if (!instant && draw_chance(draw, 50))
        condition.position = POSITION_AFTER;
    return condition;
}

struct plan_condition place_in_recovery(const struct survey *survey, struct draw *draw,
                                        int32_t incarnation)
{
    struct plan_condition condition = plan_step_default(ACTION_AWAIT).when;
    bool phase = survey_has_note(survey, EVENT_PHASE) && draw_chance(draw, 70);
    condition.event = phase ? EVENT_PHASE : EVENT_CALL;
    condition.rank = (int32_t)draw_below(draw, (uint64_t)survey->ranks);
    condition.incarnation = incarnation;
    condition.nth = draw_between(draw, 1, RECOVERY_NTH);
    return condition;
}
