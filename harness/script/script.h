/* Scenarios: the one door to Lua. No lua_* outside this folder. A scenario file is run once, in a
 * sandbox, in the driver; what comes out is data. */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "base/error.h"
#include "plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENARIO_MAX_RANKS 1024
#define SCENARIO_MAX_CLAIMS 32
#define SCENARIO_MAX_ARGUMENTS 64
#define SCENARIOS_MAX 65536

/* One scenario, as the file says it. All strings are owned by the list. */
struct scenario {
    char *file; /* as given on the command line */
    int line;   /* where `scenario` stands */
    char *name;
    char *protocol;  /* a folder of suites/protocols, or a path to a shared library */
    char *program;   /* a program of suites/programs, or a path to an executable */
    char **argument; /* of the program */
    size_t argument_count;
    int ranks;
    char **claim; /* ids or families; at least one */
    size_t claim_count;
    struct plan plan;
    double timeout_s;     /* hard limit of the whole scenario, > 0; 0: the command's */
    char *violates;       /* expect.violates, or NULL */
    char **cover;         /* expect.cover: ids of claims whose situation must arise */
    size_t cover_count;
    int max_incarnations; /* 0: as many as the plan has kills, plus one */
    char **environment;   /* "NAME=value", given to the ranks */
    size_t environment_count;
};

struct scenario_list {
    size_t count;
    struct scenario *scenario;
};

/* Runs `path` and appends its scenarios. `seed` feeds math.random and scenario seeds. Checked
 * before it returns: types, unknown fields (with the nearest known one), ranges (a rank of the plan
 * that does not exist). Errors name file, line, field and the accepted values, and carry the Lua
 * traceback for run-time errors. The list keeps what was there before. Bounded: instructions,
 * memory, and wall-clock time (a bad string pattern ends too). */
enum error_code script_load(const char *path, uint64_t seed, struct scenario_list *list,
                            struct error *error);

void scenario_list_init(struct scenario_list *list);
void scenario_list_release(struct scenario_list *list);

#endif
