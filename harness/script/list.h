/* Scenarios and lists of them: copied, released, taken out of a serial. Must not know: Lua. */
#ifndef SCRIPT_LIST_H
#define SCRIPT_LIST_H

#include "script/script.h"
#include "script/serial.h"

/* The order in which the sandbox puts the parts of a scenario; see emit.c. *scenario is
 * owned by the caller, also after a failure (serial->bad): scenario_release. `file` is copied. */
void scenario_take(struct serial *serial, const char *file, struct scenario *scenario);
void scenario_release(struct scenario *scenario);

/* A copy that shares nothing with `from`. *copy is the caller's: scenario_release. */
void scenario_copy(const struct scenario *from, struct scenario *copy);

/* Moves *scenario to the end of `list`. */
void scenario_list_add(struct scenario_list *list, const struct scenario *scenario);

/* One more thing to cover; `file` is copied, `what` is the list's from now on. */
void scenario_list_add_covered(struct scenario_list *list, const char *file, int line, char *what);

/* Moves all of `from` to the end of `list`; `from` is empty then. ERROR_LIMIT: nothing is moved. */
enum error_code scenario_list_append(struct scenario_list *list, struct scenario_list *from,
                                     struct error *error);

#endif
