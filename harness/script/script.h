/* Scenarios. No lua_* is called outside this folder. A scenario file is run once, in a
 * sandbox, in the driver; what comes out is data. */
#ifndef SCRIPT_SCRIPT_H
#define SCRIPT_SCRIPT_H

#include "base/error.h"
#include "plan/plan.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SCENARIO_MAX_RANKS 1024
#define SCENARIO_MAX_CLAIMS 64
#define SCENARIO_MAX_ARGUMENTS 64
#define SCENARIO_MAX_ENVIRONMENT 64
#define SCENARIO_MAX_FILES 16
#define SCENARIO_MAX_LIBRARIES 16
#define SCENARIO_MAX_PATTERNS 32 /* of what the ranks print and is not compared */
#define SCENARIO_MAX_INCARNATIONS TRACE_MAX_INCARNATIONS
#define SCENARIO_MAX_TIMEOUT_S 86400
#define SCENARIO_TEXT_BYTES 4096 /* of any text in a scenario, its terminator included */
#define SCENARIO_NAME_BYTES 200  /* of its name, likewise: letters, digits and " _./:+=,()-" */
#define SCENARIOS_MAX 65536
#define COVERS_MAX 1024                  /* things that a file may have to cover */
#define SCENARIO_MAX_REQUESTS 65536      /* whose index an answer may name */
#define SCENARIO_MAX_COMMUNICATORS 65536 /* n of "world#n" */
#define SCENARIO_MAX_WIRE_OFFSET 4088    /* of a number in a message of a protocol's own */

/* One scenario, as the file says it. All strings are owned by the list. */
#define ENGINE_STEP "step"

struct scenario {
    char *file; /* as given on the command line */
    int line;   /* where `scenario` stands */
    char *name;
    char *protocol;  /* a folder of suites/protocols, or a path to a shared library */
    char *program;   /* a program of suites/programs, or a path to an executable */
    char **argument; /* of the program */
    size_t argument_count;
    int ranks;
    int restart_ranks; /* of all incarnations but the first; 0: as many */
    int reserve;       /* so many of them begin as no rank of the application; less than ranks */
    char *library;     /* files under test that call MPI_X, "libx.so:liby.so"; NULL: none */
    char *helpers;     /* ranks that belong to what is under test, ascending, "0,3"; NULL: none */
    char *nodes;  /* which ranks are on which node, "0,1;2,3" (board/nodes.h); NULL: nothing said */
    char *stores; /* those that have names, "global,node/ram" (board/stores.h); NULL: none */
    char *result; /* "output", then a line for each regular expression of what is left out; NULL:
                     what the program declares is compared alone */
    char **claim; /* ids or families; at least one */
    size_t claim_count;
    struct plan plan;
    char *engine;     /* what runs the ranks: "step"; NULL: mpiexec */
    char *policy;     /* how the step engine decides (engine/core/policy.c); NULL: at random */
    bool survivors;   /* a death does not end the incarnation: the others go on */
    double timeout_s; /* hard limit of the whole scenario, > 0; 0: the command's */
    char *violates;   /* expect.violates, or NULL */
    char **cover;     /* expect.cover: ids of claims whose situation must arise */
    size_t cover_count;
    int max_incarnations; /* 0: as many as the plan has kills, plus one; with survivors one; more
                           * than one: who exits after a kill has left, and the job starts again */
    char **environment;   /* "NAME=value", given to the ranks */
    size_t environment_count;
    bool restart_has_arguments; /* later incarnations have those below instead of `argument` */
    char **restart_argument;
    size_t restart_argument_count;
    char *
        *restart_environment; /* of later incarnations, besides `environment`, of which it holds */
    size_t restart_environment_count;
    char **files; /* "NAME=what is in it": written for each run */
    size_t file_count;
    char **setup; /* words of the command that prepares each run; none: there is none */
    size_t setup_count;
};

/* What the scenarios of a file together must bring about: a line of its `cover { ... }`. */
struct covered {
    char *file; /* as of its scenarios */
    int line;
    char *what; /* a claim, family or table of cells ("C.cell"), or "fault=kill role=initiator
                   phase=saved", where role and phase may be left out */
};

struct scenario_list {
    size_t count;
    struct scenario *scenario;
    size_t covered_count;
    struct covered *covered;
};

/* What one file may cost. */
struct script_limits {
    uint64_t instructions; /* of Lua's virtual machine */
    size_t memory_bytes;   /* of Lua's heap */
    int time_ms;           /* of a processor */
};

/* How files are loaded. */
struct script_options {
    uint64_t seed; /* feeds math.random: file, seed and scenario name decide every number */
    int ranks;     /* so many for every scenario, whatever it says; 0: what it says */
    /* Where the messages of a protocol's own are described: the path, whether or not there is such
     * a file, or an error when there is no such protocol. NULL: nowhere. */
    enum error_code (*wire_file)(const char *protocol, const char *scenario_file, char *path,
                                 size_t bytes, struct error *error);
    bool all_wires; /* every plan gets all messages of its protocol, not only those it names */
    struct script_limits limits;
};

/* Seed 0, no ranks, no wire files, the usual limits. */
extern const struct script_options script_options_default;

/* Runs `path` and appends its scenarios; the same file and options give the same plans. Checked
 * before it returns: types, unknown fields (with the nearest known one), ranges (a rank of the plan
 * that does not exist), messages that the protocol does not have. Whether protocol, program and
 * claims exist is not checked here. Errors: ERROR_USAGE (names file, line, field and the accepted
 * values, and carries the Lua traceback), ERROR_LIMIT, ERROR_IO, ERROR_MEMORY; the list is
 * unchanged then. Bounded by the limits: a bad string pattern ends too, for the file is run in a
 * forked process. The caller's process group, signals and children are left as they were. */
enum error_code script_load(const char *path, const struct script_options *options,
                            struct scenario_list *list, struct error *error);

/* As many ranks, the same arguments and environment. The executable is not looked at: its name may
 * mean another one elsewhere. */
bool scenario_same_call(const struct scenario *a, const struct scenario *b);

/* "step", or "mpiexec". */
void scenario_set_engine(struct scenario *scenario, const char *engine);

/* How many ranks the incarnation has, counted from 0; and the most that any has. */
int scenario_ranks_in(const struct scenario *scenario, int incarnation);
int scenario_most_ranks(const struct scenario *scenario);

/* Ranks that belong to the library under test. */
bool scenario_is_helper(const struct scenario *scenario, int rank);
int scenario_helpers(const struct scenario *scenario);

/* The same claims in the same order, and the same is compared. */
bool scenario_same_claims(const struct scenario *a, const struct scenario *b);

/* An empty list. To be released, with all scenarios in it. */
void scenario_list_init(struct scenario_list *list);
void scenario_list_release(struct scenario_list *list);

#endif
