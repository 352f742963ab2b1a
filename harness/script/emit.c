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

/* ---- a step of the plan; its table is on top of the stack
 * ------------------------------------------ */

/* The number in `field`, or `otherwise` where nothing is said. */
static lua_Integer integer_or(lua_State *L, const char *field, lua_Integer otherwise)
{
    lua_getfield(L, -1, field);
    lua_Integer number = luaL_optinteger(L, -1, otherwise);
    lua_pop(L, 1);
    return number;
}

/* Whether `field` is `text`. */
static bool field_is(lua_State *L, const char *field, const char *text)
{
    lua_getfield(L, -1, field);
    const char *value = luaL_optstring(L, -1, "");
    bool is = strcmp(value, text) == 0;
    lua_pop(L, 1);
    return is;
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

static void read_condition(lua_State *L, struct plan_condition *when)
{
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
    when->level = field_is(L, "level", "wire") ? LEVEL_WIRE : LEVEL_APP;
    if (field_is(L, "position", "after"))
        when->position = POSITION_AFTER;
    else if (field_is(L, "position", "inside"))
        when->position = POSITION_INSIDE;
    copy_name(L, "call", when->call);
    copy_name(L, "name", when->name);
}

static void read_victims(lua_State *L, struct plan_step *step)
{
    step->victims = (uint32_t)luaL_len(L, -1);
    luaL_argcheck(L, step->victims <= PLAN_MAX_VICTIMS, TABLE, "too many victims");
    for (uint32_t i = 0; i < step->victims; i++) {
        lua_rawgeti(L, -1, i + 1);
        step->victim[i] = (int32_t)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
}

static void put_step(lua_State *L, struct parcel *parcel)
{
    lua_getfield(L, -1, "action");
    struct plan_step step = plan_step_default(plan_action_from_text(luaL_checkstring(L, -1)));
    lua_pop(L, 1);
    lua_getfield(L, -1, "when");
    read_condition(L, &step.when);
    lua_pop(L, 1);
    lua_getfield(L, -1, "victims");
    read_victims(L, &step);
    lua_pop(L, 1);
    parcel_put(parcel, &step, sizeof step);
}

static void put_plan(lua_State *L, struct parcel *parcel)
{
    lua_getfield(L, TABLE, "steps");
    lua_Integer count = luaL_len(L, -1);
    parcel_put_number(parcel, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        put_step(L, parcel);
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
    put_plan(L, &parcel);
    return &parcel;
}
