/* For sandbox.c: the state of a sandbox, and what the API's Lua is given by it (sandbox_core.c). */
#ifndef SCRIPT_SANDBOX_CORE_H
#define SCRIPT_SANDBOX_CORE_H

#include "script/sandbox.h"

#include <lua.h>

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

static inline struct sandbox *sandbox_of(lua_State *L)
{
    return *(struct sandbox **)lua_getextraspace(L);
}

/* --- sandbox.c -------------------------------------------------------------------------------- */

void sandbox_write(int out, const char *bytes, size_t count);

/* The innermost call, from `level` outwards, that stands in the file `path`. False if there is
 * none. */
bool sandbox_innermost(struct sandbox *sandbox, const char *path, int level, lua_Debug *found,
                       int *found_level);

/* Where the scenario file is now; 0 if it is not running. */
int sandbox_line(struct sandbox *sandbox);

/* Pushes "path:line: message"; line 0 is not known. */
void sandbox_push_placed(struct sandbox *sandbox, int line, const char *message);

/* Ends the process. `format` holds one %llu: the limit. */
_Noreturn void sandbox_end_limit(struct sandbox *sandbox, const char *format,
                                 unsigned long long limit) __attribute__((format(printf, 2, 0)));

/* --- sandbox_core.c --------------------------------------------------------------------------- */

/* Pushes the table of functions and numbers that each part of the API's Lua gets. */
void sandbox_push_core(lua_State *L);

/* The file as a function on the stack. Else a message: ERROR_USAGE and ERROR_MEMORY, Lua's; others,
 * one that names the path and no line. */
enum error_code sandbox_load(lua_State *L, const char *path);

#endif
