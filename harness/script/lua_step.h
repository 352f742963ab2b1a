/* A step of a plan as the table that a method of p is given. Only for lua_text.c. */
#ifndef SCRIPT_LUA_STEP_H
#define SCRIPT_LUA_STEP_H

#include "plan/plan.h"
#include "script/lua_table.h"

/* The method that makes such a step: the action, or the shorter word that a person would use for
 * it ("delay", "reorder"). Static. */
const char *lua_step_method(const struct plan_step *step);

/* The fields of the step into a table that is open. `after` is the name of the step that arms it,
 * "\"start\"" with its quotes, or NULL: the one before. Of a release the step it lets go is not
 * among them: that stands in front of the table. */
void lua_step_fields(const struct plan_step *step, const char *after, struct lua_table *table);

#endif
