/* A scenario written as Lua: what `shrink` and a campaign leave for people. Loading the text gives
 * the same scenario again. Prints; needs no Lua. */
#ifndef SCRIPT_LUA_TEXT_H
#define SCRIPT_LUA_TEXT_H

#include "script/script.h"

#include <stdio.h>

/* `comment` (may be NULL) stands above it, a line of it after "-- ". Paths of protocol and program
 * are written as the scenario has them. ERROR_IO. */
enum error_code scenario_write_lua(FILE *out, const struct scenario *scenario, const char *comment,
                                   struct error *error);

/* How much there is to read in a plan: its steps, and every field in them that is not at its
 * default. What `shrink` makes small. */
size_t plan_size(const struct plan *plan);

#endif
