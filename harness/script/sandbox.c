/* See sandbox.h. What is safe to offer is decided in open_libraries and in world.lua. */
#include "script/sandbox.h"

#include "base/mix.h"
#include "base/nearest.h"
#include "base/regular_file.h"
#include "board/board.h"
#include "script/api.h" /* generated: `api`, the scenario API in Lua */
#include "script/emit.h"
#include "script/names.h"
#include "script/serial.h"

#include <ctype.h>
#include <lauxlib.h>
#include <limits.h>
#include <lua.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOOK_INSTRUCTIONS 1000
#define PRINT_BYTES 65536
#define TRACE_FRAMES 8
#define MESSAGE_BYTES ERROR_TEXT_BYTES

static const char api_name[] = "=scenario API";

/* One per process: found again from any lua_State through its extra space. */
struct sandbox {
    lua_State *lua;
    const char *path;
    char *source;                  /* "@path": how Lua names a chunk that is a file */
    char short_source[LUA_IDSIZE]; /* ... and how it writes that in errors */
    const struct script_options *options;
    size_t memory_used;
    uint64_t instructions;
    struct script_progress *progress;
    uint64_t stream; /* of random numbers: 0 the file's own, else a hash of the scenario's name */
    uint64_t draw;
    size_t printed;
    size_t scenarios;
    size_t covers;
    int out;
};

static struct sandbox *sandbox_of(lua_State *L)
{
    return *(struct sandbox **)lua_getextraspace(L);
}

/* ---- the end of the process -------------------------------------------------------------------
 */

static void write_all(int out, const char *bytes, size_t count)
{
    while (count > 0) {
        ssize_t written = write(out, bytes, count);
        if (written < 0)
            _exit(1); /* nobody reads any more */
        bytes += written;
        count -= (size_t)written;
    }
}

static _Noreturn void end(struct sandbox *sandbox, enum error_code code, const char *text)
{
    struct serial serial;
    serial_init(&serial);
    serial_put_number(&serial, SANDBOX_DONE);
    serial_put_number(&serial, code);
    serial_put_text(&serial, text, strlen(text));
    write_all(sandbox->out, serial.bytes, serial.used);
    _exit(0);
}

/* ---- limits -------------------------------------------------------------------------------------
 */

static void *allocate(void *user, void *old, size_t old_bytes, size_t bytes)
{
    struct sandbox *sandbox = user;
    if (old == NULL)
        old_bytes = 0; /* Lua passes the kind of object then */
    if (bytes == 0) {
        free(old);
        sandbox->memory_used -= old_bytes;
        return NULL;
    }
    size_t others = sandbox->memory_used - old_bytes;
    if (bytes > old_bytes && (others > sandbox->options->limits.memory_bytes ||
                              bytes > sandbox->options->limits.memory_bytes - others))
        return NULL;
    void *block = realloc(old, bytes);
    if (block != NULL)
        sandbox->memory_used = others + bytes;
    return block;
}

/* The innermost call, from `level` outwards, that stands in the file `path`. False if there is
 * none. */
static bool innermost(struct sandbox *sandbox, const char *path, int level, lua_Debug *found,
                      int *found_level)
{
    for (; lua_getstack(sandbox->lua, level, found); level++) {
        lua_getinfo(sandbox->lua, "Sl", found);
        if (found->source[0] == '@' && strcmp(found->source + 1, path) == 0) {
            *found_level = level;
            return true;
        }
    }
    return false;
}

static int innermost_line(struct sandbox *sandbox)
{
    lua_Debug frame;
    int level;
    return innermost(sandbox, sandbox->path, 0, &frame, &level) ? frame.currentline : 0;
}

/* `format` holds one %llu: the limit. */
__attribute__((format(printf, 2, 0))) static _Noreturn void
end_limit(struct sandbox *sandbox, const char *format, unsigned long long limit)
{
    char text[MESSAGE_BYTES];
    int length = snprintf(text, sizeof text, "%s:%d: ", sandbox->path, innermost_line(sandbox));
    if (length > 0 && (size_t)length < sizeof text)
        snprintf(text + length, sizeof text - (size_t)length, format, limit);
    end(sandbox, ERROR_LIMIT, text);
}

/* Notes the line for whoever watches; ends the process when the instructions are used up. An error
 * would not do: a script may catch it and go on. */
static void hook(lua_State *L, lua_Debug *frame)
{
    struct sandbox *sandbox = sandbox_of(L);
    if (frame->event == LUA_HOOKLINE) {
        lua_getinfo(L, "S", frame);
        if (strcmp(frame->source, sandbox->source) == 0)
            atomic_store_explicit(&sandbox->progress->line, frame->currentline,
                                  memory_order_relaxed);
        return;
    }
    sandbox->instructions += HOOK_INSTRUCTIONS;
    if (sandbox->instructions <= sandbox->options->limits.instructions)
        return;
    end_limit(sandbox, "the script does not end: more than %llu instructions",
              sandbox->options->limits.instructions);
}

/* ---- errors
 * --------------------------------------------------------------------------------------- */

/* What Lua has put in front of a message, "place:line: ": its length, 0 if it is not
 * there. */
static size_t prefix_length(const char *message, const char *place)
{
    size_t length = strlen(place);
    if (strncmp(message, place, length) != 0 || message[length] != ':')
        return 0;
    const char *rest = message + length + 1;
    rest += strspn(rest, "0123456789");
    return strncmp(rest, ": ", 2) == 0 ? (size_t)(rest - message) + 2 : 0;
}

/* Pushes "path:line: message"; line 0 is not known. */
static void push_placed(struct sandbox *sandbox, int line, const char *message)
{
    if (line > 0)
        lua_pushfstring(sandbox->lua, "%s:%d: %s", sandbox->path, line, message);
    else
        lua_pushfstring(sandbox->lua, "%s: %s", sandbox->path, message);
}

/* Every error names path and line. Lua shortens long paths, an error raised inside the API's Lua
 * names a line there, and a script may raise anything. Pushes the text. */
static void push_message(struct sandbox *sandbox, const char *message)
{
    lua_State *L = sandbox->lua;
    size_t length = strlen(sandbox->path);
    if (strncmp(message, sandbox->path, length) == 0 && message[length] == ':')
        lua_pushstring(L, message);
    else if (prefix_length(message, sandbox->short_source) > 0)
        lua_pushfstring(L, "%s%s", sandbox->path, message + strlen(sandbox->short_source));
    else
        push_placed(sandbox, innermost_line(sandbox),
                    message + prefix_length(message, api_name + 1));
}

static const char *function_name(const lua_Debug *frame)
{
    if (frame->name != NULL)
        return frame->name;
    return strcmp(frame->what, "main") == 0 ? "main chunk" : "function";
}

/* Message handler: the message, then the calls in the scenario file that led there. A single call
 * says nothing that the message does not say. */
static int traced(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    const char *message = lua_tostring(L, 1);
    luaL_Buffer text;
    lua_Debug frame;
    int level, frames = 0;
    push_message(sandbox, message ? message : "error without a text");
    luaL_buffinit(L, &text);
    for (int from = 0; innermost(sandbox, sandbox->path, from, &frame, &level); from = level + 1) {
        lua_getinfo(L, "nS", &frame);
        if (frames++ < TRACE_FRAMES) {
            lua_pushfstring(L, "\n  %s:%d: in %s", sandbox->path, frame.currentline,
                            function_name(&frame));
            luaL_addvalue(&text);
        }
    }
    luaL_pushresult(&text);
    if (frames < 2)
        lua_pop(L, 1);
    else
        lua_concat(L, 2);
    return 1;
}

/* ---- what the API's Lua is given
 * -------------------------------------------------------------------- */

/* fail(text, line): an error at that line of the scenario file, or at the innermost one. */
static int core_fail(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    const char *text = luaL_checkstring(L, 1);
    push_placed(sandbox, (int)luaL_optinteger(L, 2, innermost_line(sandbox)), text);
    return lua_error(L);
}

/* line(path): where that file is now, by default the scenario file; 0 if it is not running. */
static int core_line(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    const char *path = luaL_optstring(L, 1, sandbox->path);
    lua_Debug frame;
    int level;
    lua_pushinteger(L, innermost(sandbox, path, 0, &frame, &level) ? frame.currentline : 0);
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
        push_placed(sandbox, innermost_line(sandbox), error.text);
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

/* The file as a function on the stack. Else a message: ERROR_USAGE and ERROR_MEMORY, Lua's; others,
 * one that names the path and no line. */
static enum error_code load_file(lua_State *L, const char *path)
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
    if (load_file(L, luaL_checkstring(L, 1)) != OK) {
        push_placed(sandbox, innermost_line(sandbox), lua_tostring(L, -1));
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

/* ---- random numbers: counted, so that one draw more does not move all others
 * ------------------------ */

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

/* ---- a scenario is finished
 * --------------------------------------------------------------------------- */

static int core_emit(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    if (++sandbox->scenarios > SCENARIOS_MAX)
        end_limit(sandbox, "more than %llu scenarios", SCENARIOS_MAX);
    struct serial *serial = emit_scenario(L); /* collected by Lua, also after an error */
    if (serial->bad)
        return luaL_error(L, "not enough memory");
    write_all(sandbox->out, serial->bytes, serial->used);
    serial_release(serial);
    return 0;
}

/* cover_entry(line, text) */
static int core_emit_cover(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    if (++sandbox->covers > COVERS_MAX)
        end_limit(sandbox, "more than %llu things to cover", COVERS_MAX);
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
        write_all(sandbox->out, serial.bytes, serial.used);
    serial_release(&serial);
    return bad ? luaL_error(L, "not enough memory") : 0;
}

/* ---- the run
 * --------------------------------------------------------------------------------------------- */

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
    {"MAX_LIBRARIES", SCENARIO_MAX_LIBRARIES},
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

static void push_core(lua_State *L)
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

static void open_libraries(lua_State *L)
{
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
    luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 1);
    lua_settop(L, 0);
}

/* Lua tells it only for a function: one that does nothing, of the same source. */
static void note_short_source(struct sandbox *sandbox)
{
    lua_Debug chunk;
    if (luaL_loadbufferx(sandbox->lua, "", 0, sandbox->source, "t") != LUA_OK)
        lua_error(sandbox->lua);
    lua_getinfo(sandbox->lua, ">S", &chunk);
    memcpy(sandbox->short_source, chunk.short_src, sizeof sandbox->short_source);
}

/* The whole run, protected. Returns an error code and its text for those errors that need no trace;
 * raises the others. */
static int run(lua_State *L)
{
    struct sandbox *sandbox = sandbox_of(L);
    note_short_source(sandbox);
    open_libraries(L);
    push_core(L); /* 1 */
    for (size_t i = 0; i < sizeof api / sizeof api[0]; i++) {
        if (luaL_loadbufferx(L, api[i], strlen(api[i]), api_name, "t") != LUA_OK)
            return lua_error(L);
        lua_pushvalue(L, 1);
        lua_call(L, 1, 0);
    }

    enum error_code code = load_file(L, sandbox->path);
    if (code != OK) {
        lua_pushinteger(L, code);
        if (code == ERROR_USAGE || code == ERROR_MEMORY)
            push_message(sandbox, lua_tostring(L, -2));
        else
            lua_pushvalue(L, -2);
        return 2;
    }
    lua_call(L, 0, 0);
    lua_getfield(L, 1, "finish");
    lua_call(L, 0, 0);
    lua_pushinteger(L, OK);
    lua_pushliteral(L, "");
    return 2;
}

static _Noreturn void end_run(struct sandbox *sandbox, int status)
{
    lua_State *L = sandbox->lua;
    char text[MESSAGE_BYTES];
    if (status == LUA_OK)
        end(sandbox, (enum error_code)lua_tointeger(L, -2), lua_tostring(L, -1));
    if (status == LUA_ERRMEM) {
        snprintf(text, sizeof text, "%s:%d: the script needs more than %zu MiB of memory",
                 sandbox->path, atomic_load(&sandbox->progress->line),
                 sandbox->options->limits.memory_bytes >> 20);
        end(sandbox, ERROR_LIMIT, text);
    }
    const char *message = lua_tostring(L, -1);
    end(sandbox, ERROR_USAGE, message ? message : sandbox->path);
}

void sandbox_run(const char *path, const struct script_options *options,
                 struct script_progress *progress, int out)
{
    static struct sandbox sandbox; /* Lua's state points to it until the process ends */
    sandbox = (struct sandbox){.path = path, .options = options, .progress = progress, .out = out};
    size_t bytes = strlen(path) + 2;
    sandbox.source = malloc(bytes);
    sandbox.lua = lua_newstate(allocate, &sandbox);
    if (sandbox.source == NULL || sandbox.lua == NULL)
        end(&sandbox, ERROR_MEMORY, path);
    snprintf(sandbox.source, bytes, "@%s", path);
    *(struct sandbox **)lua_getextraspace(sandbox.lua) = &sandbox;
    lua_sethook(sandbox.lua, hook, LUA_MASKLINE | LUA_MASKCOUNT, HOOK_INSTRUCTIONS);
    lua_pushcfunction(sandbox.lua, traced);
    lua_pushcfunction(sandbox.lua, run);
    end_run(&sandbox, lua_pcall(sandbox.lua, 0, 2, 1));
}
