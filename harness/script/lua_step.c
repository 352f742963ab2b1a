/* See lua_step.h. What each method is given, and what it takes a condition for that does not say:
 * the other direction of actions.lua and condition.lua. */
#include "script/lua_step.h"

#include "trace/record.h"

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
    static const char *const regions[] = {"", "behind", "logging", "beyond"};
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

static bool says_event(const struct plan_condition *when, const struct place *place)
{
    if (when->event == EVENT_NONE)
        return false;
    if (when->event == EVENT_CALL && when->call[0] != '\0')
        return false;
    return when->event != place->implied;
}

static void put_who_and_what(struct lua_table *table, const struct plan_condition *when,
                             const struct place *place)
{
    put_text(table, "message", when->message);
    if (place->said == PLAN_ANY)
        put_given(table, place->rank, when->rank);
    if (says_event(when, place))
        put_text(table, "event", plan_event_text(when->event));
    if (!place->no_call)
        put_text(table, "call", when->call);
    put_text(table, "name", when->name);
    put_text(table, "file", when->file);
    put_given(table, place->peer, when->peer);
    put_given(table, "tag", when->tag);
    if (when->comm != 0)
        put_communicator(table, when->comm);
    if (when->epoch >= 0)
        put_number(table, "epoch", when->epoch);
}

static void put_when(struct lua_table *table, const struct plan_condition *when)
{
    static const char *const positions[] = {"before", "after", "inside"};
    if (when->nth != 1)
        put_number(table, "nth", (int64_t)when->nth);
    put_given(table, "incarnation", when->incarnation);
    if (when->level == LEVEL_WIRE && when->message[0] == '\0')
        put_text(table, "level", "wire");
    if (when->position != POSITION_BEFORE && when->event != EVENT_DELIVER)
        put_text(table, "position", positions[when->position % 3]);
    put_text(table, "within", when->within);
}

static void put_condition(struct lua_table *table, const struct plan_condition *when,
                          const struct place *place)
{
    bool own = first_is_own(when, place);
    if (when->event == EVENT_NONE) {
        if (own && place->said == PLAN_ANY)
            put_given(table, place->rank, rank_of_state(when, &when->state[0]));
    } else {
        put_who_and_what(table, when, place);
        put_when(table, when);
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

static void put_lose(struct lua_table *table, uint8_t lose)
{
    put_text(table, "lose", lose == LOSE_RANK ? "rank" : lose == LOSE_NODE ? "node" : "");
}

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

static void put_after(struct lua_table *table, const char *after)
{
    if (after == NULL)
        return;
    lua_table_name(table, "after");
    lua_table_word(table, after);
}

/* With `after`: the long part of such a step comes last. */
static void put_release(struct lua_table *table, const struct plan_step *step, const char *after)
{
    if (step->release_ms > 0)
        put_number(table, "ms", step->release_ms);
    put_true(table, "attempt", step->attempt);
    put_after(table, after);
    put_condition_in(table, "release", &step->release);
}

/* Behind so many calls of the sender's, and nothing else: `events` of a delay. */
static bool is_behind_events(const struct plan_step *step)
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
    return step->orders == 0 && !step->attempt && (only_ms || is_behind_events(step));
}

static bool is_reversed(const struct plan_step *step)
{
    for (uint32_t i = 0; i < step->orders; i++)
        if (step->order[i] != (int32_t)(step->orders - i))
            return false;
    return true;
}

static void put_hold(struct lua_table *table, const struct plan_step *step, const char *after)
{
    static const struct place of_send = {EVENT_SEND, "from", "to", PLAN_ANY, false};
    put_condition(table, &step->when, &of_send);
    bool listed = step->orders > 0 && !is_reversed(step);
    if (listed)
        put_list(table, "order", step->order, step->orders);
    else if (step->count != 1)
        put_number(table, "count", (int64_t)step->count);
    put_true(table, "tags_apart", step->tags_apart);
    if (is_delay(step) && step->release_ms == 0) {
        put_number(table, "events", (int64_t)step->release.nth);
        put_after(table, after);
    } else {
        put_release(table, step, after);
    }
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

/* Which calls are told by a list of requests: MPI_Waitsome and MPI_Testsome. */
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

/* Of short and tear, which are done to writes alone; and of fail. */
static void put_store_fault(struct lua_table *table, const struct plan_step *step)
{
    struct place place = elsewhere;
    if (step->action == ACTION_FAIL) {
        const char *name = strerrorname_np(step->choice);
        put_text(table, "error", name != NULL ? name : "?");
    } else {
        place.implied = EVENT_WRITE;
        put_number(table, "bytes", (int64_t)step->count);
    }
    put_condition(table, &step->when, &place);
    put_lose(table, step->lose);
}

static void put_jitter(struct lua_table *table, const struct plan_step *step)
{
    put_number(table, "ms", step->release_ms);
    put_seed(table, step->seed);
}

const char *lua_step_method(const struct plan_step *step)
{
    if (step->action != ACTION_HOLD)
        return plan_action_text(step->action);
    return step->orders > 0 ? "reorder" : is_delay(step) ? "delay" : "hold";
}

/* All but `after`, of the actions that keep nothing. */
static void put_simple(struct lua_table *table, const struct plan_step *step)
{
    switch (step->action) {
    case ACTION_KILL:
        put_victims(table, step);
        put_lose(table, step->lose);
        break;
    case ACTION_CHOOSE:
        put_choose(table, step);
        break;
    case ACTION_ANSWER:
        put_answer(table, step);
        break;
    case ACTION_JITTER:
        put_jitter(table, step);
        break;
    case ACTION_FAIL:
    case ACTION_SHORT:
    case ACTION_TEAR:
        put_store_fault(table, step);
        break;
    default:
        put_condition(table, &step->when, &elsewhere);
    }
}

void lua_step_fields(const struct plan_step *step, const char *after, struct lua_table *table)
{
    if (step->action == ACTION_HOLD) {
        put_hold(table, step, after);
    } else if (step->action == ACTION_STOP) {
        put_victims(table, step);
        put_release(table, step, after);
    } else {
        put_simple(table, step);
        put_after(table, after);
    }
}
