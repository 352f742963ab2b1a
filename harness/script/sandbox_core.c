/* What the API's Lua is given: functions (core.fail, core.load, ...) and numbers. See
 * sandbox_core.h. */
#include "script/sandbox_core.h"

#include "base/mix.h"
#include "base/nearest.h"
#include "base/regular_file.h"
#include "board/board.h"
#include "board/stores.h"
#include "script/emit.h"
#include "script/names.h"
#include "script/serial.h"

#include <ctype.h>
#include <lauxlib.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PRINT_BYTES 65536

/* fail(text, line): an error at that line of the scenario file, or at the innermost one. */
static int core_fail(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    const char *text = luaL_checkstring(L, 1);
    sandbox_push_placed(sandbox, (int)luaL_optinteger(L, 2, sandbox_line(sandbox)), text);
    return lua_error(L);
}

/* line(path): where that file is now, by default the scenario file; 0 if it is not running. */
static int core_line(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    const char *path = luaL_optstring(L, 1, sandbox->path);
    lua_Debug frame;
    int level;
    lua_pushinteger(L, sandbox_innermost(sandbox, path, 0, &frame, &level) ? frame.currentline : 0);
    return 1;
}

/* wire_file(protocol): the path of the file that describes its messages, and whether it is there.
 * Nothing when no such file is known of. */
static int core_wire_file(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    char path[PATH_MAX];
    struct error error = {0};
    if (sandbox->options->wire_file == NULL)
        return 0;
    if (sandbox->options->wire_file(luaL_checkstring(L, 1), sandbox->path, path, sizeof path,
                                    &error) != OK) {
        sandbox_push_placed(sandbox, sandbox_line(sandbox), error.text);
        return lua_error(L);
    }
    lua_pushstring(L, path);
    lua_pushboolean(L, access(path, F_OK) == 0);
    return 2;
}

/* After a byte order mark and a first line that begins with '#', as Lua's own reader does. The end
 * of that line stays: lines keep their numbers. */
static size_t begin_of(const char *text, size_t length)
{
    static const char mark[] = "\xef\xbb\xbf";
    size_t begin =
        length >= strlen(mark) && memcmp(text, mark, strlen(mark)) == 0 ? strlen(mark) : 0;
    if (begin < length && text[begin] == '#')
        while (begin < length && text[begin] != '\n')
            begin++;
    return begin;
}

static void push_content(lua_State *L, FILE *file)
{
    luaL_Buffer buffer;
    size_t length;
    luaL_buffinit(L, &buffer);
    do {
        length = fread(luaL_prepbuffer(&buffer), 1, LUAL_BUFFERSIZE, file);
        luaL_addsize(&buffer, length);
    } while (length > 0);
    luaL_pushresult(&buffer);
}

enum error_code sandbox_load(lua_State *L, const char *path)
{
    struct error error = {0};
    FILE *file = regular_stream(path, LINKS_FOLLOWED, REGULAR_TEXT_MOST, &error);
    if (file == NULL) {
        lua_pushstring(L, error.text);
        return error.code;
    }
    push_content(L, file);
    fclose(file);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    size_t begin = begin_of(text, length);
    const char *name = lua_pushfstring(L, "@%s", path);
    int status = luaL_loadbufferx(L, text + begin, length - begin, name, "t");
    lua_insert(L, -3);
    lua_pop(L, 2);
    if (status == LUA_OK)
        return OK;
    return status == LUA_ERRMEM ? ERROR_MEMORY : ERROR_USAGE;
}

/* load(path, world): the file as a function whose globals are those of the table `world`. */
static int core_load(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    luaL_checktype(L, 2, LUA_TTABLE);
    if (sandbox_load(L, luaL_checkstring(L, 1)) != OK) {
        sandbox_push_placed(sandbox, sandbox_line(sandbox), lua_tostring(L, -1));
        return lua_error(L);
    }
    lua_pushvalue(L, 2);
    lua_setupvalue(L, -2, 1);
    return 1;
}

/* nearest(name, list): the text of the list that is nearest, or nil. */
static int core_nearest(lua_State *L)
{
    const char *name = luaL_checkstring(L, 1);
    luaL_checktype(L, 2, LUA_TTABLE);
    size_t count = lua_rawlen(L, 2);
    const char **known = lua_newuserdatauv(L, (count + 1) * sizeof *known, 0);
    size_t used = 0;
    for (size_t i = 1; i <= count; i++) {
        if (lua_rawgeti(L, 2, (lua_Integer)i) == LUA_TSTRING)
            known[used++] = lua_tostring(L, -1); /* stays: the table holds it */
        lua_pop(L, 1);
    }
    lua_pushstring(L, nearest_name(name, known, used)); /* NULL becomes nil */
    return 1;
}

/* printable(text): control characters as \xNN. */
static int core_printable(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    luaL_Buffer buffer;
    luaL_buffinit(L, &buffer);
    for (size_t i = 0; i < length; i++) {
        char escaped[8];
        unsigned char byte = (unsigned char)text[i];
        if (iscntrl(byte))
            snprintf(escaped, sizeof escaped, "\\x%02x", byte);
        else
            snprintf(escaped, sizeof escaped, "%c", byte);
        luaL_addstring(&buffer, escaped);
    }
    luaL_pushresult(&buffer);
    return 1;
}

/* Text for a person who looks for a fault in a scenario; stdout belongs to TAP. */
static int core_print(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    lua_settop(L, 1);
    core_printable(L);
    size_t length;
    const char *text = lua_tolstring(L, -1, &length);
    if (length >= PRINT_BYTES - sandbox->printed)
        return luaL_error(L, "print: more than %d bytes", PRINT_BYTES);
    sandbox->printed += length + 1;
    fprintf(stderr, "%s\n", text);
    return 0;
}

/* --- random numbers: counted, so that one draw more does not move all others ------------------ */

static uint64_t draw(struct sandbox *sandbox)
{
    return mix(mix(mix(sandbox->options->seed) ^ sandbox->stream) + sandbox->draw++);
}

/* FNV-1a of a name, never 0: the number of its stream. */
static int core_hash(lua_State *L)
{
    size_t length;
    const char *text = luaL_checklstring(L, 1, &length);
    uint64_t hash = 0xcbf29ce484222325u;
    for (size_t i = 0; i < length; i++)
        hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
    lua_pushinteger(L, (lua_Integer)(hash | 1));
    return 1;
}

/* stream(number, draw): goes over to it, returns the two of before. */
static int core_stream(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    lua_pushinteger(L, (lua_Integer)sandbox->stream);
    lua_pushinteger(L, (lua_Integer)sandbox->draw);
    sandbox->stream = (uint64_t)luaL_checkinteger(L, 1);
    sandbox->draw = (uint64_t)luaL_checkinteger(L, 2);
    return 2;
}

/* As Lua's math.random: (), (0), (m), (m, n). */
static int core_random(lua_State *L)
{
    uint64_t number = draw(sandbox_of(L));
    if (lua_gettop(L) == 0) {
        lua_pushnumber(L, (lua_Number)(number >> 11) * 0x1p-53);
        return 1;
    }
    lua_Integer low = lua_gettop(L) == 1 ? 1 : luaL_checkinteger(L, 1);
    lua_Integer high = luaL_checkinteger(L, lua_gettop(L) == 1 ? 1 : 2);
    if (lua_gettop(L) == 1 && high == 0) {
        lua_pushinteger(L, (lua_Integer)number);
        return 1;
    }
    luaL_argcheck(L, low <= high, lua_gettop(L) == 1 ? 1 : 2, "interval is empty");
    uint64_t width = (uint64_t)high - (uint64_t)low + 1; /* 0: all 2^64 */
    if (width != 0)
        number = (uint64_t)(((unsigned __int128)number * width) >> 64);
    lua_pushinteger(L, (lua_Integer)((uint64_t)low + number));
    return 1;
}

/* --- a scenario is finished ------------------------------------------------------------------- */

static int core_emit(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    if (++sandbox->scenarios > SCENARIOS_MAX)
        sandbox_end_limit(sandbox, "more than %llu scenarios", SCENARIOS_MAX);
    struct serial *serial = emit_scenario(L); /* collected by Lua, also after an error */
    if (serial->bad)
        return luaL_error(L, "not enough memory");
    sandbox_write(sandbox->out, serial->bytes, serial->used);
    serial_release(serial);
    return 0;
}

/* cover_entry(line, text) */
static int core_emit_cover(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    if (++sandbox->covers > COVERS_MAX)
        sandbox_end_limit(sandbox, "more than %llu things to cover", COVERS_MAX);
    size_t length;
    lua_Integer line = luaL_checkinteger(L, 1);
    const char *text = luaL_checklstring(L, 2, &length);
    struct serial serial;
    serial_init(&serial);
    serial_put_number(&serial, SANDBOX_COVER);
    serial_put_number(&serial, line);
    serial_put_text(&serial, text, length);
    bool bad = serial.bad;
    if (!bad)
        sandbox_write(sandbox->out, serial.bytes, serial.used);
    serial_release(&serial);
    return bad ? luaL_error(L, "not enough memory") : 0;
}

/* --- all of it -------------------------------------------------------------------------------- */

static const luaL_Reg core_functions[] = {
    {"fail", core_fail},
    {"line", core_line},
    {"wire_file", core_wire_file},
    {"load", core_load},
    {"nearest", core_nearest},
    {"printable", core_printable},
    {"print", core_print},
    {"hash", core_hash},
    {"stream", core_stream},
    {"random", core_random},
    {"emit", core_emit},
    {"emit_cover", core_emit_cover},
    {NULL, NULL},
};

static const struct {
    const char *name;
    lua_Integer value;
} core_numbers[] = {
    {"MAX_RANKS", SCENARIO_MAX_RANKS},
    {"NEWCOMERS", BOARD_NEWCOMERS},
    {"MAX_CLAIMS", SCENARIO_MAX_CLAIMS},
    {"MAX_COVER", COVERS_MAX},
    {"MAX_ARGUMENTS", SCENARIO_MAX_ARGUMENTS},
    {"MAX_ENVIRONMENT", SCENARIO_MAX_ENVIRONMENT},
    {"MAX_FILES", SCENARIO_MAX_FILES},
    {"MAX_LIBRARIES", SCENARIO_MAX_LIBRARIES},
    {"MAX_STORES", STORES_MOST},
    {"STORE_NAME_BYTES", STORE_NAME_BYTES},
    {"MAX_PATTERNS", SCENARIO_MAX_PATTERNS},
    {"MAX_INCARNATIONS", SCENARIO_MAX_INCARNATIONS},
    {"MAX_TIMEOUT_S", SCENARIO_MAX_TIMEOUT_S},
    {"MAX_STEPS", PLAN_MAX_STEPS},
    {"MAX_VICTIMS", PLAN_MAX_VICTIMS},
    {"MAX_STATES", PLAN_MAX_STATES},
    {"MAX_WIRES", PLAN_MAX_WIRES},
    {"MAX_REQUESTS", SCENARIO_MAX_REQUESTS},
    {"MAX_COMMUNICATORS", SCENARIO_MAX_COMMUNICATORS},
    {"MAX_WIRE_OFFSET", SCENARIO_MAX_WIRE_OFFSET},
    {"NAME_BYTES", PLAN_NAME_BYTES},
    {"TEXT_BYTES", SCENARIO_TEXT_BYTES},
    {"SCENARIO_NAME_BYTES", SCENARIO_NAME_BYTES},
};

void sandbox_push_core(lua_State *L)
{
    luaL_newlib(L, core_functions);
    lua_pushinteger(L, sandbox_of(L)->options->ranks);
    lua_setfield(L, -2, "RANKS");
    lua_pushboolean(L, sandbox_of(L)->options->all_wires);
    lua_setfield(L, -2, "ALL_WIRES");
    for (size_t i = 0; i < sizeof core_numbers / sizeof core_numbers[0]; i++) {
        lua_pushinteger(L, core_numbers[i].value);
        lua_setfield(L, -2, core_numbers[i].name);
    }
    names_add(L);
}
