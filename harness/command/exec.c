/* `faultline exec`: a command under the taps. Three situations: from a shell (the command starts
 * ranks itself), inside a rank of a job (`mpiexec -n 4 faultline exec -- ./app`), and inside a rank
 * of a run of ours (--in). */
#include "board/board.h"
#include "board/rank_number.h"
#include "cli/arguments.h"
#include "cli/settings.h"
#include "cli/verb.h"
#include "launch/command.h"
#include "launch/incomplete_traces.h"
#include "launch/rank.h"
#include "system/path.h"
#include "system/process.h"
#include "system/status.h"

#include <argp.h>
#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ENVIRONMENT_MAX 256
#define NAMED_FOLDERS_MAX 100000

#define RANKS_MOST 1024
#define OWN_SEED 1 /* as of the other verbs */

enum key {
    KEY_RANKS = 'n',
    KEY_TRACE = 1000,
    KEY_ENGINE,
    KEY_SEED,
    KEY_IN,
    KEY_PRELOAD,
    KEY_ENV,
    KEY_WATCH,
    KEY_FIRST
};

struct exec_options {
    const char *trace;
    bool step;     /* the step engine runs it */
    long ranks;    /* then; 0: not given */
    uint64_t seed; /* then */
    const char *in;
    const char *preload;
    const char *environment[ENVIRONMENT_MAX];
    size_t environment_count;
    pid_t watch;
    long first;     /* number of the first of the processes that were spawned together */
    char **command; /* NULL-terminated; NULL: none */
};

static const struct argp_option exec_argp_options[] = {
    {"trace", KEY_TRACE, "DIR", 0, "where the trace goes (default faultline-out/exec-<n>)", 0},
    {"engine", KEY_ENGINE, "NAME", 0,
     "step: COMMAND is an MPI program, whose ranks the step engine runs (faultline-engine(7))", 0},
    {"ranks", KEY_RANKS, "N", 0, "with --engine step: how many", 0},
    {"seed", KEY_SEED, "N", 0, "with --engine step: of what it decides (default 1)", 0},
    {"in", KEY_IN, "RUN", OPTION_HIDDEN, "a run folder of `faultline run`", 0},
    {"preload", KEY_PRELOAD, "LIST", OPTION_HIDDEN, "LD_PRELOAD of the rank", 0},
    {"env", KEY_ENV, "NAME=VALUE", OPTION_HIDDEN, "a variable for the rank", 0},
    {"watch", KEY_WATCH, "PID", OPTION_HIDDEN, "end with this process", 0},
    {FIRST_OPTION, KEY_FIRST, "N", OPTION_HIDDEN, "rank 0 of this MPI_COMM_WORLD is process N", 0},
    {0},
};

static long number_of(const char *text, const char *option, long least, long most,
                      struct argp_state *state)
{
    char *end;
    errno = 0;
    long number = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || number < least || number > most)
        argp_error(state, "%s: \"%s\" is not a whole number from %ld to %ld", option, text, least,
                   most);
    return number;
}

static bool is_step(const char *name, struct argp_state *state)
{
    bool step = strcmp(name, "step") == 0;
    if (!step && strcmp(name, "mpiexec") != 0)
        argp_error(state, "--engine: \"%s\" is not an engine; accepted: mpiexec, step", name);
    return step;
}

/* The engine starts ranks; every other command does so itself. */
static void check_engine(const struct exec_options *options, struct argp_state *state)
{
    if (options->step && options->ranks == 0)
        argp_error(state, "-n is missing: how many ranks the step engine is to run");
    if (!options->step && (options->ranks != 0 || options->seed != 0))
        argp_error(state, "-n and --seed are for --engine step; else the command starts its ranks: "
                          "mpiexec -n 4 ./program");
}

static error_t parse_exec(int key, char *argument, struct argp_state *state)
{
    struct exec_options *options = state->input;
    switch (key) {
    case KEY_TRACE:
        options->trace = argument;
        return 0;
    case KEY_ENGINE:
        options->step = is_step(argument, state);
        return 0;
    case KEY_RANKS:
        options->ranks = number_of(argument, "-n", 1, RANKS_MOST, state);
        return 0;
    case KEY_SEED:
        options->seed = (uint64_t)number_of(argument, "--seed", 1, LONG_MAX, state);
        return 0;
    case KEY_IN:
        options->in = argument;
        return 0;
    case KEY_PRELOAD:
        options->preload = argument;
        return 0;
    case KEY_ENV:
        if (options->environment_count == ENVIRONMENT_MAX)
            argp_error(state, "more than %d variables", ENVIRONMENT_MAX);
        options->environment[options->environment_count++] = argument;
        return 0;
    case KEY_WATCH:
        options->watch = (pid_t)strtol(argument, NULL, 10);
        return 0;
    case KEY_FIRST:
        options->first = number_of(argument, "--" FIRST_OPTION, 0, RANKS_MOST, state);
        return 0;
    case ARGP_KEY_ARGS:
        options->command = state->argv + state->next;
        return 0;
    case ARGP_KEY_NO_ARGS:
        argp_error(state, "a command is missing: faultline exec -- mpiexec -n 4 ./program");
        return 0;
    case ARGP_KEY_END:
        check_engine(options, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp exec_argp = {exec_argp_options,
                                      parse_exec,
                                      "-- COMMAND [ARGUMENT...]",
                                      "Runs COMMAND, and everything it starts, under Faultline's "
                                      "taps, and records every MPI process. "
                                      "A job that is deadlocked is ended, with exit "
                                      "status 122; else the exit status is COMMAND's.\v"
                                      "    faultline exec -- mpiexec -n 4 ./program\n"
                                      "    mpiexec -n 4 faultline exec --trace DIR -- ./program\n"
                                      "    faultline exec --engine step -n 4 -- ./program",
                                      NULL,
                                      NULL,
                                      NULL};

static const char *out_folder(void)
{
    const char *named = getenv("FAULTLINE_OUT");
    return named != NULL && *named != '\0' ? named : "faultline-out";
}

/* The first free exec-<n>, made at once, so that two commands never share one. */
static enum error_code fresh_folder(struct path *folder, struct error *error)
{
    enum error_code code = path_make_folder(out_folder(), error);
    for (int n = 1; code == OK && n <= NAMED_FOLDERS_MAX; n++) {
        code = path_format(folder, error, "%s/exec-%d", out_folder(), n);
        if (code == OK && mkdir(folder->text, 0777) == 0)
            return OK;
        if (code == OK && errno != EEXIST)
            return error_set(error, ERROR_IO, "%s: %s", folder->text, strerror(errno));
    }
    return code != OK ? code
                      : error_set(error, ERROR_LIMIT, "%s holds exec-1 to exec-%d already",
                                  out_folder(), NAMED_FOLDERS_MAX);
}

/* Inside a job all ranks must mean the same folder without talking to each other: it is named after
 * the launcher's process above them, or the step of the batch system. */
static enum error_code shared_folder(struct path *folder, struct error *error)
{
    const char *job = getenv("SLURM_JOB_ID"), *step = getenv("SLURM_STEP_ID");
    if (job != NULL && step != NULL)
        return path_format(folder, error, "%s/exec-slurm-%s.%s", out_folder(), job, step);
    return path_format(folder, error, "%s/exec-launcher-%d", out_folder(), (int)getppid());
}

static int is_trace(const struct dirent *entry)
{
    const char *dot = strrchr(entry->d_name, '.');
    return dot != NULL && strcmp(dot, ".trace") == 0;
}

static int count_traces(const struct path *run)
{
    struct path folder;
    struct dirent **entries;
    if (path_format(&folder, NULL, "%s/trace", run->text) != OK)
        return 0;
    int count = scandir(folder.text, &entries, is_trace, NULL);
    for (int i = 0; i < count; i++)
        free(entries[i]);
    if (count >= 0)
        free(entries);
    return count > 0 ? count : 0;
}

/* Inside a job other ranks may have come further, so only the files that this rank itself is to
 * write count. */
static bool has_own_trace(const struct path *run)
{
    struct path trace;
    return path_format(&trace, NULL, "%s/trace/r%d.0.trace", run->text, rank_from_environment()) ==
               OK &&
           path_exists(trace.text);
}

/* Chooses and makes the run folder; absolute in *run. */
static enum error_code prepare_folder(const struct exec_options *options, bool inside,
                                      struct path *run, struct error *error)
{
    struct path folder;
    enum error_code code = options->trace != NULL
                               ? path_format(&folder, error, "%s", options->trace)
                           : inside ? shared_folder(&folder, error)
                                    : fresh_folder(&folder, error);
    if (code == OK)
        code = path_make_run(folder.text, error);
    if (code == OK)
        code = path_absolute(folder.text, run, error);
    if (code == OK && (inside ? has_own_trace(run) : count_traces(run) > 0))
        code = error_set(error, ERROR_USAGE,
                         "%s holds traces of another job already; --trace names a new folder",
                         folder.text);
    return code;
}

static enum error_code run_inside(const struct exec_options *options, const struct path *run,
                                  const struct lookout *lookout, struct error *error)
{
    struct path library;
    struct rank_job job = {
        .run = run->text,
        .preload = options->preload,
        .environment = options->environment,
        .environment_count = options->environment_count,
        .command = options->command,
        .capture = options->in != NULL,
        .owns = options->in != NULL,
        .watch = options->watch,
        .first = (int)options->first,
        .lookout = options->in == NULL ? lookout : NULL,
    };
    if (job.preload == NULL) {
        enum error_code code = path_library(&library, error);
        if (code != OK)
            return code;
        job.preload = library.text;
    }
    return rank_parent(&job, error);
}

/* A trace that cannot be read is not for this command to judge. */
static void report_lost(const struct path *run)
{
    struct trace_set set;
    if (trace_set_open_run(run->text, &set, NULL) == OK)
        incomplete_traces_print(&set, stderr);
    trace_set_release(&set);
}

static void report_where(const struct path *run)
{
    int count = count_traces(run);
    if (count == 0 && settings_record_nothing())
        fprintf(stderr, "faultline: nothing was recorded, as FAULTLINE_RECORD=0 asks for\n");
    else if (count == 0)
        fprintf(stderr, "faultline: no MPI process was recorded (is the program linked with a "
                        "shared MPI library?)\n");
    else
        fprintf(stderr, "faultline: %d trace%s in %s; `faultline trace` prints them\n", count,
                count == 1 ? "" : "s", run->text);
}

static int run_on_engine(const struct exec_options *options, const struct path *run, bool inside,
                         exec_on_engine_function *on_engine)
{
    struct error error = {0};
    if (inside || on_engine == NULL) {
        error_set(&error, ERROR_USAGE,
                  "--engine step starts the ranks itself, and this is one of a job already");
        return (int)status_of_error(&error);
    }
    int status = on_engine(run, (int)options->ranks, options->seed != 0 ? options->seed : OWN_SEED,
                           options->command);
    if (status != STATUS_HARNESS) /* it was run */
        report_where(run);
    return status;
}

int exec_with_lookout(int argc, char **argv, const struct lookout *lookout,
                      exec_on_engine_function *on_engine)
{
    struct exec_options options = {0};
    arguments_parse(&exec_argp, argc, argv, ARGP_IN_ORDER, &options);
    struct error error = {0};
    struct path run;
    bool inside = options.in != NULL || rank_from_environment() >= 0;
    enum error_code code = settings_check(&error);
    if (code == OK && options.in == NULL)
        code = settings_check_library(&error);
    if (code == OK)
        code = options.in != NULL ? path_absolute(options.in, &run, &error)
                                  : prepare_folder(&options, inside, &run, &error);
    if (code == OK && options.step)
        return run_on_engine(&options, &run, inside, on_engine);
    if (code == OK && inside)
        code = run_inside(&options, &run, lookout, &error);
    if (code != OK)
        return (int)status_of_error(&error);
    int wait_status;
    if (command_run(&run, options.command, lookout, &wait_status, &error) != OK)
        return (int)status_of_error(&error);
    report_where(&run);
    report_lost(&run);
    process_end_like(wait_status);
}
