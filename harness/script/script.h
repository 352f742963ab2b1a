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
#define SCENARIO_MAX_ENVIRONMENT 64
#define SCENARIO_MAX_INCARNATIONS 10000
#define SCENARIO_MAX_TIMEOUT_S 86400
#define SCENARIO_TEXT_BYTES 4096 /* of any text in a scenario, its terminator included */
#define SCENARIO_NAME_BYTES 200  /* of its name, likewise: letters, digits and " _./:+=,-" */
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
    double timeout_s; /* hard limit of the whole scenario, > 0; 0: the command's */
    char *violates;   /* expect.violates, or NULL */
    char **cover;     /* expect.cover: ids of claims whose situation must arise */
    size_t cover_count;
    int max_incarnations; /* 0: as many as the plan has kills, plus one */
    char **environment;   /* "NAME=value", given to the ranks */
    size_t environment_count;
};

struct scenario_list {
    size_t count;
    struct scenario *scenario;
};

/* What one file may cost. */
struct script_limits {
    uint64_t instructions; /* of Lua's virtual machine */
    size_t memory_bytes;   /* of Lua's heap */
    int time_ms;           /* wall clock */
};
extern const struct script_limits script_limits_default;

/* Runs `path` and appends its scenarios. `seed` feeds math.random: file, seed and scenario name
 * decide every number, so a plan is repeatable. Checked before it returns: types, unknown fields
 * (with the nearest known one), ranges (a rank of the plan that does not exist). Whether protocol,
 * program and claims exist is not checked here. Errors: ERROR_USAGE (names file, line, field and
 * the accepted values, and carries the Lua traceback), ERROR_LIMIT, ERROR_IO, ERROR_MEMORY; the
 * list is unchanged then. Bounded by script_limits_default: a bad string pattern ends too, for the
 * file is run in a forked process. The caller's process group, signals and children are left as
 * they were. */
enum error_code script_load(const char *path, uint64_t seed, struct scenario_list *list,
                            struct error *error);

/* The same with other limits. */
enum error_code script_load_limited(const char *path, uint64_t seed,
                                    const struct script_limits *limits, struct scenario_list *list,
                                    struct error *error);

void scenario_list_init(struct scenario_list *list);
void scenario_list_release(struct scenario_list *list);

#endif
