/* Faults of messages, drawn; see random_fault.h.
 *
 * Where somebody stands when a message is sent hangs on timing, and a place drawn blindly is hardly
 * ever reached. So it is drawn from what the survey has seen; or the message that would let the
 * rank before go on is kept (`helper`) until the other is where it is to be. */
#include "strategy/random_fault.h"

#include <string.h>

#define MS_MAX 10
#define LAG_MS 60      /* a line is not held up for longer: later faults wait for its commit */
#define BEYOND_LINE 30 /* of 100 of the protocol's own messages that are kept */
#define JITTER_MS_MAX 2
#define REORDER_MAX 4
#define DELAY_CALLS_MAX 20
#define DRAWS_MAX 20     /* of pairs of ranks, until there is something between them */
#define SENDS_CERTAIN 6u /* seen so often in a place, they will be there again */

static const struct survey_filter own_sends = {SURVEY_MESSAGE, LEVEL_WIRE, EVENT_SEND};
static const struct survey_filter sends = {SURVEY_CHANNEL, LEVEL_WIRE, EVENT_SEND};
static const struct survey_filter app_sends = {SURVEY_CHANNEL, LEVEL_APP, EVENT_SEND};

bool fault_has_messages(const struct survey *survey)
{
    return survey_points(survey, own_sends) > 0;
}

bool fault_has_channels(const struct survey *survey)
{
    return survey_points(survey, sends) > 0;
}

bool fault_can_cross(const struct survey *survey)
{
    return survey->lines > 0 && survey->sends != NULL && steps_regions(survey) == 3 &&
           survey_points(survey, app_sends) > 0;
}

bool fault_has_triggers(const struct survey *survey)
{
    return survey->triggers > 0;
}

/* --- the protocol's own ----------------------------------------------------------------------- */

/* Of the program of this rank. */
static uint64_t calls_of(const struct survey *survey, int32_t rank)
{
    uint64_t calls = 0;
    for (size_t i = 0; i < survey->count; i++) {
        const struct survey_point *point = &survey->point[i];
        if (point->kind == SURVEY_CALL && point->condition.rank == rank &&
            point->condition.level == LEVEL_APP)
            calls += point->count;
    }
    return calls;
}

/* So long that the program may come to the next line meanwhile, whatever time it takes for that. */
static void keep_beyond_line(struct fault *fault, struct plan_step *step)
{
    const struct survey *survey = fault->survey;
    uint64_t lines = survey->lines > 0 ? (uint64_t)survey->lines : 1;
    step->release.event = EVENT_CALL;
    step->release.rank = fault_rank(fault);
    uint64_t most = 2 * calls_of(survey, step->release.rank) / lines;
    step->release.nth = draw_between(&fault->draw, 1, most > 0 ? most : 1);
    step->attempt = true;
}

void fault_hold_control(struct fault *fault)
{
    fault_begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_message(fault->survey, &fault->draw);
    if (draw_chance(&fault->draw, BEYOND_LINE)) {
        keep_beyond_line(fault, step);
    } else {
        fault_let_go(fault, step, step->when.peer);
        if (step->release_ms == 0)
            step->release_ms = LAG_MS;
    }
    if (draw_chance(&fault->draw, 30))
        step->when.peer = PLAN_ANY;
    else if (draw_chance(&fault->draw, 20))
        step->when.rank = PLAN_ANY;
}

/* Keeps what lets a rank into a region of a line. */
static struct plan_step keep_trigger(const struct survey_trigger *trigger)
{
    struct plan_step step = steps_fault(ACTION_HOLD);
    step.when.event = EVENT_SEND;
    step.when.level = LEVEL_WIRE;
    step.when.rank = trigger->sender;
    step.when.peer = trigger->rank;
    step.when.nth = trigger->nth;
    memcpy(step.when.message, trigger->message, sizeof step.when.message);
    step.release_ms = LAG_MS;
    step.attempt = true;
    return step;
}

void fault_lag(struct fault *fault)
{
    const struct survey *survey = fault->survey;
    struct draw *draw = &fault->draw;
    const struct survey_trigger *trigger = &survey->trigger[draw_below(draw, survey->triggers)];
    for (int i = 0; i < DRAWS_MAX && trigger->line > place_line(survey, draw); i++)
        trigger = &survey->trigger[draw_below(draw, survey->triggers)];
    fault->step = keep_trigger(trigger);
    int32_t other = fault_rank(fault);
    if (draw_chance(draw, 15)) {
        fault->step.release_ms = (uint32_t)draw_between(draw, 1, MS_MAX);
        return;
    }
    fault->step.release =
        place_of_program(survey, draw, draw_chance(draw, 70) ? trigger->rank : other);
    if (other != trigger->rank)
        steps_state(&fault->step.release, other, trigger->region, trigger->line);
}

/* --- messages that cross a line --------------------------------------------------------------- */

/* From a rank that sends to one that it sends to; false: there is none that was drawn. */
static bool draw_pair(struct fault *fault, struct survey_cell *cell)
{
    size_t channels = survey_points(fault->survey, app_sends);
    const struct survey_point *point =
        survey_point(fault->survey, app_sends, draw_below(&fault->draw, channels));
    cell->sender = point->condition.rank;
    cell->receiver = point->condition.peer;
    return cell->sender != cell->receiver;
}

/* Most often the two are not in the same region: then the message is late or early. */
static void draw_regions(struct fault *fault, struct survey_cell *cell)
{
    static const struct {
        enum plan_region sender, receiver;
    } cells[] = {{REGION_BEFORE, REGION_LOGGING}, {REGION_LOGGING, REGION_BEFORE},
                 {REGION_BEYOND, REGION_LOGGING}, {REGION_LOGGING, REGION_LOGGING},
                 {REGION_LOGGING, REGION_BEYOND}, {REGION_BEFORE, REGION_BEFORE},
                 {REGION_BEYOND, REGION_BEFORE},  {REGION_BEYOND, REGION_BEYOND}};
    static const unsigned often[] = {8, 6, 4, 3, 2, 2, 1, 1};
    unsigned drawn = draw_weighted(&fault->draw, often, sizeof often / sizeof often[0]);
    cell->of_sender = cells[drawn].sender;
    cell->of_receiver = cells[drawn].receiver;
}

/* What keeps the one of the two that is to lag; NULL: nothing does, or none is to. */
static const struct survey_trigger *trigger_of(const struct survey *survey, struct survey_cell cell)
{
    bool sender_lags = cell.of_sender < cell.of_receiver;
    int32_t rank = sender_lags ? cell.sender : cell.receiver;
    enum plan_region next = (sender_lags ? cell.of_sender : cell.of_receiver) + 1;
    return cell.of_sender == cell.of_receiver ? NULL
                                              : survey_trigger(survey, rank, next, cell.line);
}

/* How a cell comes about. */
enum way { WAY_NONE, WAY_SEEN, WAY_FORCED };

static enum way way_to(struct fault *fault, struct survey_cell cell)
{
    bool seen = survey_sends(fault->survey, cell) >= SENDS_CERTAIN;
    bool forced = trigger_of(fault->survey, cell) != NULL;
    if (seen && forced)
        return draw_chance(&fault->draw, 75) ? WAY_FORCED : WAY_SEEN;
    return seen ? WAY_SEEN : forced ? WAY_FORCED : WAY_NONE;
}

static void set_places(struct plan_condition *condition, struct survey_cell cell)
{
    steps_state(condition, cell.sender, cell.of_sender, cell.line);
    steps_state(condition, cell.receiver, cell.of_receiver, cell.line);
}

static struct plan_condition send_in(struct survey_cell cell)
{
    struct plan_condition condition = plan_step_default(ACTION_AWAIT).when;
    condition.event = EVENT_SEND;
    condition.rank = cell.sender;
    condition.peer = cell.receiver;
    set_places(&condition, cell);
    return condition;
}

/* The rank that lags is let go when the message has been sent. */
static void force(struct fault *fault, struct survey_cell cell)
{
    fault->has_helper = true;
    fault->helper = keep_trigger(trigger_of(fault->survey, cell));
    fault->helper.release = send_in(cell);
    fault->helper.release.position = POSITION_AFTER;
}

/* Sent by somebody in one region, while its receiver stands in another, and delivered in a third.
 */
void fault_crossing(struct fault *fault)
{
    struct draw *draw = &fault->draw;
    struct survey_cell cell = {.line = 1};
    enum way way = WAY_NONE;
    for (int i = 0; i < DRAWS_MAX && way == WAY_NONE; i++) {
        cell.line = place_line(fault->survey, draw);
        draw_regions(fault, &cell);
        way = draw_pair(fault, &cell) ? way_to(fault, cell) : WAY_NONE;
    }
    if (way == WAY_NONE) {
        fault_hold_message(fault);
        return;
    }
    fault_begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = send_in(cell);
    if (way == WAY_FORCED)
        force(fault, cell);
    unsigned delivery = cell.of_receiver + (unsigned)draw_below(draw, 3);
    if (delivery <= REGION_BEYOND)
        steps_state(&step->release, cell.receiver, (enum plan_region)delivery, cell.line);
    else
        fault_let_go(fault, step, cell.receiver);
    step->attempt = true;
}

/* --- any -------------------------------------------------------------------------------------- */

/* Only sends of a rank that stands in a region in which it often was when it sent. */
static void in_region(struct fault *fault)
{
    struct plan_step *step = &fault->step;
    struct survey_cell cell = {.sender = step->when.rank, .receiver = step->when.peer};
    cell.line = place_line(fault->survey, &fault->draw);
    cell.of_sender = (enum plan_region)draw_between(&fault->draw, REGION_BEFORE, REGION_BEYOND);
    uint32_t seen = 0;
    for (int region = REGION_BEFORE; region <= REGION_BEYOND; region++) {
        cell.of_receiver = (enum plan_region)region;
        seen += survey_sends(fault->survey, cell);
    }
    if (seen < SENDS_CERTAIN || step->when.level != LEVEL_APP)
        return;
    step->when.tag = PLAN_ANY;
    step->when.nth = draw_between(&fault->draw, 1, seen / SENDS_CERTAIN);
    steps_state(&step->when, PLAN_ANY, cell.of_sender, cell.line);
}

void fault_hold_message(struct fault *fault)
{
    fault_begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_send(fault->survey, &fault->draw, 1);
    if (draw_chance(&fault->draw, 60))
        in_region(fault);
    fault_let_go(fault, step, step->when.peer);
}

static void shuffle(struct plan_step *step, struct draw *draw)
{
    for (uint32_t i = 0; i < step->orders; i++)
        step->order[i] = (int32_t)i + 1;
    for (uint32_t i = step->orders; i > 1; i--) {
        uint32_t other = (uint32_t)draw_below(draw, i);
        int32_t moved = step->order[i - 1];
        step->order[i - 1] = step->order[other];
        step->order[other] = moved;
    }
}

/* To one receiver from several senders, or from one sender to several receivers. Two most often: a
 * program that waits for an answer has no more under way. */
void fault_reorder(struct fault *fault)
{
    fault_begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    uint64_t wanted =
        draw_chance(&fault->draw, 80) ? 2 : draw_between(&fault->draw, 3, REORDER_MAX);
    step->when = place_of_send(fault->survey, &fault->draw, wanted);
    if (draw_chance(&fault->draw, 50))
        step->when.rank = PLAN_ANY;
    else
        step->when.peer = PLAN_ANY;
    if (draw_chance(&fault->draw, 50))
        step->when.tag = PLAN_ANY;
    step->count = step->orders = (uint32_t)wanted;
    step->attempt = true;
    shuffle(step, &fault->draw);
}

/* One, for a time or until its sender has done something else. */
void fault_delay(struct fault *fault)
{
    fault_begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_send(fault->survey, &fault->draw, 1);
    step->attempt = true;
    if (draw_chance(&fault->draw, 50)) {
        step->release_ms = (uint32_t)draw_between(&fault->draw, 1, MS_MAX);
        return;
    }
    step->release.event = EVENT_CALL;
    step->release.rank = step->when.rank;
    step->release.nth = draw_between(&fault->draw, 1, DELAY_CALLS_MAX);
}

void fault_jitter(struct fault *fault)
{
    fault_begin(fault, ACTION_JITTER);
    fault->step.release_ms = (uint32_t)draw_between(&fault->draw, 1, JITTER_MS_MAX);
    fault->step.seed = draw_number(&fault->draw) >> 1;
}
