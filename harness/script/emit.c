/* See emit.h. The table has passed every check of scenario.lua; what would still be wrong here is a
 * fault of ours and raises an error. */
#include "script/emit.h"

#include "script/sandbox.h"
#include "trace/record.h"

#include <lauxlib.h>
#include <string.h>

#define TABLE 1

static void put_integer(lua_State *L, struct parcel *parcel, const char *field)
{
    lua_getfield(L, TABLE, field);
    parcel_put_number(parcel, luaL_checkinteger(L, -1));
    lua_pop(L, 1);
}

static void put_real(lua_State *L, struct parcel *parcel, const char *field)
{
    lua_getfield(L, TABLE, field);
    double number = luaL_checknumber(L, -1);
    parcel_put(parcel, &number, sizeof number);
    lua_pop(L, 1);
}

/* The text on top of the stack, which is popped. */
static void put_top(lua_State *L, struct parcel *parcel)
{
    size_t length;
    const char *text = luaL_checklstring(L, -1, &length);
    parcel_put_text(parcel, text, length);
    lua_pop(L, 1);
}

/* The list of texts on top of the stack, which is popped. */
static void put_list(lua_State *L, struct parcel *parcel)
{
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_Integer count = luaL_len(L, -1);
    parcel_put_number(parcel, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        put_top(L, parcel);
    }
    lua_pop(L, 1);
}

/* ---- a step of the plan; its table, or one inside it, is on top of the stack
 * -------------------*/

/* The number in `field`, or `otherwise` where nothing is said. */
static lua_Integer integer_or(lua_State *L, const char *field, lua_Integer otherwise)
{
    lua_getfield(L, -1, field);
    lua_Integer number = luaL_optinteger(L, -1, otherwise);
    lua_pop(L, 1);
    return number;
}

static bool is_true(lua_State *L, const char *field)
{
    lua_getfield(L, -1, field);
    bool truth = lua_toboolean(L, -1);
    lua_pop(L, 1);
    return truth;
}

/* The place of `field` in `words`, whose first stands for nothing said and ends with NULL. */
static uint8_t word_or_first(lua_State *L, const char *field, const char *const words[])
{
    lua_getfield(L, -1, field);
    int place = luaL_checkoption(L, -1, words[0], words);
    lua_pop(L, 1);
    return (uint8_t)place;
}

static void copy_name(lua_State *L, const char *field, char name[PLAN_NAME_BYTES])
{
    lua_getfield(L, -1, field);
    size_t length;
    const char *value = luaL_optlstring(L, -1, "", &length);
    if (length >= PLAN_NAME_BYTES)
        luaL_error(L, "%s is too long", field);
    memcpy(name, value, length + 1);
    lua_pop(L, 1);
}

static void read_state(lua_State *L, struct plan_state *state)
{
    static const char *const regions[] = {"any", "behind", "logging", "beyond", NULL};
    _Static_assert(REGION_BEHIND == 1 && REGION_LOGGING == 2 && REGION_BEYOND == 3, "the order");
    state->rank = (int32_t)integer_or(L, "rank", PLAN_ANY);
    state->region = word_or_first(L, "region", regions);
    state->line = integer_or(L, "line", 0);
    copy_name(L, "blocked", state->blocked);
}

static void read_states(lua_State *L, struct plan_condition *when)
{
    lua_getfield(L, -1, "states");
    when->states = (uint32_t)luaL_len(L, -1);
    luaL_argcheck(L, when->states <= PLAN_MAX_STATES, TABLE, "too many states");
    for (uint32_t i = 0; i < when->states; i++) {
        lua_rawgeti(L, -1, i + 1);
        read_state(L, &when->state[i]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* In `field` of the step; nothing is changed where there is none. */
static void read_condition(lua_State *L, const char *field, struct plan_condition *when)
{
    static const char *const levels[] = {"app", "wire", NULL};
    static const char *const positions[] = {"before", "after", "inside", NULL};
    lua_getfield(L, -1, field);
    if (!lua_isnil(L, -1)) {
        lua_getfield(L, -1, "event");
        when->event = plan_event_from_text(luaL_checkstring(L, -1));
        lua_pop(L, 1);
        when->rank = (int32_t)integer_or(L, "rank", when->rank);
        when->incarnation = (int32_t)integer_or(L, "incarnation", when->incarnation);
        when->peer = (int32_t)integer_or(L, "peer", when->peer);
        when->tag = (int32_t)integer_or(L, "tag", when->tag);
        when->comm = (uint32_t)integer_or(L, "comm", when->comm);
        when->epoch = integer_or(L, "epoch", when->epoch);
        when->nth = (uint64_t)integer_or(L, "nth", (lua_Integer)when->nth);
        when->level = word_or_first(L, "level", levels) == 1 ? LEVEL_WIRE : LEVEL_APP;
        when->position = word_or_first(L, "position", positions);
        copy_name(L, "call", when->call);
        copy_name(L, "name", when->name);
        copy_name(L, "message", when->message);
        copy_name(L, "within", when->within);
        copy_name(L, "file", when->file);
        read_states(L, when);
    }
    lua_pop(L, 1);
}

/* The list of numbers in `field`; returns how many there are. */
static uint32_t read_numbers(lua_State *L, const char *field, int32_t numbers[PLAN_MAX_VICTIMS])
{
    lua_getfield(L, -1, field);
    lua_Integer count = luaL_len(L, -1);
    luaL_argcheck(L, count <= PLAN_MAX_VICTIMS, TABLE, field);
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        numbers[i] = (int32_t)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
    return (uint32_t)count;
}

static void put_step(lua_State *L, struct parcel *parcel)
{
    static const char *const losses[] = {"nothing", "rank", "node", NULL};
    _Static_assert(LOSE_NOTHING == 0 && LOSE_RANK == 1 && LOSE_NODE == 2, "the order");
    lua_getfield(L, -1, "action");
    struct plan_step step = plan_step_default(plan_action_from_text(luaL_checkstring(L, -1)));
    lua_pop(L, 1);
    step.after = (int32_t)integer_or(L, "after", step.after);
    read_condition(L, "when", &step.when);
    read_condition(L, "release", &step.release);
    step.release_ms = (uint32_t)integer_or(L, "ms", step.release_ms);
    step.attempt = is_true(L, "attempt");
    step.tags_apart = is_true(L, "tags_apart");
    step.lose = word_or_first(L, "lose", losses);
    step.target = (int32_t)integer_or(L, "target", step.target);
    step.choice = (int32_t)integer_or(L, "choice", step.choice);
    step.choice_tag = (int32_t)integer_or(L, "choice_tag", step.choice_tag);
    step.count = (uint64_t)integer_or(L, "count", (lua_Integer)step.count);
    step.seed = (uint64_t)integer_or(L, "seed", (lua_Integer)step.seed);
    step.victims = read_numbers(L, "victims", step.victim);
    step.orders = read_numbers(L, "order", step.order);
    parcel_put(parcel, &step, sizeof step);
}

/* A field of a message: where it stands. Nothing is changed where there is none. */
static void read_place(lua_State *L, const char *field, int32_t *at, uint8_t *bytes, uint64_t *key)
{
    lua_getfield(L, -1, field);
    if (!lua_isnil(L, -1)) {
        *at = (int32_t)integer_or(L, "at", 0);
        *bytes = (uint8_t)integer_or(L, "bytes", 0);
        if (key != NULL)
            *key = (uint64_t)integer_or(L, "equals", 0);
    }
    lua_pop(L, 1);
}

static void put_wire(lua_State *L, struct parcel *parcel)
{
    struct plan_wire wire = plan_wire_default();
    copy_name(L, "name", wire.name);
    lua_getfield(L, -1, "comm");
    wire.comm = (uint32_t)integer_or(L, "id", 0);
    wire.comm_nth = (uint32_t)integer_or(L, "nth", 0);
    lua_pop(L, 1);
    wire.tag = (int32_t)integer_or(L, "tag", PLAN_ANY);
    read_place(L, "where", &wire.key_at, &wire.key_bytes, &wire.key);
    read_place(L, "epoch", &wire.epoch_at, &wire.epoch_bytes, NULL);
    wire.carries = is_true(L, "carries");
    parcel_put(parcel, &wire, sizeof wire);
}

/* The list in `field`, each entry by `put`. */
static void put_each(lua_State *L, struct parcel *parcel, const char *field,
                     void (*put)(lua_State *L, struct parcel *parcel))
{
    lua_getfield(L, TABLE, field);
    lua_Integer count = luaL_len(L, -1);
    parcel_put_number(parcel, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        put(L, parcel);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

struct parcel *emit_scenario(lua_State *L)
{
    static struct parcel parcel;
    parcel_clear(&parcel);
    lua_settop(L, TABLE);
    parcel_put_number(&parcel, SANDBOX_SCENARIO);
    put_integer(L, &parcel, "line");
    put_integer(L, &parcel, "ranks");
    put_integer(L, &parcel, "reserve");
    put_integer(L, &parcel, "max_incarnations");
    put_real(L, &parcel, "timeout");
    static const char *const texts[] = {"name", "protocol", "program"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lua_getfield(L, TABLE, texts[i]);
        put_top(L, &parcel);
    }
    lua_getfield(L, TABLE, "expect");
    lua_getfield(L, -1, "violates");
    put_top(L, &parcel);
    lua_pop(L, 1);
    lua_getfield(L, TABLE, "arguments");
    put_list(L, &parcel);
    lua_getfield(L, TABLE, "claims");
    put_list(L, &parcel);
    lua_getfield(L, TABLE, "expect");
    lua_getfield(L, -1, "cover");
    lua_remove(L, -2);
    put_list(L, &parcel);
    lua_getfield(L, TABLE, "environment");
    put_list(L, &parcel);
    put_each(L, &parcel, "steps", put_step);
    put_each(L, &parcel, "wires", put_wire);
    return &parcel;
}
