/* See emit.h. The table has passed every check of scenario.lua; what would still be wrong here is a
 * fault of ours and raises an error. */
#include "script/emit.h"

#include "plan/field.h"
#include "script/sandbox.h"

#include <lauxlib.h>
#include <string.h>

#define TABLE 1

static void put_integer(lua_State *L, struct serial *serial, const char *field)
{
    lua_getfield(L, TABLE, field);
    serial_put_number(serial, luaL_checkinteger(L, -1));
    lua_pop(L, 1);
}

static void put_real(lua_State *L, struct serial *serial, const char *field)
{
    lua_getfield(L, TABLE, field);
    double number = luaL_checknumber(L, -1);
    serial_put(serial, &number, sizeof number);
    lua_pop(L, 1);
}

/* The text on top of the stack, which is popped. */
static void put_top(lua_State *L, struct serial *serial)
{
    size_t length;
    const char *text = luaL_checklstring(L, -1, &length);
    serial_put_text(serial, text, length);
    lua_pop(L, 1);
}

/* The list of texts on top of the stack, which is popped. */
static void put_list(lua_State *L, struct serial *serial)
{
    luaL_checktype(L, -1, LUA_TTABLE);
    lua_Integer count = luaL_len(L, -1);
    serial_put_number(serial, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        put_top(L, serial);
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

/* The text on top of the stack. */
static void copy_name(lua_State *L, const char *field, char name[PLAN_NAME_BYTES])
{
    size_t length;
    const char *value = luaL_checklstring(L, -1, &length);
    if (length >= PLAN_NAME_BYTES)
        luaL_error(L, "%s is too long", field);
    memcpy(name, value, length + 1);
}

/* The list of numbers on top of the stack; returns how many there are. */
static uint32_t read_numbers(lua_State *L, int32_t numbers[PLAN_MAX_VICTIMS])
{
    lua_Integer count = luaL_len(L, -1);
    luaL_argcheck(L, count <= PLAN_MAX_VICTIMS, TABLE, "too many numbers");
    for (lua_Integer i = 0; i < count; i++) {
        lua_rawgeti(L, -1, i + 1);
        numbers[i] = (int32_t)luaL_checkinteger(L, -1);
        lua_pop(L, 1);
    }
    return (uint32_t)count;
}

static int64_t number_of_word(lua_State *L, const struct plan_words *words)
{
    const char *word = luaL_checkstring(L, -1);
    for (size_t i = 0; i < words->count; i++)
        if (strcmp(words->text[i], word) == 0)
            return (int64_t)i;
    return luaL_error(L, "%s is not known", word);
}

/* The field of `whole` becomes what stands on top of the stack. */
static void read_value(lua_State *L, const struct plan_field *field, void *whole)
{
    char *place = (char *)whole + field->offset;
    switch (field->form) {
    case FORM_EVENT:
        plan_field_set_number(field, whole, plan_event_from_text(luaL_checkstring(L, -1)));
        break;
    case FORM_WORD:
        plan_field_set_number(field, whole, number_of_word(L, field->words));
        break;
    case FORM_YES:
        plan_field_set_number(field, whole, lua_toboolean(L, -1));
        break;
    case FORM_NAME:
        copy_name(L, field->name, place);
        break;
    case FORM_LIST:
        *(uint32_t *)(void *)((char *)whole + field->counter) =
            read_numbers(L, (int32_t *)(void *)place);
        break;
    default:
        plan_field_set_number(field, whole, luaL_checkinteger(L, -1));
    }
}

/* Those of the table on top of the stack; what it does not have stays as it is. */
static void read_fields(lua_State *L, const struct plan_fields *fields, void *whole)
{
    for (size_t i = 0; i < fields->count; i++) {
        lua_getfield(L, -1, fields->field[i].name);
        if (!lua_isnil(L, -1))
            read_value(L, &fields->field[i], whole);
        lua_pop(L, 1);
    }
}

static void read_states(lua_State *L, struct plan_condition *when)
{
    lua_getfield(L, -1, "states");
    when->states = (uint32_t)luaL_len(L, -1);
    luaL_argcheck(L, when->states <= PLAN_MAX_STATES, TABLE, "too many states");
    for (uint32_t i = 0; i < when->states; i++) {
        lua_rawgeti(L, -1, i + 1);
        when->state[i].rank = PLAN_ANY;
        read_fields(L, &plan_state_fields, &when->state[i]);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* In `field` of the step; nothing is changed where there is none. */
static void read_condition(lua_State *L, const char *field, struct plan_condition *when)
{
    lua_getfield(L, -1, field);
    if (!lua_isnil(L, -1)) {
        read_fields(L, &plan_condition_fields, when);
        read_states(L, when);
    }
    lua_pop(L, 1);
}

static void put_step(lua_State *L, struct serial *serial)
{
    lua_getfield(L, -1, "action");
    struct plan_step step = plan_step_default(plan_action_from_text(luaL_checkstring(L, -1)));
    lua_pop(L, 1);
    read_fields(L, &plan_step_fields, &step);
    read_condition(L, "when", &step.when);
    read_condition(L, "release", &step.release);
    serial_put(serial, &step, sizeof step);
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

static void put_wire(lua_State *L, struct serial *serial)
{
    struct message_pattern wire = message_pattern_default();
    lua_getfield(L, -1, "name");
    copy_name(L, "name", wire.name);
    lua_pop(L, 1);
    lua_getfield(L, -1, "comm");
    wire.comm = (uint32_t)integer_or(L, "id", 0);
    wire.comm_nth = (uint32_t)integer_or(L, "nth", 0);
    lua_pop(L, 1);
    wire.tag = (int32_t)integer_or(L, "tag", PLAN_ANY);
    read_place(L, "where", &wire.key_at, &wire.key_bytes, &wire.key);
    read_place(L, "epoch", &wire.epoch_at, &wire.epoch_bytes, NULL);
    lua_getfield(L, -1, "carries");
    wire.carries = lua_toboolean(L, -1);
    lua_pop(L, 1);
    serial_put(serial, &wire, sizeof wire);
}

/* The list in `field`, each entry by `put`. */
static void put_each(lua_State *L, struct serial *serial, const char *field,
                     void (*put)(lua_State *L, struct serial *serial))
{
    lua_getfield(L, TABLE, field);
    lua_Integer count = luaL_len(L, -1);
    serial_put_number(serial, count);
    for (lua_Integer i = 1; i <= count; i++) {
        lua_rawgeti(L, -1, i);
        put(L, serial);
        lua_pop(L, 1);
    }
    lua_pop(L, 1);
}

/* No arguments are not the same as none said. */
static void put_restart(lua_State *L, struct serial *serial)
{
    lua_getfield(L, TABLE, "restart");
    lua_getfield(L, -1, "arguments");
    serial_put_number(serial, !lua_isnil(L, -1));
    if (lua_isnil(L, -1)) {
        lua_pop(L, 1);
        lua_newtable(L);
    }
    put_list(L, serial);
    lua_getfield(L, -1, "environment");
    put_list(L, serial);
    lua_pop(L, 1);
}

struct serial *emit_scenario(lua_State *L)
{
    static struct serial serial;
    serial_clear(&serial);
    lua_settop(L, TABLE);
    serial_put_number(&serial, SANDBOX_SCENARIO);
    put_integer(L, &serial, "line");
    put_integer(L, &serial, "ranks");
    put_integer(L, &serial, "restart_ranks");
    put_integer(L, &serial, "reserve");
    put_integer(L, &serial, "max_incarnations");
    lua_getfield(L, TABLE, "survivors");
    serial_put_number(&serial, lua_toboolean(L, -1));
    lua_pop(L, 1);
    put_real(L, &serial, "timeout");
    static const char *const texts[] = {"name",  "protocol", "program", "library", "helpers",
                                        "nodes", "stores",   "result",  "engine",  "policy"};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        lua_getfield(L, TABLE, texts[i]);
        put_top(L, &serial);
    }
    lua_getfield(L, TABLE, "expect");
    lua_getfield(L, -1, "violates");
    put_top(L, &serial);
    lua_pop(L, 1);
    lua_getfield(L, TABLE, "arguments");
    put_list(L, &serial);
    lua_getfield(L, TABLE, "claims");
    put_list(L, &serial);
    lua_getfield(L, TABLE, "expect");
    lua_getfield(L, -1, "cover");
    lua_remove(L, -2);
    put_list(L, &serial);
    lua_getfield(L, TABLE, "environment");
    put_list(L, &serial);
    lua_getfield(L, TABLE, "files");
    put_list(L, &serial);
    lua_getfield(L, TABLE, "setup");
    put_list(L, &serial);
    put_restart(L, &serial);
    put_each(L, &serial, "steps", put_step);
    put_each(L, &serial, "wires", put_wire);
    return &serial;
}
