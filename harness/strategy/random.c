/* A few faults, drawn. Of the kinds of fault a plan may have, each is switched off in about half of
 * all plans, so that each run is extreme in its own way ("swarm testing": Groce, Zhang, Eide, Chen,
 * Regehr, ISSTA 2012); of one that has all, the kinds would keep each other from going far. Every
 * fault has draws of its own: what one is does not change the next.
 *
 * What a plan asks for need not happen. Holds and stops are attempts: that the job could not go on
 * without what they keep is no fault of theirs. */
#include "strategy/random_fault.h"
#include "strategy/strategy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FAULTS_MAX 4
#define MS_MAX 10
#define BYTES_MAX 400 /* of a short or torn write */
#define TIMES_MAX 20
#define REQUESTS_MAX 3    /* an index among a few requests */
#define FOLLOWED_LEAST 10 /* of events that a step after another waits for */
#define FOLLOW_NTH 2

/* What draws are for: so one more for one purpose moves none of another. */
enum purpose {
    PURPOSE_KINDS,
    PURPOSE_COUNT,
    PURPOSE_RECOVERY,
    PURPOSE_END,
    PURPOSE_FAULT,
    PURPOSE_VARIED = 1000
};

static const struct survey_filter wildcards = {.kind = SURVEY_WILDCARD};
static const struct survey_filter app_polls = {.kind = SURVEY_POLL};
static const struct survey_filter store = {.kind = SURVEY_STORE};
static const struct survey_filter store_writes = {.kind = SURVEY_STORE, .event = EVENT_WRITE};

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

int32_t fault_rank(struct fault *fault)
{
    return (int32_t)draw_below(&fault->draw, (uint64_t)fault->survey->ranks);
}

void fault_begin(struct fault *fault, enum plan_action action)
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
    fault_begin(fault, ACTION_KILL);
    fault->step.when = place_anywhere(fault->survey, &fault->draw);
    bool own = fault->step.when.rank != PLAN_ANY && draw_chance(&fault->draw, 60);
    steps_victim(&fault->step, own ? fault->step.when.rank : fault_rank(fault));
    while (draw_chance(&fault->draw, 15))
        steps_victim(&fault->step, fault_rank(fault));
    lose(fault, 30);
}

/* In what comes after a first death: the same rank or another, early or late in its recovery. */
static void make_repeated_kill(struct fault *fault)
{
    fault_begin(fault, ACTION_KILL);
    bool first = draw_chance(&fault->draw, 70);
    int32_t life = first ? 1 : (int32_t)draw_between(&fault->draw, 1, fault->lives);
    fault->step.when = place_in_recovery(fault->survey, &fault->draw, life);
    steps_victim(&fault->step, fault->step.when.rank);
    lose(fault, 20);
}

static bool has_lines(const struct survey *survey)
{
    return survey_has_note(survey, EVENT_CHECKPOINT);
}

/* After a commit everything has to be there. */
static void make_kill_at_commit(struct fault *fault)
{
    fault_begin(fault, ACTION_KILL);
    fault->step.when.event = EVENT_COMMIT;
    fault->step.when.epoch = place_line(fault->survey, &fault->draw);
    steps_victim(&fault->step, fault_rank(fault));
    lose(fault, 30);
}

static bool commits(const struct survey *survey)
{
    return survey->lines > 0;
}

/* --- letting go ------------------------------------------------------------------------------- */
void fault_let_go(struct fault *fault, struct plan_step *step, int32_t receiver)
{
    struct draw *draw = &fault->draw;
    unsigned kind = (unsigned)draw_below(draw, has_lines(fault->survey) ? 5 : 2);
    step->attempt = true;
    if (kind == 0) {
        step->release_ms = (uint32_t)draw_between(draw, 1, MS_MAX);
    } else if (kind == 1) {
        step->release = place_anywhere(fault->survey, draw);
    } else if (kind == 2 || receiver == PLAN_ANY) {
        place_state(fault->survey, draw, fault_rank(fault), true, &step->release);
    } else if (kind == 3) {
        place_state(fault->survey, draw, receiver, true, &step->release);
    } else {
        step->release = place_of_program(fault->survey, draw, receiver);
        place_state(fault->survey, draw, fault_rank(fault), false, &step->release);
    }
}

static void make_stop(struct fault *fault)
{
    fault_begin(fault, ACTION_STOP);
    fault->step.when = place_anywhere(fault->survey, &fault->draw);
    steps_victim(&fault->step, fault_rank(fault));
    fault_let_go(fault, &fault->step, PLAN_ANY);
}

/* --- choices ---------------------------------------------------------------------------------- */
static bool has_wildcards(const struct survey *survey)
{
    return survey_points(survey, wildcards) > 0 && survey_is_passed_on(survey);
}

static const struct survey_filter app_deliveries = {SURVEY_CHANNEL, LEVEL_APP, EVENT_DELIVER};

static bool may_match(const struct plan_condition *receive, const struct plan_condition *message)
{
    return receive->rank == message->rank && receive->comm == message->comm &&
           (receive->peer == PLAN_ANY || receive->peer == message->peer) &&
           (receive->tag == PLAN_ANY || receive->tag == message->tag);
}

/* One of those that such messages came from. */
static int32_t draw_source(struct fault *fault, const struct plan_condition *receive)
{
    struct survey_filter deliveries = app_deliveries;
    size_t count = 0;
    deliveries.level = receive->level;
    size_t channels = survey_points(fault->survey, deliveries);
    int32_t source = receive->peer != PLAN_ANY ? receive->peer : fault_rank(fault);
    for (size_t i = 0; i < channels; i++) {
        const struct survey_point *point = survey_point(fault->survey, deliveries, i);
        if (may_match(receive, &point->condition) && draw_below(&fault->draw, ++count) == 0)
            source = point->condition.peer;
    }
    return source;
}

static void make_choose(struct fault *fault)
{
    fault_begin(fault, ACTION_CHOOSE);
    struct plan_step *step = &fault->step;
    step->when = place_of(fault->survey, &fault->draw, wildcards);
    step->choice = draw_source(fault, &step->when);
    if (has_lines(fault->survey) && draw_chance(&fault->draw, 25)) {
        step->when.nth = 1;
        place_state(fault->survey, &fault->draw, PLAN_ANY, false, &step->when);
    } else if (commits(fault->survey) && draw_chance(&fault->draw, 40)) {
        step->when.incarnation = 1; /* add_recovery sees to it that there is one */
        step->when.nth = draw_between(&fault->draw, 1, 4);
    }
}

static const struct survey_filter app_calls = {.kind = SURVEY_CALL};

static bool completes_some(const struct survey_point *point)
{
    const char *call = point->condition.call;
    return strcmp(call, "MPI_Waitany") == 0 || strcmp(call, "MPI_Waitsome") == 0;
}

/* The n-th of the calls that wait for one of many requests, from 0; NULL: there are not so many. */
static const struct survey_point *wait_for_some(const struct survey *survey, size_t n)
{
    const struct survey_point *point;
    for (size_t i = 0; (point = survey_point(survey, app_calls, i)) != NULL; i++)
        if (completes_some(point) && n-- == 0)
            return point;
    return NULL;
}

static size_t waits_for_some(const struct survey *survey)
{
    size_t count = 0;
    while (wait_for_some(survey, count) != NULL)
        count++;
    return count;
}

static bool has_answers(const struct survey *survey)
{
    return (survey_points(survey, app_polls) > 0 || waits_for_some(survey) > 0) &&
           survey_is_passed_on(survey);
}

/* These requests: more often the first, which is there whatever has been completed before. */
static void answer_with_request(struct fault *fault, bool one)
{
    struct plan_step *step = &fault->step;
    uint64_t index = draw_chance(&fault->draw, 75) ? 0 : draw_below(&fault->draw, REQUESTS_MAX);
    step->orders = 1;
    step->order[0] = (int32_t)index;
    step->choice = one ? step->order[0] : 0;
}

/* MPI_Waitany or MPI_Waitsome: which request. */
static void make_answer_of_wait(struct fault *fault, size_t number)
{
    struct plan_step *step = &fault->step;
    const struct survey_point *point = wait_for_some(fault->survey, number);
    step->when = point->condition;
    step->when.event = EVENT_WAIT;
    step->when.nth = draw_between(&fault->draw, 1, point->count);
    answer_with_request(fault, strcmp(step->when.call, "MPI_Waitany") == 0);
}

/* How often a call polls depends on timing, so the number is drawn from the first half of what was
 * seen. */
static uint64_t draw_poll(struct fault *fault, const struct survey_point *point)
{
    uint64_t most = (point->seen + 1) / 2;
    return draw_between(&fault->draw, 1, most < TIMES_MAX ? most : TIMES_MAX);
}

/* "No" however often; "yes", or one request, once. */
static void make_answer(struct fault *fault)
{
    const struct survey *survey = fault->survey;
    size_t polls = survey_points(survey, app_polls), waits = waits_for_some(survey);
    size_t number = draw_below(&fault->draw, polls + waits);
    fault_begin(fault, ACTION_ANSWER);
    if (number >= polls) {
        make_answer_of_wait(fault, number - polls);
        return;
    }
    struct plan_step *step = &fault->step;
    const struct survey_point *point = survey_point(survey, app_polls, number);
    step->when = point->condition;
    step->when.nth = draw_poll(fault, point);
    bool one = strcmp(step->when.call, "MPI_Testany") == 0;
    bool some = strcmp(step->when.call, "MPI_Testsome") == 0;
    if (draw_chance(&fault->draw, 60))
        step->count = draw_between(&fault->draw, 1, TIMES_MAX);
    else if (one || some)
        answer_with_request(fault, one);
    else
        step->choice = 1;
}

/* --- the store -------------------------------------------------------------------------------- */
static void make_fail(struct fault *fault)
{
    static const int errors[] = {ENOSPC, EIO, EDQUOT, EINTR};
    fault_begin(fault, ACTION_FAIL);
    fault->step.when = place_of(fault->survey, &fault->draw, store);
    fault->step.choice = errors[draw_below(&fault->draw, sizeof errors / sizeof errors[0])];
}

static bool writes(const struct survey *survey)
{
    return survey_points(survey, store_writes) > 0;
}

/* Fewer than there are to be written: else nothing is short or torn. */
static void make_write(struct fault *fault, enum plan_action action)
{
    fault_begin(fault, action);
    const struct survey_point *point = place_point(fault->survey, &fault->draw, store_writes);
    uint64_t most = point->bytes < BYTES_MAX ? point->bytes : BYTES_MAX;
    fault->step.when = place_at(fault->survey, point, &fault->draw);
    fault->step.count = draw_below(&fault->draw, most);
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
    {"hold control", 7, fault_has_messages, fault_hold_control},
    {"lag", 5, fault_has_triggers, fault_lag},
    {"hold message", 3, fault_has_channels, fault_hold_message},
    {"crossing", 6, fault_can_cross, fault_crossing},
    {"reorder", 1, fault_has_channels, fault_reorder},
    {"delay", 2, fault_has_channels, fault_delay},
    {"jitter", 2, fault_has_channels, fault_jitter},
    {"choose", 4, has_wildcards, make_choose},
    {"answer", 3, has_answers, make_answer},
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

/* Some step waits for a life after the first. */
static bool needs_recovery(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].when.incarnation > 0)
            return true;
    return false;
}

/* Most mistakes show when somebody recovers, and recovery has its own. */
static enum error_code add_recovery(const struct survey *survey, uint64_t seed, uint64_t index,
                                    struct plan *plan, char *name, struct error *error)
{
    struct fault fault = {.survey = survey, .draw = draw_for(seed, index, PURPOSE_RECOVERY)};
    enum error_code code = OK;
    unsigned percent = needs_recovery(plan) ? 100 : 65;
    if (kills(plan) == 0 && commits(survey) && draw_chance(&fault.draw, percent)) {
        make_kill_at_commit(&fault);
        add_word(name, "kill at commit");
        code = plan_add(plan, &fault.step, error);
    }
    fault.lives = kills(plan);
    if (code != OK || fault.lives == 0 || !draw_chance(&fault.draw, 25))
        return code;
    make_repeated_kill(&fault);
    add_word(name, "kill again");
    return plan_add(plan, &fault.step, error);
}

/* What it waits for comes often: when the step before it is done there will be more. */
static bool can_follow(const struct survey *survey, const struct fault *fault)
{
    const struct plan_condition *when = &fault->step.when;
    uint64_t seen = 0;
    if (fault->has_helper || when->states > 0 || when->epoch >= 0 || when->file[0] != '\0')
        return false;
    for (size_t i = 0; i < survey->count; i++) {
        const struct plan_condition *point = &survey->point[i].condition;
        if (point->event == when->event && point->level == when->level &&
            (when->rank == PLAN_ANY || point->rank == when->rank) &&
            strcmp(point->call, when->call) == 0 && strcmp(point->name, when->name) == 0 &&
            strcmp(point->message, when->message) == 0 && strcmp(point->file, when->file) == 0)
            seen += survey->point[i].count;
    }
    return seen >= FOLLOWED_LEAST || fault->step.action == ACTION_JITTER;
}

/* After the step before it: soon. */
static void follow(struct fault *fault)
{
    fault->step.after = PLAN_AFTER_PREVIOUS;
    if (fault->step.when.nth > FOLLOW_NTH)
        fault->step.when.nth = FOLLOW_NTH;
}

static enum error_code add_fault(struct plan *plan, const struct fault *fault, struct error *error)
{
    enum error_code code = fault->has_helper ? plan_add(plan, &fault->helper, error) : OK;
    return code == OK ? plan_add(plan, &fault->step, error) : code;
}

/* Of two jitters the first delays nothing: messages go by the second. */
static void leave_out(unsigned weight[KINDS], size_t drawn)
{
    unsigned others = 0;
    for (size_t i = 0; i < KINDS; i++)
        others += i != drawn ? weight[i] : 0;
    if (kinds[drawn].make == fault_jitter && others > 0)
        weight[drawn] = 0;
}

/* Whose draws a plan is made of: its own, and for one fault those of another plan. */
struct origin {
    uint64_t seed, index, other;
};

static enum error_code make_early(const struct survey *survey, const struct origin *origin,
                                  struct plan *plan, char *name, struct error *error)
{
    unsigned weight[KINDS];
    uint64_t seed = origin->seed, index = origin->index;
    struct draw draw = draw_for(seed, index, PURPOSE_KINDS);
    enum error_code code = OK;
    draw_kinds(survey, &draw, weight);
    draw = draw_for(seed, index, PURPOSE_COUNT);
    uint64_t faults = draw_between(&draw, 1, FAULTS_MAX);
    draw = draw_for(seed, origin->other, PURPOSE_VARIED);
    uint64_t varied = draw_below(&draw, faults);
    for (uint64_t i = 0; code == OK && i < faults; i++) {
        struct fault fault = {.survey = survey,
                              .draw = draw_for(seed, i == varied ? origin->other : index,
                                               PURPOSE_FAULT + (uint32_t)i),
                              .lives = kills(plan)};
        size_t drawn = draw_weighted(&fault.draw, weight, KINDS);
        const struct kind *kind = &kinds[drawn];
        bool follows = draw_chance(&fault.draw, 25);
        kind->make(&fault);
        if (follows && plan->count > 0 && can_follow(survey, &fault))
            follow(&fault);
        add_word(name, kind->word);
        code = add_fault(plan, &fault, error);
        leave_out(weight, drawn);
    }
    return code == OK ? add_recovery(survey, seed, index, plan, name, error) : code;
}

enum error_code strategy_make_varied(const struct survey *survey, uint64_t seed, uint64_t index,
                                     uint64_t other, struct plan *plan,
                                     char name[STRATEGY_TEXT_BYTES], struct error *error)
{
    struct survey early;
    struct origin origin = {seed, index, other};
    name[0] = '\0';
    survey_before_end(survey, &early);
    enum error_code code =
        early.count > 0 && early.ranks >= 1
            ? make_early(&early, &origin, plan, name, error)
            : error_set(error, ERROR_LIMIT, "a run without events has nothing to aim at");
    free(early.point);
    struct draw draw = draw_for(seed, index, PURPOSE_END);
    struct plan_step quiet = steps_quiet(draw_between(&draw, 1, steps_finalizing(survey)));
    return code == OK ? plan_add(plan, &quiet, error) : code;
}

static enum error_code make(const struct survey *survey, uint64_t seed, uint64_t index,
                            struct plan *plan, char name[STRATEGY_TEXT_BYTES], struct error *error)
{
    return strategy_make_varied(survey, seed, index, index, plan, name, error);
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

#define OF_RANDOM_PLANS .count = count, .make = make, .bounds = bounds

const struct strategy strategy_random = {
    .name = "random",
    .help = "a few faults at a time, all drawn from the seed",
    OF_RANDOM_PLANS,
};

const struct strategy strategy_pct = {
    .name = "pct",
    .help = "the plans of random; on the step engine, ranks go by priorities with few changes",
    .policy = "pct",
    OF_RANDOM_PLANS,
};

const struct strategy strategy_swarm = {
    .name = "swarm",
    .help = "the plans of random; on the step engine, each run without some kinds of decisions",
    .policy = "swarm",
    OF_RANDOM_PLANS,
};

const struct strategy strategy_skewed = {
    .name = "skewed",
    .help = "the plans of random; on the step engine, some go far ahead of others for a while",
    .policy = "skewed",
    OF_RANDOM_PLANS,
};

const struct strategy strategy_bursts = {
    .name = "bursts",
    .help = "the plans of random; on the step engine, a rank goes on for long before another does",
    .policy = "bursts",
    OF_RANDOM_PLANS,
};

const struct strategy strategy_guided = {
    .name = "guided",
    .help = "runs that brought a new situation of a claim, with another end or another fault",
    .policy = "guided",
    .guided = true,
    OF_RANDOM_PLANS,
};

/* Of all strategies the one that finds most of the broken variants, by `make study`: its table is
 * in suites/campaign/README.md. */
const struct strategy strategy_auto = {
    .name = "auto",
    .help = "what has found most mistakes: pct on the step engine, random elsewhere",
    .policy = "pct",
    .any_engine = true,
    OF_RANDOM_PLANS,
};
