/* Scenarios and lists of them: copied, released, taken out of a parcel. Must not know: Lua. */
#ifndef SCRIPT_LIST_H
#define SCRIPT_LIST_H

#include "script/parcel.h"
#include "script/script.h"

/* The order in which the sandbox puts the parts of a scenario; see emit.c. *scenario is
 * owned by the caller, also after a failure (parcel->bad): scenario_release. `file` is copied. */
void scenario_take(struct parcel *parcel, const char *file, struct scenario *scenario);
void scenario_release(struct scenario *scenario);

/* A copy that shares nothing with `from`. *copy is the caller's, also after an error:
 * scenario_release. ERROR_MEMORY. */
enum error_code scenario_copy(const struct scenario *from, struct scenario *copy,
                              struct error *error);

/* Moves *scenario to the end of `list`; it is released on failure. */
enum error_code scenario_list_add(struct scenario_list *list, struct scenario *scenario,
                                  struct error *error);

/* One more thing to cover; the texts are copied. ERROR_MEMORY. */
enum error_code scenario_list_add_covered(struct scenario_list *list, const char *file, int line,
                                          const char *what, struct error *error);

/* Moves all of `from` to the end of `list`; `from` is empty then. Nothing is moved on failure. */
enum error_code scenario_list_append(struct scenario_list *list, struct scenario_list *from,
                                     struct error *error);

#endif
