/* See options.h. */
#include "cli/options.h"

#include "cli/arguments.h"
#include "script/script.h"
#include "system/status.h"

#include <argp.h>
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define COMMIT_DIGITS 40
#define SEED_DIGITS 16
#define VARIABLE_BYTES 64
#define DEFAULT_SEED 1 /* the same scenarios every time, unless another seed is asked for */
#define TIMEOUT_MOST_S 1e6
#define TRACE_MOST_MB 1000000
#define DEFAULT_REPLAYS 20
#define DEFAULT_CONFIRM 5
#define MOST_CRASHES 8
#define MOST_POLLS 1000

enum key {
    KEY_JOBS = 'j',
    KEY_VERBOSE = 'v',
    KEY_SEED = 1000,
    KEY_OUT,
    KEY_RANKS,
    KEY_ENGINE,
    KEY_TIMEOUT,
    KEY_TRACE_LIMIT,
    KEY_FILTER,
    KEY_SHARD,
    KEY_REPEAT,
    KEY_UNTIL_FAILURE,
    KEY_SHUFFLE,
    KEY_LAST_FAILED,
    KEY_DURATIONS,
    KEY_DRY_RUN,
    KEY_TAP,
    KEY_RESULTS, /* and the next ones: KEY_RESULTS + enum result_form_id */
    KEY_RESULTS_LAST = KEY_RESULTS + RESULTS_FORMS - 1,
    KEY_HTML,
    KEY_NO_CAPTURE,
    KEY_NO_CONTROL,
    KEY_CONFIRM,
    KEY_NO_STACKS,
    KEY_CLAIMS,
    KEY_STRATEGY,
    KEY_RUNS,
    KEY_BUDGET,
    KEY_RESUME,
    KEY_REPLAYS,
    KEY_KEEP,
    KEY_TRUST,
    KEY_ALL_ORDERS,
    KEY_CRASHES,
    KEY_LOSSES,
    KEY_POLLS,
    KEY_PREEMPTIONS,
    KEY_SURVEYS,
    KEY_MERGE,
    KEY_SLURM,
    KEY_TASKS,
};

/* A line of the table. argument NULL: a switch. */
struct option_line {
    const char *name;
    int key;
    const char *argument;
    int verbs; /* enum option_verb, combined */
    const char *help;
};

static const struct option_line lines[] = {
    {"jobs", KEY_JOBS, "N", FOR_RUN | FOR_CAMPAIGN | FOR_REPLAY | FOR_SHRINK,
     "runs at once (default 1: ranks spin while they wait)"},
    {"seed", KEY_SEED, "N", FOR_RUN | FOR_LIST | FOR_CAMPAIGN,
     "seed of all that is drawn, a number or a commit (default 1)"},
    {"out", KEY_OUT, "DIR",
     FOR_RUN | FOR_LIST | FOR_CAMPAIGN | FOR_REPLAY | FOR_SHRINK | FOR_EXPLORE,
     "where runs are kept (default faultline-out)"},
    {"ranks", KEY_RANKS, "N", FOR_RUN | FOR_LIST | FOR_CAMPAIGN | FOR_EXPLORE,
     "instead of what the scenarios say"},
    {"engine", KEY_ENGINE, "NAME", FOR_RUN | FOR_CAMPAIGN,
     "what runs the ranks, instead of what the scenarios say: mpiexec or step "
     "(faultline-engine(7))"},
    {"engine", KEY_ENGINE, "NAME", FOR_REPLAY,
     "what runs the ranks, instead of what ran them then: a run of the step engine on mpiexec"},
    {"timeout", KEY_TIMEOUT, "S", FOR_RUN | FOR_CAMPAIGN | FOR_EXPLORE,
     "seconds for the faults, and again for the job without them, where the scenario says nothing "
     "(default 60)"},
    {"trace-limit", KEY_TRACE_LIMIT, "MB", FOR_RUN | FOR_CAMPAIGN | FOR_EXPLORE,
     "end a run whose traces and output take more than so many megabytes, as a harness error "
     "(default 4000)"},
    {"filter", KEY_FILTER, "PATTERN", FOR_RUN | FOR_LIST | FOR_CAMPAIGN | FOR_EXPLORE,
     "only scenarios whose name or file holds PATTERN, or matches it as a glob"},
    {"shard", KEY_SHARD, "I/N", FOR_RUN | FOR_LIST, "only every N-th scenario, the I-th of them"},
    {"shard", KEY_SHARD, "I/N", FOR_CAMPAIGN,
     "only every N-th plan, the I-th of them: one of N campaigns that --merge puts together"},
    {"last-failed", KEY_LAST_FAILED, NULL, FOR_RUN | FOR_LIST,
     "only what did not pass the last time"},
    {"shuffle", KEY_SHUFFLE, NULL, FOR_RUN | FOR_LIST, "in an order drawn from the seed"},
    {"repeat", KEY_REPEAT, "N", FOR_RUN | FOR_REPLAY, "everything N times"},
    {"until-failure", KEY_UNTIL_FAILURE, NULL, FOR_RUN,
     "again and again (at most --repeat times), to the first that fails; vacuous runs are "
     "counted, and end nothing"},
    {"strategy", KEY_STRATEGY, "NAME", FOR_CAMPAIGN, "how plans are chosen (default random)"},
    {"runs", KEY_RUNS, "N", FOR_CAMPAIGN,
     "at most N runs (default 100 where the strategy has no end and there is no --budget)"},
    {"budget", KEY_BUDGET, "TIME", FOR_CAMPAIGN,
     "begin no run after TIME: 90, 90s, 5m, 1.5h; what runs then is let finish"},
    {"until-failure", KEY_UNTIL_FAILURE, NULL, FOR_CAMPAIGN,
     "stop at the first failure, once it is replayed; what cannot be judged is none"},
    {"replays", KEY_REPLAYS, "N", FOR_CAMPAIGN,
     "replay the first failure of each group N times (default 20)"},
    {"resume", KEY_RESUME, "DIR", FOR_CAMPAIGN, "go on with the campaign in DIR where it stopped"},
    {"keep", KEY_KEEP, NULL, FOR_CAMPAIGN, "keep the folders of runs that passed, too"},
    {"surveys", KEY_SURVEYS, "DIR", FOR_CAMPAIGN,
     "with --shard: the runs without faults are those of the campaign or shard in DIR, so that all "
     "shards draw from the same"},
    {"merge", KEY_MERGE, NULL, FOR_CAMPAIGN,
     "put together the shards whose folders are named, all N of them, and replay what they found"},
    {"slurm", KEY_SLURM, NULL, FOR_CAMPAIGN,
     "have the runs made by a job array of Slurm; -j is what each task runs at once"},
    {"tasks", KEY_TASKS, "N", FOR_CAMPAIGN, "with --slurm: tasks of the job array (default 16)"},
    {"durations", KEY_DURATIONS, NULL, FOR_RUN, "name the slowest at the end"},
    {"dry-run", KEY_DRY_RUN, NULL, FOR_RUN, "check everything, launch nothing"},
    {"tap", KEY_TAP, "FILE", FOR_RUN | FOR_CHECK | FOR_CAMPAIGN | FOR_REPLAY,
     "TAP to FILE as well"},
    {"junit", KEY_RESULTS + RESULTS_JUNIT, "FILE", FOR_RUN, "JUnit XML to FILE, when all is over"},
    {"json", KEY_RESULTS + RESULTS_JSON, "FILE", FOR_RUN, "the same as JSON, a line a scenario"},
    {"github", KEY_RESULTS + RESULTS_GITHUB, "FILE", FOR_RUN,
     "annotations for GitHub's runner to FILE (/dev/stderr shows them)"},
    {"gitlab", KEY_RESULTS + RESULTS_GITLAB, "FILE", FOR_RUN,
     "GitLab's code quality report to FILE"},
    {"keep", KEY_KEEP, NULL, FOR_RUN, "what passed can be replayed, too"},
    {"trust", KEY_TRUST, NULL, FOR_REPLAY, "run what a packed run names without asking"},
    {"html", KEY_HTML, "DIR", FOR_RUN,
     "the page of every run to DIR/<number>.html, and DIR/index.html; what does not pass has one "
     "in its folder anyway"},
    {"budget", KEY_BUDGET, "TIME", FOR_EXPLORE,
     "start nothing after so long for each scenario: 90, 90s, 5m (default: no limit)"},
    {"runs", KEY_RUNS, "N", FOR_EXPLORE, "at most so many for each scenario (default: no limit)"},
    {"keep", KEY_KEEP, NULL, FOR_EXPLORE, "keep the folders of all runs"},
    {"jobs", KEY_JOBS, "N", FOR_EXPLORE,
     "runs at once, each of another place (default: the processors)"},
    {"crashes", KEY_CRASHES, "K", FOR_EXPLORE,
     "also with up to K deaths, before every call of every rank (default 0)"},
    {"losses", KEY_LOSSES, NULL, FOR_EXPLORE,
     "each of these also with the loss of what the rank, and of what nobody, has synced"},
    {"polls", KEY_POLLS, "K", FOR_EXPLORE,
     "a poll in vain is answered at once K times while its rank does nothing else (default 1)"},
    {"preemptions", KEY_PREEMPTIONS, "K", FOR_EXPLORE,
     "only schedules that take the turn from a rank that could go on at most K times, and these in "
     "all orders"},
    {"resume", KEY_RESUME, "DIR", FOR_EXPLORE,
     "go on with the search in DIR where it stopped, with the same scenarios and options"},
    {"all-orders", KEY_ALL_ORDERS, NULL, FOR_EXPLORE,
     "also those that differ only in the order of what commutes"},
    {"budget", KEY_BUDGET, "TIME", FOR_SHRINK,
     "begin no run after TIME: 90, 90s, 5m, 1.5h; the best so far is left (default 120)"},
    {"timeout", KEY_TIMEOUT, "S", FOR_SHRINK,
     "hard limit of a run in seconds (default: five times what RUN took, at least 10)"},
    {"no-stacks", KEY_NO_STACKS, NULL, FOR_RUN,
     "do not run what violates a claim once more to see where its witness lies (stacks.txt)"},
    {"no-capture", KEY_NO_CAPTURE, NULL, FOR_RUN, "output of the ranks to standard error"},
    {"confirm", KEY_CONFIRM, "N", FOR_RUN | FOR_SHRINK,
     "repeat what violates a claim on the step engine N times under mpiexec with the same "
     "decisions "
     "(default 5; 0: not)"},
    {"no-control", KEY_NO_CONTROL, NULL, FOR_RUN,
     "do not run what violates a claim once more without its faults"},
    {"claims", KEY_CLAIMS, "LIST", FOR_CHECK, "judge these instead: IDs and -IDs, with commas"},
    {"verbose", KEY_VERBOSE, NULL, FOR_RUN | FOR_LIST | FOR_CHECK, "say more, of what passed too"},
};
#define LINE_COUNT (sizeof lines / sizeof lines[0])

static enum error_code take_count(const char *text, int least, int most, int *number,
                                  struct error *error)
{
    char *end;
    errno = 0;
    long wide = strtol(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || wide < least || wide > most)
        return error_set(error, ERROR_USAGE, "\"%s\" is not a whole number from %d to %d", text,
                         least, most);
    *number = (int)wide;
    return OK;
}

static enum error_code take_timeout(const char *text, double *seconds, struct error *error)
{
    char *end;
    *seconds = strtod(text, &end);
    if (end == text || *end != '\0' || !(*seconds > 0) || *seconds > TIMEOUT_MOST_S)
        return error_set(error, ERROR_USAGE,
                         "\"%s\" is not a number of seconds above 0, at most %g", text,
                         TIMEOUT_MOST_S);
    return OK;
}

static enum error_code take_engine(const char *text, const char **engine, struct error *error)
{
    if (strcmp(text, "mpiexec") != 0 && strcmp(text, "step") != 0)
        return error_set(error, ERROR_USAGE, "\"%s\" is not an engine; accepted: mpiexec, step",
                         text);
    *engine = text;
    return OK;
}

/* A number of seconds, minutes or hours. */
static enum error_code take_budget(const char *text, double *seconds, struct error *error)
{
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"m", 60}, {"h", 3600}};
    char *end;
    double number = strtod(text, &end);
    for (size_t i = 0; end != text && i < sizeof units / sizeof units[0]; i++) {
        *seconds = number * units[i].seconds;
        if (strcmp(end, units[i].name) == 0 && *seconds > 0 && *seconds <= TIMEOUT_MOST_S)
            return OK;
    }
    return error_set(error, ERROR_USAGE,
                     "\"%s\" is not a time above 0, at most %g s: 90, 90s, 5m, 1.5h", text,
                     TIMEOUT_MOST_S);
}

enum error_code shard_parse(const char *text, struct options *options, struct error *error)
{
    char after;
    if (sscanf(text, "%d/%d%c", &options->shard, &options->shards, &after) != 2 ||
        options->shard < 1 || options->shard > options->shards ||
        options->shards > OPTIONS_MAX_SHARDS)
        return error_set(error, ERROR_USAGE,
                         "\"%s\" is not I/N with I from 1 to N, and N at most %d", text,
                         OPTIONS_MAX_SHARDS);
    return OK;
}

enum error_code seed_parse(const char *text, uint64_t *seed, struct error *error)
{
    char digits[SEED_DIGITS + 1] = "";
    size_t length = strlen(text);
    bool commit = length == COMMIT_DIGITS && strspn(text, "0123456789abcdefABCDEF") == length;
    if (commit)
        memcpy(digits, text, SEED_DIGITS);
    bool hexadecimal = !commit && (strncmp(text, "0x", 2) == 0 || strncmp(text, "0X", 2) == 0);
    char *end;
    errno = 0;
    *seed = strtoull(commit ? digits : text, &end, commit || hexadecimal ? 16 : 10);
    bool starts_well = isdigit((unsigned char)text[0]) || commit;
    if (!starts_well || *end != '\0' || errno != 0)
        return error_set(error, ERROR_USAGE,
                         "\"%s\" is not a seed: a number from 0 to 2^64 - 1, or the 40 hexadecimal "
                         "digits of a commit",
                         text);
    return OK;
}

/* The place of an argument that is taken as it is, NULL if the key has none. */
static const char **text_of(struct options *options, int key)
{
    switch (key) {
    case KEY_OUT:
        return &options->out;
    case KEY_FILTER:
        return &options->filter;
    case KEY_TAP:
        return &options->tap;
    case KEY_HTML:
        return &options->html;
    case KEY_CLAIMS:
        return &options->claims;
    case KEY_STRATEGY:
        return &options->strategy;
    case KEY_RESUME:
        return &options->resume;
    case KEY_SURVEYS:
        return &options->surveys;
    default:
        return key >= KEY_RESULTS && key <= KEY_RESULTS_LAST ? &options->results[key - KEY_RESULTS]
                                                             : NULL;
    }
}

/* argument is NULL for a switch. */
static enum error_code set_option(struct options *options, int key, const char *argument,
                                  struct error *error)
{
    switch (key) {
    case KEY_JOBS:
        return take_count(argument, 1, OPTIONS_MAX_JOBS, &options->jobs, error);
    case KEY_CRASHES:
        return take_count(argument, 0, MOST_CRASHES, &options->crashes, error);
    case KEY_POLLS:
        return take_count(argument, 1, MOST_POLLS, &options->polls, error);
    case KEY_PREEMPTIONS:
        return take_count(argument, 0, INT_MAX, &options->preemptions, error);
    case KEY_RUNS:
        return take_count(argument, 1, INT_MAX, &options->runs, error);
    case KEY_REPLAYS:
        return take_count(argument, 0, OPTIONS_MAX_REPEAT, &options->replays, error);
    case KEY_CONFIRM:
        return take_count(argument, 0, OPTIONS_MAX_REPEAT, &options->confirm, error);
    case KEY_BUDGET:
        return take_budget(argument, &options->budget_s, error);
    case KEY_SEED:
        options->seed_given = true;
        return seed_parse(argument, &options->seed, error);
    case KEY_RANKS:
        return take_count(argument, 1, SCENARIO_MAX_RANKS, &options->ranks, error);
    case KEY_ENGINE:
        return take_engine(argument, &options->engine, error);
    case KEY_TIMEOUT:
        return take_timeout(argument, &options->timeout_s, error);
    case KEY_TRACE_LIMIT:
        return take_count(argument, 1, TRACE_MOST_MB, &options->trace_mb, error);
    case KEY_SHARD:
        return shard_parse(argument, options, error);
    case KEY_TASKS:
        return take_count(argument, 1, OPTIONS_MAX_SHARDS, &options->tasks, error);
    case KEY_REPEAT:
        options->repeat_given = true;
        return take_count(argument, 1, OPTIONS_MAX_REPEAT, &options->repeat, error);
    default:
        break;
    }
    const char **text = text_of(options, key);
    if (text == NULL)
        return error_set(error, ERROR_USAGE, "an option without a meaning");
    if (*argument == '\0')
        return error_set(error, ERROR_USAGE, "is empty");
    *text = argument;
    return OK;
}

/* The place of a switch, NULL if the key is none. */
static bool *switch_of(struct options *options, int key)
{
    switch (key) {
    case KEY_VERBOSE:
        return &options->verbose;
    case KEY_DRY_RUN:
        return &options->dry_run;
    case KEY_UNTIL_FAILURE:
        return &options->until_failure;
    case KEY_SHUFFLE:
        return &options->shuffle;
    case KEY_LAST_FAILED:
        return &options->last_failed;
    case KEY_DURATIONS:
        return &options->durations;
    case KEY_NO_CAPTURE:
        return &options->no_capture;
    case KEY_NO_CONTROL:
        return &options->no_control;
    case KEY_NO_STACKS:
        return &options->no_stacks;
    case KEY_KEEP:
        return &options->keep;
    case KEY_ALL_ORDERS:
        return &options->all_orders;
    case KEY_LOSSES:
        return &options->losses;
    case KEY_TRUST:
        return &options->trust;
    case KEY_MERGE:
        return &options->merge;
    case KEY_SLURM:
        return &options->slurm;
    default:
        return NULL;
    }
}

static enum error_code set_switch(bool *place, const char *text, struct error *error)
{
    bool off = *text == '\0' || strcmp(text, "0") == 0;
    if (!off && strcmp(text, "1") != 0)
        return error_set(error, ERROR_USAGE, "\"%s\" is neither 0 nor 1", text);
    *place = !off;
    return OK;
}

/* --until-failure is read from FAULTLINE_UNTIL_FAILURE. */
static void variable_name(const char *option, char name[VARIABLE_BYTES])
{
    int length = snprintf(name, VARIABLE_BYTES, "FAULTLINE_%s", option);
    for (int i = 0; i < length; i++)
        name[i] = name[i] == '-' ? '_' : (char)toupper((unsigned char)name[i]);
}

/* Inside a rank FAULTLINE_RANKS is the size of the rank's world, not a wish of the user. */
static bool is_taken(const struct option_line *line)
{
    return line->key == KEY_RANKS && getenv("FAULTLINE_RUN") != NULL;
}

static void read_environment(struct options *options, enum option_verb verb)
{
    for (size_t i = 0; i < LINE_COUNT; i++) {
        char name[VARIABLE_BYTES];
        variable_name(lines[i].name, name);
        const char *text = getenv(name);
        if (text == NULL || (lines[i].verbs & (int)verb) == 0 || is_taken(&lines[i]))
            continue;
        struct error error = {0};
        bool *place = switch_of(options, lines[i].key);
        if ((place != NULL ? set_switch(place, text, &error)
                           : set_option(options, lines[i].key, text, &error)) == OK)
            continue;
        fprintf(stderr, "faultline: %s: %s\n", name, error.text);
        exit(STATUS_USAGE);
    }
}

static const char *name_of(int key)
{
    for (size_t i = 0; i < LINE_COUNT; i++)
        if (lines[i].key == key)
            return lines[i].name;
    return "?";
}

static error_t parse_one(int key, char *argument, struct argp_state *state)
{
    struct options *options = state->input;
    struct error error = {0};
    bool *place = switch_of(options, key);
    switch (key) {
    case ARGP_KEY_ARGS:
        options->path = state->argv + state->next;
        options->path_count = (size_t)(state->argc - state->next);
        return 0;
    case ARGP_KEY_NO_ARGS:
        if (options->resume != NULL) /* what it is about stands there */
            return 0;
        argp_error(state, "what to work on is missing");
        return 0;
    case ARGP_KEY_INIT:
    case ARGP_KEY_ARG:
    case ARGP_KEY_END:
    case ARGP_KEY_SUCCESS:
    case ARGP_KEY_ERROR:
    case ARGP_KEY_FINI:
        return ARGP_ERR_UNKNOWN;
    default:
        break;
    }
    if (place != NULL)
        *place = true;
    else if (set_option(options, key, argument, &error) != OK)
        argp_error(state, "--%s: %s", name_of(key), error.text);
    return 0;
}

static int processors(void)
{
    long count = sysconf(_SC_NPROCESSORS_ONLN);
    return count < 1 ? 1 : count > OPTIONS_MAX_JOBS ? OPTIONS_MAX_JOBS : (int)count;
}

void options_parse(struct options *options, enum option_verb verb, const struct options_help *help,
                   int argc, char **argv)
{
    *options =
        (struct options){.jobs = verb == FOR_EXPLORE ? processors() : 1,
                         .polls = 1,
                         .preemptions = -1,
                         .seed = DEFAULT_SEED,
                         .out = "faultline-out",
                         .repeat = 1,
                         .replays = DEFAULT_REPLAYS,
                         .confirm = (verb & (FOR_RUN | FOR_SHRINK)) != 0 ? DEFAULT_CONFIRM : 0};
    struct argp_option known[LINE_COUNT + 1] = {0};
    size_t count = 0;
    for (size_t i = 0; i < LINE_COUNT; i++)
        if ((lines[i].verbs & (int)verb) != 0)
            known[count++] = (struct argp_option){.name = lines[i].name,
                                                  .key = lines[i].key,
                                                  .arg = lines[i].argument,
                                                  .doc = lines[i].help};
    struct argp argp = {
        .options = known, .parser = parse_one, .args_doc = help->arguments, .doc = help->text};
    read_environment(options, verb);
    arguments_parse(&argp, argc, argv, 0, options);
}
