/* A few faults, drawn. Of the kinds of fault a plan may have, each is switched off in about half of
 * all plans, so that each run is extreme in its own way ("swarm testing": Groce, Zhang, Eide, Chen,
 * Regehr, ISSTA 2012); of one that has all, the kinds would keep each other from going far. Every
 * fault has draws of its own: what one is does not change the next.
 *
 * What a plan asks for need not happen. Holds and stops are attempts: that the job could not go on
 * without what they keep is no fault of theirs. */
#include "campaign/draw.h"
#include "campaign/random_place.h"
#include "campaign/steps.h"
#include "campaign/strategy.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FAULTS_MAX 4
#define MS_MAX 30
#define JITTER_MS_MAX 2
#define BYTES_MAX 400 /* of a short or torn write */
#define REORDER_MAX 4
#define TIMES_MAX 20
#define REQUESTS_MAX 3 /* an index among a few requests */

/* What draws are for: so one more for one purpose moves none of another. */
enum purpose { PURPOSE_KINDS, PURPOSE_COUNT, PURPOSE_RECOVERY, PURPOSE_END, PURPOSE_FAULT };

static const struct survey_filter own_sends = {SURVEY_MESSAGE, LEVEL_WIRE, EVENT_SEND};
static const struct survey_filter sends = {SURVEY_CHANNEL, LEVEL_WIRE, EVENT_SEND};
static const struct survey_filter wildcards = {.kind = SURVEY_WILDCARD};
static const struct survey_filter app_polls = {.kind = SURVEY_POLL};
static const struct survey_filter store = {.kind = SURVEY_STORE};
static const struct survey_filter store_writes = {.kind = SURVEY_STORE, .event = EVENT_WRITE};

/* A fault to be drawn. */
struct fault {
    const struct survey *survey;
    struct draw draw;
    unsigned lives; /* that may end by the faults before this one; of a fault in recovery */
    struct plan_step step;
};

struct kind {
    const char *word; /* in the name of the plan */
    unsigned weight;
    bool (*is_possible)(const struct survey *survey);
    void (*make)(struct fault *fault);
};

static bool always(const struct survey *survey)
{
    return survey->count > 0;
}

static int32_t draw_rank(struct fault *fault)
{
    return (int32_t)draw_below(&fault->draw, (uint64_t)fault->survey->ranks);
}

static void begin(struct fault *fault, enum plan_action action)
{
    fault->step = steps_fault(action);
}

/* --- ranks ------------------------------------------------------------------------------------ */
static void lose(struct fault *fault, unsigned percent)
{
    if (steps_can_lose(fault->survey) && draw_chance(&fault->draw, percent))
        fault->step.lose = draw_chance(&fault->draw, 50) ? LOSE_RANK : LOSE_NODE;
}

static void make_kill(struct fault *fault)
{
    begin(fault, ACTION_KILL);
    fault->step.when = place_anywhere(fault->survey, &fault->draw);
    bool own = fault->step.when.rank != PLAN_ANY && draw_chance(&fault->draw, 60);
    steps_victim(&fault->step, own ? fault->step.when.rank : draw_rank(fault));
    while (draw_chance(&fault->draw, 15))
        steps_victim(&fault->step, draw_rank(fault));
    lose(fault, 30);
}

/* In what comes after a first death: the same rank or another, early or late in its recovery. */
static void make_kill_again(struct fault *fault)
{
    begin(fault, ACTION_KILL);
    int32_t life = (int32_t)draw_between(&fault->draw, 1, fault->lives);
    fault->step.when = place_in_recovery(fault->survey, &fault->draw, life);
    steps_victim(&fault->step, fault->step.when.rank);
    lose(fault, 20);
}

static bool has_lines(const struct survey *survey)
{
    return survey_tells(survey, EVENT_CHECKPOINT);
}

/* Behind a commit everything has to be there. */
static void make_kill_at_commit(struct fault *fault)
{
    begin(fault, ACTION_KILL);
    fault->step.when.event = EVENT_COMMIT;
    fault->step.when.nth = (uint64_t)place_line(fault->survey, &fault->draw);
    steps_victim(&fault->step, draw_rank(fault));
    lose(fault, 30);
}

static bool commits(const struct survey *survey)
{
    return survey->lines > 0;
}

/* --- letting go ------------------------------------------------------------------------------- */
/* The rank that waits for a message is the one whose position makes it late or early. */
static void let_go(struct fault *fault, int32_t receiver)
{
    struct plan_step *step = &fault->step;
    struct draw *draw = &fault->draw;
    unsigned kind = (unsigned)draw_below(draw, has_lines(fault->survey) ? 5 : 2);
    step->attempt = true;
    if (kind == 0) {
        step->release_ms = (uint32_t)draw_between(draw, 1, MS_MAX);
    } else if (kind == 1) {
        step->release = place_anywhere(fault->survey, draw);
    } else if (kind == 2 || receiver == PLAN_ANY) {
        place_state(fault->survey, draw, draw_rank(fault), true, &step->release);
    } else if (kind == 3) {
        place_state(fault->survey, draw, receiver, true, &step->release);
    } else {
        step->release = place_of_program(fault->survey, draw, receiver);
        place_state(fault->survey, draw, draw_rank(fault), false, &step->release);
    }
}

static void make_stop(struct fault *fault)
{
    begin(fault, ACTION_STOP);
    fault->step.when = place_anywhere(fault->survey, &fault->draw);
    steps_victim(&fault->step, draw_rank(fault));
    let_go(fault, PLAN_ANY);
}

/* --- messages --------------------------------------------------------------------------------- */
static bool has_messages(const struct survey *survey)
{
    return survey_points(survey, own_sends) > 0;
}

static void make_hold_control(struct fault *fault)
{
    begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_message(fault->survey, &fault->draw);
    let_go(fault, step->when.peer);
    if (draw_chance(&fault->draw, 30))
        step->when.peer = PLAN_ANY;
    if (draw_chance(&fault->draw, 20))
        step->when.rank = PLAN_ANY;
    if (draw_chance(&fault->draw, 15)) {
        step->count = 2;
        step->when.nth = 1;
    }
}

static bool has_channels(const struct survey *survey)
{
    return survey_points(survey, sends) > 0;
}

static void make_hold_message(struct fault *fault)
{
    begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_send(fault->survey, &fault->draw);
    int32_t receiver = step->when.peer;
    if (has_lines(fault->survey) && draw_chance(&fault->draw, 60)) {
        step->when.nth = 1;
        place_state(fault->survey, &fault->draw, PLAN_ANY, false, &step->when);
        if (draw_chance(&fault->draw, 30))
            place_state(fault->survey, &fault->draw, receiver, false, &step->when);
    }
    let_go(fault, receiver);
    if (draw_chance(&fault->draw, 15))
        step->count = draw_between(&fault->draw, 2, 3);
}

/* A message that crosses a line, or stays on one side of it: sent by somebody in one region, while
 * its receiver stands in another, and delivered in a third. Most often the two are not in the same:
 * then it is late or early. */
static void make_crossing(struct fault *fault)
{
    static const struct {
        enum plan_region sender, receiver;
    } cells[] = {{REGION_BEHIND, REGION_LOGGING}, {REGION_LOGGING, REGION_BEHIND},
                 {REGION_BEYOND, REGION_LOGGING}, {REGION_LOGGING, REGION_LOGGING},
                 {REGION_LOGGING, REGION_BEYOND}, {REGION_BEHIND, REGION_BEHIND},
                 {REGION_BEYOND, REGION_BEHIND},  {REGION_BEYOND, REGION_BEYOND}};
    static const unsigned often[] = {8, 6, 4, 3, 2, 2, 1, 1};
    struct draw *draw = &fault->draw;
    unsigned regions = steps_regions(fault->survey), cell;
    int64_t line = place_line(fault->survey, draw);
    begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    do
        cell = draw_weighted(draw, often, sizeof often / sizeof often[0]);
    while (cells[cell].sender > regions || cells[cell].receiver > regions);
    step->when = place_of_send(fault->survey, draw);
    int32_t receiver = step->when.peer;
    step->when.nth = draw_chance(draw, 85) ? 1 : 2;
    if (draw_chance(draw, 50))
        step->when.rank = step->when.tag = PLAN_ANY;
    steps_state(&step->when, PLAN_ANY, cells[cell].sender, line);
    steps_state(&step->when, receiver, cells[cell].receiver, line);
    unsigned delivery = cells[cell].receiver + (unsigned)draw_below(draw, 3);
    if (delivery <= regions && delivery > REGION_BEHIND)
        steps_state(&step->release, receiver, (enum plan_region)delivery, line);
    else
        let_go(fault, receiver);
    step->attempt = true;
}

static bool can_cross(const struct survey *survey)
{
    return commits(survey) && has_channels(survey);
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

/* To one receiver from several senders, or from one sender to several receivers. */
static void make_reorder(struct fault *fault)
{
    begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_send(fault->survey, &fault->draw);
    if (draw_chance(&fault->draw, 50))
        step->when.rank = PLAN_ANY;
    else
        step->when.peer = PLAN_ANY;
    if (draw_chance(&fault->draw, 50))
        step->when.tag = PLAN_ANY;
    step->count = step->orders = (uint32_t)draw_between(&fault->draw, 2, REORDER_MAX);
    step->attempt = true;
    shuffle(step, &fault->draw);
}

static void make_delay(struct fault *fault)
{
    begin(fault, ACTION_HOLD);
    struct plan_step *step = &fault->step;
    step->when = place_of_send(fault->survey, &fault->draw);
    step->count = draw_between(&fault->draw, 1, 3);
    step->attempt = true;
    if (draw_chance(&fault->draw, 50)) {
        step->release_ms = (uint32_t)draw_between(&fault->draw, 1, MS_MAX);
        return;
    }
    step->release.event = EVENT_CALL;
    step->release.rank = step->when.rank;
    step->release.nth = draw_between(&fault->draw, 1, 20);
}

static void make_jitter(struct fault *fault)
{
    begin(fault, ACTION_JITTER);
    fault->step.release_ms = (uint32_t)draw_between(&fault->draw, 1, JITTER_MS_MAX);
    fault->step.seed = draw_number(&fault->draw) >> 1;
}

/* --- choices ---------------------------------------------------------------------------------- */
static bool has_wildcards(const struct survey *survey)
{
    return survey_points(survey, wildcards) > 0;
}

static void make_choose(struct fault *fault)
{
    begin(fault, ACTION_CHOOSE);
    struct plan_step *step = &fault->step;
    step->when = place_of(fault->survey, &fault->draw, wildcards);
    do
        step->choice = draw_rank(fault);
    while (step->choice == step->when.rank && fault->survey->ranks > 1);
    if (has_lines(fault->survey) && draw_chance(&fault->draw, 40)) {
        step->when.nth = 1;
        place_state(fault->survey, &fault->draw, PLAN_ANY, false, &step->when);
    } else if (draw_chance(&fault->draw, 40)) {
        step->when.incarnation = 1;
        step->when.nth = draw_between(&fault->draw, 1, 4);
    }
}

static bool has_polls(const struct survey *survey)
{
    return survey_points(survey, app_polls) > 0;
}

/* "No" however often; "yes", or one request, once. */
static void make_answer(struct fault *fault)
{
    begin(fault, ACTION_ANSWER);
    struct plan_step *step = &fault->step;
    step->when = place_of(fault->survey, &fault->draw, app_polls);
    step->when.nth = draw_between(&fault->draw, 1, TIMES_MAX);
    bool one = strcmp(step->when.call, "MPI_Testany") == 0;
    bool some = strcmp(step->when.call, "MPI_Testsome") == 0;
    if (draw_chance(&fault->draw, 60)) {
        step->count = draw_between(&fault->draw, 1, TIMES_MAX);
    } else if (one || some) {
        step->orders = 1;
        step->order[0] = (int32_t)draw_below(&fault->draw, REQUESTS_MAX);
        step->choice = one ? step->order[0] : 0;
    } else {
        step->choice = 1;
    }
}

/* --- the store -------------------------------------------------------------------------------- */
static void make_fail(struct fault *fault)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT, EINTR};
    begin(fault, ACTION_FAIL);
    fault->step.when = place_of(fault->survey, &fault->draw, store);
    fault->step.choice = errors[draw_below(&fault->draw, sizeof errors / sizeof errors[0])];
}

static bool writes(const struct survey *survey)
{
    return survey_points(survey, store_writes) > 0;
}

static void make_write(struct fault *fault, enum plan_action action)
{
    begin(fault, action);
    fault->step.when = place_of(fault->survey, &fault->draw, store_writes);
    fault->step.count = draw_below(&fault->draw, BYTES_MAX);
}

static void make_short(struct fault *fault)
{
    make_write(fault, ACTION_SHORT);
}

static void make_tear(struct fault *fault)
{
    make_write(fault, ACTION_TEAR);
    fault->step.lose = draw_chance(&fault->draw, 50) ? LOSE_RANK : LOSE_NODE;
}

/* --- the plan --------------------------------------------------------------------------------- */
static const struct kind kinds[] = {
    {"kill", 6, always, make_kill},
    {"kill at commit", 4, commits, make_kill_at_commit},
    {"stop", 3, always, make_stop},
    {"hold control", 8, has_messages, make_hold_control},
    {"hold message", 4, has_channels, make_hold_message},
    {"crossing", 6, can_cross, make_crossing},
    {"reorder", 2, has_channels, make_reorder},
    {"delay", 2, has_channels, make_delay},
    {"jitter", 2, has_channels, make_jitter},
    {"choose", 4, has_wildcards, make_choose},
    {"answer", 3, has_polls, make_answer},
    {"fail", 2, steps_can_lose, make_fail},
    {"short", 2, writes, make_short},
    {"tear", 2, writes, make_tear},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

/* At least one; of the others each with even odds. */
static void draw_kinds(const struct survey *survey, struct draw *draw, unsigned weight[KINDS])
{
    unsigned possible[KINDS];
    for (size_t i = 0; i < KINDS; i++)
        possible[i] = kinds[i].is_possible(survey) ? kinds[i].weight : 0;
    unsigned first = draw_weighted(draw, possible, KINDS);
    for (size_t i = 0; i < KINDS; i++)
        weight[i] = i == first || draw_chance(draw, 50) ? possible[i] : 0;
}

static void add_word(char *name, const char *word)
{
    size_t used = strlen(name);
    if (used < STRATEGY_TEXT_BYTES)
        snprintf(name + used, STRATEGY_TEXT_BYTES - used, "%s%s", used > 0 ? ", " : "", word);
}

static unsigned kills(const struct plan *plan)
{
    unsigned count = 0;
    for (size_t i = 0; i < plan->count; i++)
        count += plan->steps[i].action == ACTION_KILL || plan->steps[i].action == ACTION_TEAR;
    return count;
}

/* Most mistakes show when somebody recovers, and recovery has its own. */
static enum error_code add_recovery(const struct survey *survey, uint64_t seed, uint64_t index,
                                    struct plan *plan, char *name, struct error *error)
{
    struct fault fault = {.survey = survey, .draw = draw_for(seed, index, PURPOSE_RECOVERY)};
    enum error_code code = OK;
    if (kills(plan) == 0 && commits(survey) && draw_chance(&fault.draw, 65)) {
        make_kill_at_commit(&fault);
        add_word(name, "kill at commit");
        code = plan_add(plan, &fault.step, error);
    }
    fault.lives = kills(plan);
    if (code != OK || fault.lives == 0 || !draw_chance(&fault.draw, 25))
        return code;
    make_kill_again(&fault);
    add_word(name, "kill again");
    return plan_add(plan, &fault.step, error);
}

static enum error_code make(const struct survey *survey, uint64_t seed, uint64_t index,
                            struct plan *plan, char name[STRATEGY_TEXT_BYTES], struct error *error)
{
    unsigned weight[KINDS];
    struct draw draw = draw_for(seed, index, PURPOSE_KINDS);
    enum error_code code = OK;
    name[0] = '\0';
    if (survey->count == 0 || survey->ranks < 1)
        return error_set(error, ERROR_LIMIT, "a run without events has nothing to aim at");
    draw_kinds(survey, &draw, weight);
    draw = draw_for(seed, index, PURPOSE_COUNT);
    uint64_t faults = draw_between(&draw, 1, FAULTS_MAX);
    for (uint64_t i = 0; code == OK && i < faults; i++) {
        struct fault fault = {.survey = survey,
                              .draw = draw_for(seed, index, PURPOSE_FAULT + (uint32_t)i)};
        const struct kind *kind = &kinds[draw_weighted(&fault.draw, weight, KINDS)];
        bool follows = draw_chance(&fault.draw, 25);
        kind->make(&fault);
        if (follows && plan->count > 0)
            fault.step.after = PLAN_AFTER_PREVIOUS;
        add_word(name, kind->word);
        code = plan_add(plan, &fault.step, error);
    }
    if (code == OK)
        code = add_recovery(survey, seed, index, plan, name, error);
    draw = draw_for(seed, index, PURPOSE_END);
    struct plan_step quiet = steps_quiet(draw_between(&draw, 1, (uint64_t)survey->ranks));
    return code == OK ? plan_add(plan, &quiet, error) : code;
}

static uint64_t count(const struct survey *survey)
{
    (void)survey;
    return STRATEGY_ENDLESS;
}

static void bounds(const struct survey *survey, char text[STRATEGY_TEXT_BYTES])
{
    (void)survey;
    snprintf(text, STRATEGY_TEXT_BYTES, "random plans of 1 to %d faults", FAULTS_MAX + 2);
}

const struct strategy strategy_random = {
    .name = "random",
    .help = "a few faults at a time, all drawn from the seed",
    .count = count,
    .make = make,
    .bounds = bounds,
};
