/* `faultline replay`: stored runs are run again with the same plan and the same decisions. */
#include "base/memory.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "jobs/pool.h"
#include "replay/pack.h"
#include "replay/replay.h"
#include "replay/trust.h"
#include "reports/results/tap.h"
#include "system/process.h"
#include "system/progress.h"
#include "system/status.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define OUTPUTS 2 /* standard output, --tap */
#define NAME_BYTES 512
#define ID_BYTES 64

/* One stored run, and its repetitions. */
struct repeated {
    struct recorded recorded;
    struct job *job; /* owned, one per repetition */
    struct replayed *replayed;
    int started, printed;
    unsigned same;
};

struct command {
    const struct options *options;
    struct path folder;
    struct pool pool;
    struct progress progress;
    FILE *out[OUTPUTS];
    enum exit_status worst;
    int number; /* of the newest TAP line */
};

static bool is_open(const struct command *command, int i)
{
    return command->out[i] != NULL;
}

/* --- what is said ----------------------------------------------------------------------------- */
static const char *end_word(enum replay_end end)
{
    static const char *const words[] = {[REPLAY_SAME] = "replayed",
                                        [REPLAY_DIVERGED] = "diverged",
                                        [REPLAY_OTHER] = "other verdict",
                                        [REPLAY_VOID] = "not run"};
    return words[end];
}

static enum exit_status status_of(enum replay_end end)
{
    if (end == REPLAY_SAME)
        return STATUS_PASS;
    return end == REPLAY_VOID ? STATUS_HARNESS : STATUS_UNDECIDED;
}

static void print_one(struct command *command, const struct repeated *repeated, int i)
{
    char name[NAME_BYTES];
    const struct replayed *replayed = &repeated->replayed[i];
    const char *found = repeated->recorded.fingerprint.text;
    bool same = replayed->end == REPLAY_SAME;
    snprintf(name, sizeof name, "%.300s: %.150s", repeated->recorded.run.scenario->name,
             found[0] != '\0' ? found : "nothing found");
    command->number++;
    for (int k = 0; k < OUTPUTS; k++) {
        FILE *out = command->out[k];
        if (!is_open(command, k))
            continue;
        tap_line(out, same, command->number, name, same ? NULL : end_word(replayed->end));
        if (!same) {
            tap_block_begin(out);
            tap_string(out, "replay", end_word(replayed->end));
            tap_string(out, "why", replayed->text);
            tap_string(out, "of", repeated->recorded.run.shown.text);
            tap_string(out, "run", repeated->job[i].folder.text);
            tap_block_end(out);
        }
        fflush(out);
    }
}

static void print_rate(const struct command *command, const struct repeated *repeated,
                       unsigned tries)
{
    char text[REPLAY_RATE_BYTES];
    replay_rate_text(repeated->same, tries, text);
    for (int k = 0; k < OUTPUTS; k++)
        if (is_open(command, k))
            tap_comment(command->out[k], "%s: %s", repeated->recorded.run.shown.text, text);
}

static void print_changes(const struct command *command, const struct repeated *repeated)
{
    char text[REPLAY_WARNINGS][REPLAYED_TEXT_BYTES];
    unsigned count = recorded_changes(&repeated->recorded, text);
    for (unsigned i = 0; i < count; i++) {
        fprintf(stderr, "faultline: %s: %s\n", repeated->recorded.run.shown.text, text[i]);
        for (int k = 0; k < OUTPUTS; k++)
            if (is_open(command, k))
                tap_comment(command->out[k], "%s", text[i]);
    }
}

static void warn_of_mpi(const struct repeated *repeated)
{
    fprintf(stderr,
            "faultline: %s: the MPI library is not what it was when the run was recorded (%s)\n",
            repeated->recorded.run.shown.text, repeated->recorded.identity.mpi_text);
}

static void warn_of_store(const struct repeated *repeated)
{
    const struct run *run = &repeated->recorded.run;
    fprintf(stderr,
            "faultline: %s: the path of the checkpoint store had %d bytes when the run was "
            "recorded, and has %d below this folder: a program that sends it diverges; --out names "
            "a folder with a shorter path\n",
            run->shown.text, run->store_bytes, repeated->replayed[0].longer_store);
}

/* --- repeating -------------------------------------------------------------------------------- */
static void compare(struct command *command, struct repeated *repeated, const struct job *job)
{
    struct error error = {0};
    struct replayed *replayed = &repeated->replayed[job - repeated->job];
    if (replay_compare(&repeated->recorded, job->folder.text, replayed, &error) != OK) {
        replayed->end = REPLAY_VOID;
        snprintf(replayed->text, sizeof replayed->text, "%s", error.text);
    }
    if (replayed->end == REPLAY_SAME)
        replay_take_stacks(&repeated->recorded, job);
    repeated->same += replayed->end == REPLAY_SAME;
    command->worst = status_worst(command->worst, status_of(replayed->end));
    command->progress.done++;
    command->progress.failed += replayed->end != REPLAY_SAME;
}

static enum error_code start_some(struct command *command, struct repeated *repeated,
                                  struct error *error)
{
    enum error_code code = OK;
    while (code == OK && repeated->started < command->options->repeat &&
           pool_has_room(&command->pool)) {
        struct job *job = &repeated->job[repeated->started];
        struct path folder;
        int number = command->number + repeated->started - repeated->printed + 1;
        code = path_format(&folder, error, "%s/%d", command->folder.text, number);
        if (code == OK)
            code = replay_job(&repeated->recorded, number, folder.text, job, error);
        if (code == OK)
            code = pool_start(&command->pool, job, error);
        repeated->started += code == OK;
    }
    return code;
}

static void print_done(struct command *command, struct repeated *repeated)
{
    while (repeated->printed < repeated->started &&
           repeated->job[repeated->printed].state == JOB_DONE) {
        progress_hide(&command->progress);
        print_one(command, repeated, repeated->printed++);
    }
}

static enum error_code repeat(struct command *command, struct repeated *repeated,
                              struct error *error)
{
    enum error_code code = start_some(command, repeated, error);
    while (command->pool.running > 0) {
        progress_show(&command->progress, repeated->recorded.run.scenario->name);
        struct job *job = pool_wait(&command->pool, command->progress.on ? PROGRESS_PERIOD_MS : -1);
        if (job != NULL)
            compare(command, repeated, job);
        print_done(command, repeated);
        if (code == OK)
            code = start_some(command, repeated, error);
    }
    progress_hide(&command->progress);
    if (repeated->printed > 0) {
        print_rate(command, repeated, (unsigned)repeated->printed);
        if (repeated->replayed[0].end != REPLAY_VOID && repeated->replayed[0].other_mpi)
            warn_of_mpi(repeated);
        if (repeated->same < (unsigned)repeated->printed && repeated->replayed[0].longer_store > 0)
            warn_of_store(repeated);
    }
    return code;
}

/* --- the verb --------------------------------------------------------------------------------- */
/* Not before it is needed: a run that cannot be read leaves no folder behind. */
static enum error_code make_output(struct command *command, struct error *error)
{
    if (command->folder.text[0] != '\0')
        return OK;
    return path_new_output(command->options->out, &command->folder, error);
}

/* A run that is refused leaves nothing behind, and `latest` where it was. */
static void remove_output(const struct command *command)
{
    struct error error = {0};
    if (command->folder.text[0] == '\0')
        return;
    if (path_remove(command->folder.text, &error) != OK)
        status_of_error(&error);
    (void)rmdir(command->options->out); /* if there is nothing else in it */
}

/* A packed run is unpacked first: OUT/<id>/packed/<number>. */
static enum error_code open_one(struct command *command, size_t i, struct recorded *recorded,
                                struct error *error)
{
    struct stat status;
    struct path folder;
    const char *run = command->options->path[i];
    if (stat(run, &status) != 0 || !S_ISREG(status.st_mode))
        return recorded_open(run, recorded, error);
    enum error_code code = make_output(command, error);
    if (code == OK)
        code = path_format(&folder, error, "%s/packed/%zu", command->folder.text, i + 1);
    if (code == OK)
        code = pack_read(run, folder.text, error);
    if (code == OK)
        code = recorded_open(folder.text, recorded, error);
    return code == OK ? trust_ask(run, folder.text, command->options->out, command->options->trust,
                                  recorded, error)
                      : code;
}

/* Nothing is run before all of them can be read. */
static enum error_code open_all(struct command *command, struct repeated *repeated,
                                struct error *error)
{
    const struct options *options = command->options;
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < options->path_count; i++) {
        code = open_one(command, i, &repeated[i].recorded, error);
        if (code == OK)
            recorded_set_engine(&repeated[i].recorded, options->engine);
        repeated[i].job = memory_new((size_t)options->repeat, sizeof *repeated[i].job);
        repeated[i].replayed = memory_new((size_t)options->repeat, sizeof *repeated[i].replayed);
    }
    return code;
}

static enum error_code open_outputs(struct command *command, struct error *error)
{
    const struct options *options = command->options;
    command->out[0] = stdout;
    if (options->tap == NULL)
        return OK;
    command->out[1] = fopen(options->tap, "we");
    return command->out[1] != NULL
               ? OK
               : error_set(error, ERROR_IO, "--tap %s: %s", options->tap, strerror(errno));
}

static void print_head(const struct command *command)
{
    const struct options *options = command->options;
    for (int i = 0; i < OUTPUTS; i++) {
        if (!is_open(command, i))
            continue;
        tap_header(command->out[i]);
        tap_plan(command->out[i], options->path_count * (size_t)options->repeat);
        tap_comment(command->out[i], "runs in %s", command->folder.text);
        fflush(command->out[i]);
    }
}

static void print_foot(struct command *command, const char *failure)
{
    char text[ID_BYTES];
    if (command->pool.interrupted != 0) {
        snprintf(text, sizeof text, "interrupted by SIG%s",
                 sigabbrev_np(command->pool.interrupted));
        failure = text;
    }
    for (int i = 0; i < OUTPUTS; i++)
        if (is_open(command, i) && failure != NULL)
            tap_bail_out(command->out[i], failure);
    if (is_open(command, 1)) {
        command->worst = status_of_output(command->out[1], command->options->tap, command->worst);
        fclose(command->out[1]);
    }
}

static enum error_code replay_all(struct command *command, struct repeated *repeated,
                                  struct error *error)
{
    const struct options *options = command->options;
    enum error_code code = open_outputs(command, error);
    if (code == OK)
        code = make_output(command, error);
    if (code == OK)
        code = path_link_latest(options->out, &command->folder, error);
    if (code == OK)
        code = pool_open(&command->pool, options, error);
    if (code != OK)
        return code;
    print_head(command);
    progress_begin(&command->progress, options->path_count * (size_t)options->repeat);
    for (size_t i = 0; code == OK && i < options->path_count && command->pool.interrupted == 0;
         i++) {
        print_changes(command, &repeated[i]);
        code = repeat(command, &repeated[i], error);
    }
    pool_close(&command->pool);
    print_foot(command, code != OK ? error->text : NULL);
    return code;
}

static void release_all(const struct options *options, struct repeated *repeated)
{
    for (size_t i = 0; i < options->path_count; i++) {
        recorded_release(&repeated[i].recorded);
        free(repeated[i].job);
        free(repeated[i].replayed);
    }
    free(repeated);
}

int verb_replay(int argc, char **argv)
{
    static const struct options_help help = {
        "RUN|FILE...",
        "Runs stored runs (OUT/<run-id>/<number>, or packed by `export`) again with the same plan "
        "and the same decisions, "
        "and compares: the same failure, or the first place where a rank came to something else. "
        "Decisions are kept of runs that did not pass, and of all with `run --keep`. What a packed "
        "run names is run with your rights: unless it was packed from a run that still stands in "
        "OUT, it is shown, and run only with --trust or a yes at the terminal.\vExit status: "
        "0 replayed every time, 2 a replay diverged or came to another verdict, 3 harness error, "
        "64 usage."};
    struct options options;
    struct error error = {0};
    options_parse(&options, FOR_REPLAY, &help, argc, argv);
    struct command command = {.options = &options};
    struct repeated *repeated = memory_new(options.path_count, sizeof *repeated);
    enum error_code code = open_all(&command, repeated, &error);
    if (code == OK)
        code = replay_all(&command, repeated, &error);
    else
        remove_output(&command);
    release_all(&options, repeated);
    if (command.pool.interrupted != 0)
        process_end_like(command.pool.interrupted); /* a signal's number is its wait status */
    return (int)(code != OK ? status_worst(command.worst, status_of_error(&error)) : command.worst);
}
