/* See sandbox.h. What is safe to offer is decided in open_libraries and in world.lua. */
#include "script/sandbox.h"

#include "script/api.h" /* generated: `api`, the scenario API in Lua */
#include "script/sandbox_core.h"
#include "script/serial.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define HOOK_INSTRUCTIONS 1000
#define TRACE_FRAMES 8
#define MESSAGE_BYTES ERROR_TEXT_BYTES

static const char api_name[] = "=scenario API";

/* --- the end of the process ------------------------------------------------------------------- */

void sandbox_write(int out, const char *bytes, size_t count)
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
    sandbox_write(sandbox->out, serial.bytes, serial.used);
    _exit(0);
}

/* --- limits ----------------------------------------------------------------------------------- */

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

bool sandbox_innermost(struct sandbox *sandbox, const char *path, int level, lua_Debug *found,
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

int sandbox_line(struct sandbox *sandbox)
{
    lua_Debug frame;
    int level;
    return sandbox_innermost(sandbox, sandbox->path, 0, &frame, &level) ? frame.currentline : 0;
}

_Noreturn void sandbox_end_limit(struct sandbox *sandbox, const char *format,
                                 unsigned long long limit)
{
    char text[MESSAGE_BYTES];
    int length = snprintf(text, sizeof text, "%s:%d: ", sandbox->path, sandbox_line(sandbox));
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
    sandbox_end_limit(sandbox, "the script does not end: more than %llu instructions",
                      sandbox->options->limits.instructions);
}

/* --- errors ----------------------------------------------------------------------------------- */

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

void sandbox_push_placed(struct sandbox *sandbox, int line, const char *message)
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
        sandbox_push_placed(sandbox, sandbox_line(sandbox),
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
    for (int from = 0; sandbox_innermost(sandbox, sandbox->path, from, &frame, &level);
         from = level + 1) {
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

static void open_libraries(lua_State *L)
{
    luaL_requiref(L, LUA_GNAME, luaopen_base, 1);
    luaL_requiref(L, LUA_STRLIBNAME, luaopen_string, 1);
    luaL_requiref(L, LUA_TABLIBNAME, luaopen_table, 1);
    luaL_requiref(L, LUA_MATHLIBNAME, luaopen_math, 1);
    luaL_requiref(L, LUA_UTF8LIBNAME, luaopen_utf8, 1);
    lua_settop(L, 0);
}

/* Lua gives it only for a function: one that does nothing, of the same source. */
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
    sandbox_push_core(L); /* 1 */
    for (size_t i = 0; i < sizeof api / sizeof api[0]; i++) {
        if (luaL_loadbufferx(L, api[i], strlen(api[i]), api_name, "t") != LUA_OK)
            return lua_error(L);
        lua_pushvalue(L, 1);
        lua_call(L, 1, 0);
    }

    enum error_code code = sandbox_load(L, sandbox->path);
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
