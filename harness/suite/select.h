/* Which scenarios a command is about: loaded, filtered, ordered, and checked before anything is
 * launched. */
#ifndef SUITE_SELECT_H
#define SUITE_SELECT_H

#include "cli/options.h"
#include "script/script.h"

/* chosen[] points into the list, in the order in which they are to run. */
struct selection {
    struct scenario_list list;
    struct scenario **chosen; /* owned */
    size_t count;
    bool none_failed; /* --last-failed had nothing to choose and everything was taken */
};

/* Loads options->path (a folder means its *.lua, sorted) and chooses. An empty choice is not an
 * error. *selection is the caller's to release, also after an error. */
enum error_code select_scenarios(const struct options *options, struct selection *selection,
                                 struct error *error);
void selection_release(struct selection *selection);

/* Programs, protocols, claims, ranks and the launcher: every fault found is printed to stderr.
 * Returns STATUS_PASS, or the status to end with. */
int select_check(const struct selection *selection);

/* OUT/<id>/results.json: what became of each, for --last-failed. */
struct selection_result {
    const struct scenario *scenario;
    int status; /* enum exit_status */
};

/* Writes it whole or not at all. `folder`: OUT/<id>. ERROR_IO. */
enum error_code select_store_results(const char *folder, const struct selection_result *results,
                                     size_t count, struct error *error);

#endif
