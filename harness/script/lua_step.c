/* See lua_step.h. What each method is given, and what it takes a condition for that does not say:
 * the other direction of actions.lua and condition.lua. */
#include "script/lua_step.h"

#include "plan/action.h"
#include "plan/field.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#define ID_BYTES 16
#define SEED_BYTES 32

/* What is known where a condition stands, and so is not said again. */
struct place {
    enum plan_event implied; /* the event where none is named */
    const char *rank, *peer; /* what these two are called */
    int32_t said;            /* `rank` stands there already, with this number; or PLAN_ANY */
    bool no_call;            /* it stands there already */
};

static const struct place elsewhere = {EVENT_NONE, "rank", "peer", PLAN_ANY, false};

/* --- single fields ---------------------------------------------------------------------------- */

static void put_number(struct lua_table *table, const char *name, int64_t number)
{
    lua_table_name(table, name);
    lua_table_number(table, number);
}

static void put_given(struct lua_table *table, const char *name, int32_t number)
{
    if (number != PLAN_ANY)
        put_number(table, name, number);
}

static void put_text(struct lua_table *table, const char *name, const char *text)
{
    if (text[0] == '\0')
        return;
    lua_table_name(table, name);
    lua_table_text(table, text);
}

static void put_true(struct lua_table *table, const char *name, bool truth)
{
    if (!truth)
        return;
    lua_table_name(table, name);
    lua_table_word(table, "true");
}

static void put_list(struct lua_table *table, const char *name, const int32_t *number,
                     uint32_t count)
{
    lua_table_name(table, name);
    lua_table_open(table);
    for (uint32_t i = 0; i < count && i < PLAN_MAX_VICTIMS; i++)
        put_number(table, NULL, number[i]);
    lua_table_close(table);
}

static void put_communicator(struct lua_table *table, uint32_t id)
{
    char text[ID_BYTES];
    snprintf(text, sizeof text, "%" PRIx32, id);
    put_text(table, "comm", id == COMM_WORLD_ID ? "world" : id == COMM_SELF_ID ? "self" : text);
}

/* Hexadecimal where it is long, for its digits mean nothing; Lua takes all 64 bits. */
static void put_seed(struct lua_table *table, uint64_t seed)
{
    char text[SEED_BYTES];
    snprintf(text, sizeof text, seed <= UINT16_MAX ? "%" PRIu64 : "0x%" PRIx64, seed);
    lua_table_name(table, "seed");
    lua_table_word(table, text);
}

/* --- states ----------------------------------------------------------------------------------- */

static void put_region(struct lua_table *table, const struct plan_state *state)
{
    static const char *const regions[] = {"", "before", "logging", "beyond"};
    if (state->region == REGION_ANY)
        return;
    put_text(table, "region", regions[state->region % 4]);
    put_number(table, "line", state->line);
}

/* Without an event a state means the rank of the condition by its number. */
static int32_t rank_of_state(const struct plan_condition *when, const struct plan_state *state)
{
    return when->event == EVENT_NONE && state->rank == PLAN_ANY ? when->rank : state->rank;
}

static void put_state(struct lua_table *table, const struct plan_condition *when, uint32_t index)
{
    put_given(table, "rank", rank_of_state(when, &when->state[index]));
    put_region(table, &when->state[index]);
    put_text(table, "blocked", when->state[index].blocked);
}

/* Those from `first` on. */
static void put_states(struct lua_table *table, const struct plan_condition *when, uint32_t first)
{
    if (first >= when->states)
        return;
    lua_table_name(table, "state");
    lua_table_open(table);
    for (uint32_t i = first; i < when->states && i < PLAN_MAX_STATES; i++) {
        bool several = when->states - first > 1;
        if (several) {
            lua_table_name(table, NULL);
            lua_table_open(table);
        }
        put_state(table, when, i);
        if (several)
            lua_table_close(table);
    }
    lua_table_close(table);
}

/* The first state may be said by `region` and `line` of the condition itself: it must be that of
 * the rank which the condition names. */
static bool first_is_own(const struct plan_condition *when, const struct place *place)
{
    const struct plan_state *state = &when->state[0];
    if (when->states == 0 || state->region == REGION_ANY || state->blocked[0] != '\0')
        return false;
    if (when->event != EVENT_NONE)
        return state->rank == PLAN_ANY;
    return place->said == PLAN_ANY || place->said == rank_of_state(when, state);
}

/* --- conditions ------------------------------------------------------------------------------- */

/* What follows from the rest is not said. */
static bool is_implied(const char *name, const struct plan_condition *when,
                       const struct place *place)
{
    if (strcmp(name, "event") == 0)
        return when->event == place->implied ||
               (when->event == EVENT_CALL && when->call[0] != '\0');
    if (strcmp(name, "rank") == 0)
        return place->said != PLAN_ANY;
    if (strcmp(name, "call") == 0)
        return place->no_call;
    if (strcmp(name, "level") == 0)
        return when->message[0] != '\0';
    return strcmp(name, "position") == 0 && when->event == EVENT_DELIVER;
}

/* The field of a step or condition, whose name there is `name`. */
static void put_field(struct lua_table *table, const struct plan_field *field, const char *name,
                      const void *whole)
{
    const char *value = (const char *)whole + field->offset;
    int64_t number = plan_field_number(field, whole);
    switch (field->form) {
    case FORM_EVENT:
        put_text(table, name, plan_event_text((enum plan_event)number));
        break;
    case FORM_WORD:
        put_text(table, name, field->words->text[(size_t)number % field->words->count]);
        break;
    case FORM_YES:
        put_true(table, name, number != 0);
        break;
    case FORM_COMM:
        put_communicator(table, (uint32_t)number);
        break;
    case FORM_NAME:
        put_text(table, name, value);
        break;
    case FORM_LIST:
        put_list(table, name, (const int32_t *)(const void *)value, (uint32_t)number);
        break;
    default:
        put_number(table, name, number);
    }
}

static void put_named(struct lua_table *table, const char *name, const struct plan_condition *when,
                      const struct place *place)
{
    struct plan_condition plain = plan_step_default(ACTION_AWAIT).when;
    const struct plan_field *field = plan_condition_field(name);
    const char *as = strcmp(name, "rank") == 0   ? place->rank
                     : strcmp(name, "peer") == 0 ? place->peer
                                                 : name;
    if (!plan_field_is_plain(field, when, &plain) && !is_implied(name, when, place))
        put_field(table, field, as, when);
}

/* What a person names first, then all else. */
static void put_event(struct lua_table *table, const struct plan_condition *when,
                      const struct place *place)
{
    put_named(table, "message", when, place);
    put_named(table, "rank", when, place);
    for (size_t i = 0; i < plan_condition_fields.count; i++) {
        const struct plan_field *field = &plan_condition_fields.field[i];
        if (field->form != FORM_STATE && strcmp(field->name, "message") != 0 &&
            strcmp(field->name, "rank") != 0)
            put_named(table, field->name, when, place);
    }
}

static void put_condition(struct lua_table *table, const struct plan_condition *when,
                          const struct place *place)
{
    bool own = first_is_own(when, place);
    if (when->event == EVENT_NONE) {
        if (own && place->said == PLAN_ANY)
            put_given(table, place->rank, rank_of_state(when, &when->state[0]));
    } else {
        put_event(table, when, place);
    }
    if (own)
        put_region(table, &when->state[0]);
    put_states(table, when, own ? 1 : 0);
}

static void put_condition_in(struct lua_table *table, const char *name,
                             const struct plan_condition *when)
{
    if (plan_condition_is_empty(when))
        return;
    lua_table_name(table, name);
    lua_table_open(table);
    put_condition(table, when, &elsewhere);
    lua_table_close(table);
}

/* --- actions ---------------------------------------------------------------------------------- */

/* One victim, and the condition is an event of its own, or what is true of ranks. */
static bool is_own(const struct plan_step *step)
{
    return step->victims == 1 &&
           (step->when.event == EVENT_NONE || step->when.rank == step->victim[0]);
}

static void put_victims(struct lua_table *table, const struct plan_step *step)
{
    if (step->victims == 1)
        put_number(table, "rank", step->victim[0]);
    else
        put_list(table, "ranks", step->victim, step->victims);
    if (is_own(step)) {
        struct place place = elsewhere;
        place.said = step->victim[0];
        put_condition(table, &step->when, &place);
    } else {
        put_condition_in(table, "at", &step->when);
    }
}

static const char *errno_text(int number)
{
    const char *name = strerrorname_np(number);
    return name != NULL ? name : "?";
}

/* The fields that the row of the action says are needed, or those that are not. */
static void put_fields(struct lua_table *table, const struct plan_step *step, bool needed)
{
    struct plan_step plain = plan_step_default(step->action);
    for (const struct action_field *of = action_of(step)->field; of->name != NULL; of++) {
        const struct plan_field *field = plan_step_field(of->name);
        const char *name = of->as != NULL ? of->as : of->name;
        if ((of->needed != NULL) != needed || field->form == FORM_STEP ||
            (!needed && plan_field_is_plain(field, step, &plain)))
            continue;
        if (of->is_errno)
            put_text(table, name, errno_text((int)plan_field_number(field, step)));
        else if (strcmp(of->name, "victims") == 0)
            put_victims(table, step);
        else if (strcmp(of->name, "seed") == 0)
            put_seed(table, step->seed);
        else
            put_field(table, field, name, step);
    }
}

static void put_after(struct lua_table *table, const char *after)
{
    if (after == NULL)
        return;
    lua_table_name(table, "after");
    lua_table_word(table, after);
}

/* After so many calls of the sender's, and nothing else: `events` of a delay. */
static bool is_after_events(const struct plan_step *step)
{
    struct plan_condition plain = plan_step_default(ACTION_HOLD).release;
    plain.event = EVENT_CALL;
    plain.rank = step->when.rank;
    plain.nth = step->release.nth;
    return step->when.rank != PLAN_ANY && step->release_ms == 0 &&
           memcmp(&plain, &step->release, sizeof plain) == 0;
}

static bool is_delay(const struct plan_step *step)
{
    bool only_ms = step->release_ms > 0 && plan_condition_is_empty(&step->release);
    return step->orders == 0 && !step->attempt && (only_ms || is_after_events(step));
}

static bool is_reversed(const struct plan_step *step)
{
    for (uint32_t i = 0; i < step->orders; i++)
        if (step->order[i] != (int32_t)(step->orders - i))
            return false;
    return true;
}

static bool is_delay_by_events(const struct plan_step *step)
{
    return step->action == ACTION_HOLD && is_delay(step) && step->release_ms == 0;
}

/* A list in an order says how many there are; the reverse follows from the number. */
static void put_hold(struct lua_table *table, const struct plan_step *step)
{
    static const struct place of_send = {EVENT_SEND, "from", "to", PLAN_ANY, false};
    struct plan_step said = *step;
    if (is_reversed(step))
        said.orders = 0;
    else
        said.count = 1;
    put_condition(table, &step->when, &of_send);
    put_fields(table, &said, false);
    if (is_delay_by_events(step))
        put_number(table, "events", (int64_t)step->release.nth);
}

/* The tag of a choice is that of the message taken: one that the receive asks for stands in `at`.
 */
static void put_choose(struct lua_table *table, const struct plan_step *step)
{
    struct place place = elsewhere;
    if (step->when.call[0] == '\0')
        place.implied = EVENT_RECV;
    put_number(table, "source", step->choice);
    put_given(table, "tag", step->choice_tag);
    if (step->when.tag == PLAN_ANY)
        put_condition(table, &step->when, &place);
    else
        put_condition_in(table, "at", &step->when);
}

/* Which calls are matched by a list of requests: MPI_Waitsome and MPI_Testsome. */
static bool answers_many(const char *call)
{
    size_t length = strlen(call);
    return length >= 4 && strcmp(call + length - 4, "some") == 0;
}

static void put_answer(struct lua_table *table, const struct plan_step *step)
{
    struct place place = elsewhere;
    place.implied = step->when.event; /* it follows from the call */
    place.no_call = true;
    put_text(table, "call", step->when.call);
    if (step->orders > 0 && answers_many(step->when.call)) {
        put_list(table, "answer", step->order, step->orders);
    } else if (step->orders > 0) {
        put_number(table, "answer", step->order[0]);
    } else {
        lua_table_name(table, "answer");
        lua_table_word(table, step->choice != 0 ? "true" : "false");
    }
    if (step->count != 1)
        put_number(table, "times", (int64_t)step->count);
    put_condition(table, &step->when, &place);
}

const char *lua_step_method(const struct plan_step *step)
{
    if (step->action != ACTION_HOLD)
        return plan_action_text(step->action);
    return step->orders > 0 ? "reorder" : is_delay(step) ? "delay" : "hold";
}

/* Of an action whose row says all. */
static void put_by_row(struct lua_table *table, const struct plan_step *step)
{
    struct place place = elsewhere;
    unsigned events = action_of(step)->events;
    if (__builtin_popcount(events) == 1)
        place.implied = (enum plan_event)__builtin_ctz(events);
    put_fields(table, step, true);
    if (action_field(step->action, "victims") == NULL)
        put_condition(table, &step->when, &place);
    put_fields(table, step, false);
}

void lua_step_fields(const struct plan_step *step, const char *after, struct lua_table *table)
{
    switch (step->action) {
    case ACTION_HOLD:
        put_hold(table, step);
        break;
    case ACTION_CHOOSE:
        put_choose(table, step);
        break;
    case ACTION_ANSWER:
        put_answer(table, step);
        break;
    default:
        put_by_row(table, step);
    }
    put_after(table, after);
    if (!is_delay_by_events(step))
        put_condition_in(table, "release", &step->release);
}
