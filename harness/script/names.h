/* The names that a scenario may use which are not its own: events, MPI functions, errors. Only for
 * sandbox.c. Must not know: scenarios, files. */
#ifndef SCRIPT_NAMES_H
#define SCRIPT_NAMES_H

#include <lua.h>

/* Into the table on top of the stack: lists `events` (in the order of plan.h) and `errors` (name →
 * number), and functions of the name of an MPI function: call_known, call_nearest, call_family,
 * call_answer, call_blocks. */
void names_add(lua_State *L);

#endif
