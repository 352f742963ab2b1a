/* A finished scenario as bytes. Only for sandbox.c. */
#ifndef SCRIPT_EMIT_H
#define SCRIPT_EMIT_H

#include "script/serial.h"

#include <lua.h>

/* The scenario that scenario.lua has checked is the table at index 1. The serial begins with
 * SANDBOX_SCENARIO, then holds what scenario_take takes, in the same order. It is one for the whole
 * process and is cleared first; the caller may release it. */
struct serial *emit_scenario(lua_State *L);

#endif
