/* Everything, once: a list of families of plans, each with a number for every member. What differs
 * most comes first: kills at what the protocol itself says it does, then the store, then messages
 * kept across a line, then each call, then pairs. Inside a family the members come in an order that
 * is spread over it, so that a short campaign sees of each a little. */
#include "strategy/steps.h"
#include "strategy/strategy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define POINT_BYTES 96
/* Of a pair: the second rank dies at one of so many first phases of the second life. */
#define PAIR_PHASES 8

struct maker {
    const struct survey *survey;
    struct plan *plan;
    char *name; /* STRATEGY_TEXT_BYTES */
    struct error *error;
};

struct family {
    const char *what; /* for the bounds */
    uint64_t (*count)(const struct survey *survey);
    enum error_code (*make)(const struct maker *maker, uint64_t member);
};

static enum error_code add(const struct maker *maker, const struct plan_step *step)
{
    return plan_add(maker->plan, step, maker->error);
}

static const struct survey_filter phases = {.kind = SURVEY_PHASE, .event = EVENT_PHASE};
static const struct survey_filter notes = {.kind = SURVEY_NOTE};
static const struct survey_filter messages = {.kind = SURVEY_MESSAGE, .level = LEVEL_WIRE};
static const struct survey_filter calls = {.kind = SURVEY_CALL};
static const struct survey_filter store = {.kind = SURVEY_STORE};

/* One of `count` choices, taken out of the number of a member. */
static uint64_t take(uint64_t *number, uint64_t count)
{
    uint64_t taken = *number % count;
    *number /= count;
    return taken;
}

/* A kill of `rank` as soon as a line is committed. armed: by the step before it, else from the
 * start. */
static enum error_code add_kill_at_commit(const struct maker *maker, int32_t rank, int64_t line,
                                          bool armed)
{
    struct plan_step kill = steps_fault(ACTION_KILL);
    if (armed)
        kill.after = PLAN_AFTER_PREVIOUS;
    kill.when.event = EVENT_COMMIT;
    kill.when.epoch = line;
    steps_victim(&kill, rank);
    return add(maker, &kill);
}

/* --- one kill --------------------------------------------------------------------------------- */
/* The n-th (point, occurrence), from 0, of occurrences from `first` on. */
static const struct survey_point *occurrence(const struct survey *survey,
                                             struct survey_filter filter, uint64_t n,
                                             uint64_t first, uint64_t *nth)
{
    const struct survey_point *point;
    for (size_t i = 0; (point = survey_point(survey, filter, i)) != NULL; i++) {
        uint64_t there = point->count >= first ? point->count - first + 1 : 0;
        if (n < there) {
            *nth = first + n;
            return point;
        }
        n -= there;
    }
    return NULL;
}

static uint64_t count_occurrences(const struct survey *survey, struct survey_filter filter,
                                  uint64_t first)
{
    const struct survey_point *point;
    uint64_t count = 0;
    for (size_t i = 0; (point = survey_point(survey, filter, i)) != NULL; i++)
        if (point->count >= first)
            count += point->count - first + 1;
    return count;
}

static enum error_code make_kill(const struct maker *maker, const struct survey_point *point,
                                 uint64_t nth, bool after, enum plan_lose lose)
{
    char text[POINT_BYTES];
    struct plan_step kill = steps_fault(ACTION_KILL);
    int32_t rank = point->condition.rank;
    kill.when = steps_at(point, nth, after);
    kill.lose = (uint8_t)lose;
    steps_victim(&kill, rank);
    steps_describe(point, text, sizeof text);
    snprintf(maker->name, STRATEGY_TEXT_BYTES, "kill rank %d %s %s, no. %" PRIu64 "%s", rank,
             after ? "after" : "at", text, nth, lose == LOSE_NOTHING ? "" : ", power lost");
    return add(maker, &kill);
}

static uint64_t count_phases(const struct survey *survey)
{
    return survey_points(survey, phases);
}

static enum error_code make_phase(const struct maker *maker, uint64_t member)
{
    return make_kill(maker, survey_point(maker->survey, phases, member), 1, false, LOSE_NOTHING);
}

static uint64_t count_notes(const struct survey *survey)
{
    return count_occurrences(survey, notes, 1);
}

static enum error_code make_note(const struct maker *maker, uint64_t member)
{
    uint64_t nth = 1;
    const struct survey_point *point = occurrence(maker->survey, notes, member, 1, &nth);
    enum plan_lose lose = steps_can_lose(maker->survey) ? LOSE_NODE : LOSE_NOTHING;
    return make_kill(maker, point, nth, false, lose);
}

/* Before and after; a delivery has no before, but the second time its sender dies. */
static uint64_t count_messages(const struct survey *survey)
{
    return 2 * count_occurrences(survey, messages, 1);
}

static enum error_code make_message(const struct maker *maker, uint64_t member)
{
    char text[POINT_BYTES];
    uint64_t nth = 1;
    bool second = member % 2 != 0;
    const struct survey_point *point = occurrence(maker->survey, messages, member / 2, 1, &nth);
    if (point->condition.event == EVENT_SEND || !second)
        return make_kill(maker, point, nth, second, LOSE_NOTHING);
    struct plan_step kill = steps_fault(ACTION_KILL);
    kill.when = steps_at(point, nth, true);
    steps_victim(&kill, point->condition.peer);
    steps_describe(point, text, sizeof text);
    snprintf(maker->name, STRATEGY_TEXT_BYTES, "kill rank %d when rank %d has %s, no. %" PRIu64,
             point->condition.peer, point->condition.rank, text, nth);
    return add(maker, &kill);
}

static uint64_t count_later_phases(const struct survey *survey)
{
    return count_occurrences(survey, phases, 2);
}

static enum error_code make_later_phase(const struct maker *maker, uint64_t member)
{
    uint64_t nth = 2;
    const struct survey_point *point = occurrence(maker->survey, phases, member, 2, &nth);
    return make_kill(maker, point, nth, false, LOSE_NOTHING);
}

static uint64_t count_calls(const struct survey *survey)
{
    return count_occurrences(survey, calls, 1);
}

static enum error_code make_call(const struct maker *maker, uint64_t member)
{
    uint64_t nth = 1;
    const struct survey_point *point = occurrence(maker->survey, calls, member, 1, &nth);
    return make_kill(maker, point, nth, false, LOSE_NOTHING);
}

/* --- the store -------------------------------------------------------------------------------- */
/* What is done to a call; a rank dies at the next commit where nobody has died of it. */
enum store_fault { STORE_FAIL, STORE_SHORT, STORE_TEAR, STORE_KILL, STORE_KILL_AFTER };

#define STORE_FAULTS 3 /* of each call */

static enum store_fault store_fault_of(const struct survey_point *point, uint64_t number)
{
    static const enum store_fault of_write[] = {STORE_FAIL, STORE_SHORT, STORE_TEAR};
    static const enum store_fault of_others[] = {STORE_FAIL, STORE_KILL, STORE_KILL_AFTER};
    return point->condition.event == EVENT_WRITE ? of_write[number] : of_others[number];
}

static uint64_t count_store(const struct survey *survey)
{
    return STORE_FAULTS * count_occurrences(survey, store, 1);
}

static enum error_code make_store_fault(const struct maker *maker, const struct survey_point *point,
                                        uint64_t nth, enum store_fault fault)
{
    static const char *const what[] = {
        [STORE_FAIL] = "fails, later a kill",
        [STORE_SHORT] = "is short, later a kill",
        [STORE_TEAR] = "is torn, power lost",
    };
    static const enum plan_action action[] = {
        [STORE_FAIL] = ACTION_FAIL, [STORE_SHORT] = ACTION_SHORT, [STORE_TEAR] = ACTION_TEAR};
    char text[POINT_BYTES];
    struct plan_step step = steps_fault(action[fault]);
    step.when = steps_at(point, nth, false);
    if (fault == STORE_FAIL)
        step.choice = point->condition.event == EVENT_WRITE ? ENOSPC : EIO;
    if (fault == STORE_TEAR)
        step.lose = LOSE_NODE;
    steps_describe(point, text, sizeof text);
    snprintf(maker->name, STRATEGY_TEXT_BYTES, "rank %d %s, no. %" PRIu64 ": %s",
             point->condition.rank, text, nth, what[fault]);
    enum error_code code = add(maker, &step);
    if (code == OK && fault != STORE_TEAR)
        code = add_kill_at_commit(maker, point->condition.rank, -1, true);
    return code;
}

static enum error_code make_store(const struct maker *maker, uint64_t member)
{
    uint64_t nth = 1, number = take(&member, STORE_FAULTS);
    const struct survey_point *point = occurrence(maker->survey, store, member, 1, &nth);
    enum store_fault fault = store_fault_of(point, number);
    if (fault == STORE_KILL || fault == STORE_KILL_AFTER)
        return make_kill(maker, point, nth, fault == STORE_KILL_AFTER, LOSE_NODE);
    return make_store_fault(maker, point, nth, fault);
}

/* --- cells: where a message is sent, where its receiver stands then, and where it delivers ---- */
struct cell {
    enum plan_region sender;
    enum plan_region receiver;
    enum plan_region delivery; /* not before `receiver` */
    int64_t line;
    int32_t from;
    int32_t to;
    bool kill;
};

/* Of r regions: pairs (receiver, delivery) in their order. */
static uint64_t stays(unsigned regions)
{
    return (uint64_t)regions * (regions + 1) / 2;
}

static bool is_program_send(const struct survey_point *point)
{
    return point->kind == SURVEY_CHANNEL && point->condition.event == EVENT_SEND &&
           point->condition.level == LEVEL_APP && point->condition.peer != point->condition.rank;
}

/* Points are sorted, so tags of the same pair need not stand together: a pair is counted at its
 * first point. */
static bool is_new_pair(const struct survey *survey, size_t at)
{
    const struct plan_condition *c = &survey->point[at].condition;
    if (!is_program_send(&survey->point[at]))
        return false;
    for (size_t i = 0; i < at; i++)
        if (is_program_send(&survey->point[i]) && survey->point[i].condition.rank == c->rank &&
            survey->point[i].condition.peer == c->peer)
            return false;
    return true;
}

static uint64_t count_pairs_of_ranks(const struct survey *survey)
{
    uint64_t pairs = 0;
    for (size_t i = 0; i < survey->count; i++)
        pairs += is_new_pair(survey, i);
    return pairs;
}

static uint64_t count_cells(const struct survey *survey)
{
    unsigned regions = steps_regions(survey);
    return 2 * stays(regions) * regions * (uint64_t)survey->lines * count_pairs_of_ranks(survey);
}

static struct cell cell_of(const struct survey *survey, uint64_t member)
{
    unsigned regions = steps_regions(survey);
    struct cell cell = {.from = 0};
    cell.sender = (enum plan_region)(REGION_BEFORE + take(&member, regions));
    uint64_t stay = take(&member, stays(regions));
    cell.receiver = REGION_BEFORE;
    for (uint64_t left = regions; stay >= left; left--) {
        stay -= left;
        cell.receiver++;
    }
    cell.delivery = (enum plan_region)(cell.receiver + stay);
    cell.kill = take(&member, 2) != 0;
    cell.line = (int64_t)take(&member, (uint64_t)survey->lines) + 1;
    for (size_t i = 0; i < survey->count; i++)
        if (is_new_pair(survey, i) && member-- == 0) {
            cell.from = survey->point[i].condition.rank;
            cell.to = survey->point[i].condition.peer;
            break;
        }
    return cell;
}

static enum error_code make_cell(const struct maker *maker, uint64_t member)
{
    struct cell cell = cell_of(maker->survey, member);
    struct plan_step hold = steps_fault(ACTION_HOLD);
    hold.when.event = EVENT_SEND;
    hold.when.rank = cell.from;
    hold.when.peer = cell.to;
    steps_state(&hold.when, PLAN_ANY, cell.sender, cell.line);
    steps_state(&hold.when, cell.to, cell.receiver, cell.line);
    steps_state(&hold.release, cell.to, cell.delivery, cell.line);
    hold.attempt = true;
    snprintf(maker->name, STRATEGY_TEXT_BYTES,
             "line %" PRId64 ": message %d to %d sent %s to %s, delivered %s%s", cell.line,
             cell.from, cell.to, steps_region_text(cell.sender), steps_region_text(cell.receiver),
             steps_region_text(cell.delivery), cell.kill ? ", kill at the commit" : "");
    enum error_code code = add(maker, &hold);
    if (code == OK && cell.kill)
        code = add_kill_at_commit(maker, cell.to, cell.line, false);
    return code;
}

/* --- orders: a message of the protocol's own is kept until some rank stands before it --------- */
static bool is_own_send(const struct survey_point *point)
{
    return point->kind == SURVEY_MESSAGE && point->condition.event == EVENT_SEND;
}

/* Released when any of the ranks is in one of the regions after the line. */
static uint64_t orders_of_one(const struct survey *survey)
{
    unsigned regions = steps_regions(survey);
    return regions < 2 ? 0 : 2 * (uint64_t)survey->ranks * (regions - 1);
}

static uint64_t count_orders(const struct survey *survey)
{
    uint64_t count = 0;
    for (size_t i = 0; i < survey->count; i++)
        if (is_own_send(&survey->point[i]))
            count += survey->point[i].count;
    return survey->lines > 0 ? count * orders_of_one(survey) : 0;
}

static enum error_code make_order(const struct maker *maker, uint64_t member)
{
    const struct survey *survey = maker->survey;
    char text[POINT_BYTES];
    bool kill = take(&member, 2) != 0;
    int32_t rank = (int32_t)take(&member, (uint64_t)survey->ranks);
    enum plan_region region =
        (enum plan_region)(REGION_LOGGING + take(&member, steps_regions(survey) - 1));
    size_t at = 0;
    while (!is_own_send(&survey->point[at]) || member >= survey->point[at].count) {
        member -= is_own_send(&survey->point[at]) ? survey->point[at].count : 0;
        at++;
    }
    /* The n-th of its kind on its way belongs to the n-th line. */
    int64_t line = (int64_t)member < survey->lines ? (int64_t)member + 1 : survey->lines;
    struct plan_step hold = steps_fault(ACTION_HOLD);
    hold.when = steps_at(&survey->point[at], member + 1, false);
    steps_state(&hold.release, rank, region, line);
    hold.attempt = true;
    steps_describe(&survey->point[at], text, sizeof text);
    snprintf(maker->name, STRATEGY_TEXT_BYTES,
             "keep rank %d %s, no. %" PRIu64 " until rank %d is %s%s", hold.when.rank, text,
             hold.when.nth, rank, steps_region_text(region), kill ? ", kill at the commit" : "");
    enum error_code code = add(maker, &hold);
    if (code == OK && kill)
        code = add_kill_at_commit(maker, hold.when.peer, line, false);
    return code;
}

/* --- two kills: the second in the recovery from the first ------------------------------------- */
static uint64_t count_two_kills(const struct survey *survey)
{
    return count_phases(survey) * (uint64_t)survey->ranks * PAIR_PHASES;
}

static enum error_code make_two_kills(const struct maker *maker, uint64_t member)
{
    int32_t rank = (int32_t)take(&member, (uint64_t)maker->survey->ranks);
    uint64_t nth = take(&member, PAIR_PHASES) + 1;
    const struct survey_point *first = survey_point(maker->survey, phases, member);
    enum error_code code = make_kill(maker, first, first->count, false, LOSE_NOTHING);
    struct plan_step second = plan_step_default(ACTION_KILL);
    second.when.event = EVENT_PHASE;
    second.when.rank = rank;
    second.when.incarnation = 1;
    second.when.nth = nth;
    steps_victim(&second, rank);
    size_t used = strlen(maker->name);
    snprintf(maker->name + used, STRATEGY_TEXT_BYTES - used,
             ", then rank %d at phase no. %" PRIu64 " of the second life", rank, nth);
    return code != OK ? code : add(maker, &second);
}

/* --- all of them ------------------------------------------------------------------------------ */
static const struct family families[] = {
    {"kills at phases", count_phases, make_phase},
    {"at notes", count_notes, make_note},
    {"at messages", count_messages, make_message},
    {"storage faults", count_store, make_store},
    {"cells", count_cells, make_cell},
    {"kept messages", count_orders, make_order},
    {"at later phases", count_later_phases, make_later_phase},
    {"at calls", count_calls, make_call},
    {"pairs of kills", count_two_kills, make_two_kills},
};
#define FAMILIES (sizeof families / sizeof families[0])

static uint64_t count_all(const struct survey *survey)
{
    uint64_t count = 0;
    for (size_t i = 0; i < FAMILIES; i++)
        count += families[i].count(survey);
    return count;
}

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b != 0) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* The members in another order, each once: steps of about the golden section. */
static uint64_t spread(uint64_t member, uint64_t count)
{
    uint64_t stride = (uint64_t)((double)count * 0.618);
    while (stride < 1 || common_divisor(stride, count) != 1)
        stride++;
    return (uint64_t)((unsigned __int128)member * stride % count);
}

static enum error_code make(const struct survey *survey, uint64_t seed, uint64_t index,
                            struct plan *plan, char name[STRATEGY_TEXT_BYTES], struct error *error)
{
    struct maker maker = {survey, plan, name, error};
    uint64_t member = index;
    (void)seed;
    for (size_t i = 0; i < FAMILIES; i++) {
        uint64_t count = families[i].count(survey);
        if (member < count) {
            struct plan_step quiet = steps_quiet(steps_finalizing(survey));
            enum error_code code = families[i].make(&maker, spread(member, count));
            steps_clean_name(name);
            return code == OK ? add(&maker, &quiet) : code;
        }
        member -= count;
    }
    return error_set(error, ERROR_LIMIT, "there are %" PRIu64 " systematic plans, not %" PRIu64,
                     count_all(survey), index + 1);
}

static void bounds(const struct survey *survey, char text[STRATEGY_TEXT_BYTES])
{
    size_t used = 0;
    text[0] = '\0';
    for (size_t i = 0; i < FAMILIES && used < STRATEGY_TEXT_BYTES; i++)
        used += (size_t)snprintf(text + used, STRATEGY_TEXT_BYTES - used, "%s%" PRIu64 " %s",
                                 i > 0 ? ", " : "", families[i].count(survey), families[i].what);
}

const struct strategy strategy_systematic = {
    .name = "systematic",
    .help = "every place once, what differs most first",
    .count = count_all,
    .make = make,
    .bounds = bounds,
};
