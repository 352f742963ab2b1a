/* See run.h. */
#include "run/run.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "base/whole_file.h"
#include "board/board.h"
#include "decisions/decisions.h"
#include "engine/core/transition.h"
#include "launch/launcher.h"
#include "launch/setup.h"
#include "plan/action.h"
#include "run/store_rollback.h"
#include "run/store_state.h"
#include "stacks/functions.h"
#include "stacks/kept_stacks.h"
#include "system/process.h"
#include "trace/clock.h"
#include "trace/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RUN_STORE_ROOM 1024 /* bytes of a path */
#define CHOICES_FILE "choices.0"
#define CONFIRMED_LEAST_S 40 /* more than REPLAY_WAIT_MS of injectors/replay */
#define CONFIRMED_FACTOR 5
#define STORE_PATH_BYTES 128 /* its path is as long, or twice, ... */

void run_init(struct run *run, const struct scenario *scenario)
{
    memset(run, 0, sizeof *run);
    run->scenario = scenario;
    run->end = RUN_VOID;
    run->capture = true;
    run->timeout_s = RUN_DEFAULT_TIMEOUT_S;
    run->trace_mb = RUN_DEFAULT_TRACE_MB;
}

void run_release(struct run *run)
{
    free(run->rank_ends);
    free(run->references);
    free(run->unreceived);
    run->rank_ends = NULL;
    run->references = NULL;
    run->unreceived = NULL;
    run->rank_end_count = run->reference_count = run->unreceived_count = 0;
    run->unreceived_known = false;
}

/* As many lives as the plan has steps that may end one, and one more, unless the scenario says
 * otherwise. Where the others go on when one dies, the plan ends none. */
static int incarnations_allowed(const struct scenario *scenario)
{
    int allowed = scenario->max_incarnations;
    if (allowed == 0 && scenario->survivors)
        allowed = 1;
    if (allowed == 0) {
        allowed = 1;
        for (size_t i = 0; i < scenario->plan.count; i++)
            allowed += action_ends_incarnation(scenario->plan.steps[i].action);
    }
    return allowed < SCENARIO_MAX_INCARNATIONS ? allowed : SCENARIO_MAX_INCARNATIONS;
}

/* A protocol whose files have no room after the path of its store gives up, and that would be
 * taken for its failure. */
static enum error_code check_length(const struct run *run, struct error *error)
{
    size_t most = PATH_MAX - RUN_STORE_ROOM;
    if (strlen(run->folder.text) <= most)
        return OK;
    return error_set(error, ERROR_LIMIT,
                     "the path of a run folder may have %zu bytes, for the files of a checkpoint "
                     "store need room after it; this one has %zu: %.200s...",
                     most, strlen(run->folder.text), run->folder.text);
}

/* Programs put the path of the store into messages and buffers, so it is as long in every run and
 * in those that follow it: filled up with slashes, which mean one. */
static enum error_code name_store(struct run *run, struct error *error)
{
    int bytes = (int)(strlen(run->folder.text) + sizeof "/store" - 1);
    if (run->store_bytes < bytes)
        run->store_bytes = (bytes + STORE_PATH_BYTES - 1) / STORE_PATH_BYTES * STORE_PATH_BYTES;
    if (run->store_bytes >= PATH_MAX)
        run->store_bytes = bytes;
    size_t used = strlen(run->folder.text), slashes = (size_t)(run->store_bytes - bytes) + 1;
    enum error_code code =
        path_format(&run->store, error, "%s%*sstore", run->folder.text, (int)slashes, "");
    if (code == OK)
        memset(run->store.text + used, '/', slashes);
    return code;
}

/* What is not of the checkpoint store: no fault touches it. As long a path as that of the store. */
static enum error_code write_files(struct run *run, struct error *error)
{
    const struct scenario *scenario = run->scenario;
    if (scenario->file_count == 0 && scenario->setup_count == 0)
        return OK;
    int front = (int)(strlen(run->store.text) - (sizeof "store" - 1));
    enum error_code code = path_format(&run->files, error, "%.*sfiles", front, run->store.text);
    if (code == OK)
        code = path_make_folder(run->files.text, error);
    for (size_t i = 0; code == OK && i < scenario->file_count; i++) {
        const char *name = scenario->files[i];
        int length = (int)strcspn(name, "=");
        struct path path;
        struct whole_file file;
        code = path_format(&path, error, "%s/%.*s", run->files.text, length, name);
        if (code == OK)
            code = whole_file_begin(&file, path.text, WHOLE_OURS, error);
        if (code == OK) {
            fputs(name + length + 1, file.out);
            code = whole_file_end(&file, OK, error);
        }
    }
    return code;
}

/* The step engine's clock counts nanoseconds. */
static double ticks_per_second(const struct scenario *scenario)
{
    return scenario->engine != NULL ? 1e9 : clock_ticks_per_second();
}

static int newcomers(const struct scenario *scenario)
{
    return launcher_of(scenario->engine)->survivors ? BOARD_NEWCOMERS : 0;
}

/* Folder, board and plan. */
static enum error_code prepare_folder(struct run *run, struct board **board, struct error *error)
{
    struct path path;
    enum error_code code = path_make_run(run->shown.text, error);
    if (code == OK)
        code = path_absolute(run->shown.text, &run->folder, error);
    if (code == OK)
        code = check_length(run, error);
    if (code == OK)
        code = name_store(run, error);
    if (code == OK)
        code = write_files(run, error);
    if (code == OK)
        code = store_make_folders(run, error);
    if (code == OK)
        code = path_format(&path, error, "%s/plan", run->folder.text);
    if (code == OK)
        code = plan_write(path.text, &run->scenario->plan, error);
    if (code == OK && run->wanted.count > 0)
        code = kept_stacks_want(run->folder.text, &run->wanted, error);
    if (code == OK)
        code = path_format(&path, error, "%s/board", run->folder.text);
    if (code == OK)
        code = board_create(path.text, scenario_most_ranks(run->scenario), newcomers(run->scenario),
                            ticks_per_second(run->scenario), board, error);
    return code;
}

static enum error_code write_functions(const struct launch *launch, struct error *error)
{
    struct path path;
    enum error_code code = path_format(&path, error, "%s/functions", launch->folder);
    const char *const modules[] = {launch->program.text, launch->protocol.text};
    return code != OK ? code
                      : functions_write(path.text, &launch->scenario->plan, modules, 2, error);
}

static enum error_code block_signals(struct launch *launch, struct error *error)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGHUP);
    launch->signals = process_signals(&signals, &launch->mask);
    return launch->signals >= 0 ? OK
                                : error_set(error, ERROR_LAUNCH, "signalfd: %s", strerror(errno));
}

/* Room for the ends of one more incarnation, of whatever processes may come. */
static struct rank_end *more_ends(struct run *run, const struct board *board)
{
    size_t ranks = (size_t)board->slots;
    run->rank_ends =
        memory_resized(run->rank_ends, run->rank_end_count + ranks, sizeof *run->rank_ends);
    struct rank_end *fresh = run->rank_ends + run->rank_end_count;
    memset(fresh, 0, ranks * sizeof *fresh);
    run->rank_end_count += ranks;
    return fresh;
}

static enum run_end end_of(enum launch_end end)
{
    switch (end) {
    case LAUNCH_FINISHED:
        return RUN_FINISHED;
    case LAUNCH_KILLED: /* and no incarnation left */
    case LAUNCH_FAILED:
        return RUN_FAILED;
    case LAUNCH_DEADLOCK:
        return RUN_DEADLOCK;
    case LAUNCH_TIME_LIMIT:
        return RUN_TIME_LIMIT;
    case LAUNCH_INTERRUPTED:
        return RUN_INTERRUPTED;
    case LAUNCH_REFUSED:
        return RUN_REFUSED;
    case LAUNCH_VOID:
        break;
    }
    return RUN_VOID;
}

/* All that the plan was to do is done: the next life depends on the store alone. */
static bool plan_is_done(const struct run *run, const struct board *board)
{
    for (size_t i = 0; i < run->scenario->plan.count; i++)
        if (!board_step_done(board, (unsigned)i))
            return false;
    return true;
}

/* For a search: with what the next life begins. */
static enum error_code report_state(const struct run *run, const struct board *board,
                                    struct error *error)
{
    struct path path;
    uint64_t state;
    if (run->explored == 0 || !plan_is_done(run, board))
        return OK;
    enum error_code code = store_state_of(run->store.text, &state, error);
    if (code == OK)
        code = path_format(&path, error, "%s/" STORE_STATE_FILE ".%d", run->folder.text,
                           run->incarnations);
    FILE *file = code == OK ? fopen(path.text, "wxe") : NULL;
    if (code == OK && file == NULL)
        return error_set(error, ERROR_IO, "%s: %s", path.text, strerror(errno));
    if (file != NULL) {
        fprintf(file, "%016" PRIx64 "\n", state);
        fclose(file);
    }
    return code;
}

/* Incarnation after incarnation, while the plan's kills end them. A process that was asked to end
 * during one run begins no other, as to repeat the first. */
static enum error_code live(struct run *run, struct launch *launch, struct error *error)
{
    static bool asked_to_end;
    if (asked_to_end) {
        run->end = RUN_INTERRUPTED;
        snprintf(run->end_text, sizeof run->end_text, "interrupted before it began");
        return OK;
    }
    int allowed = incarnations_allowed(run->scenario);
    enum launch_end end = setup_run(launch, run->end_text, sizeof run->end_text);
    if (end == LAUNCH_FINISHED)
        end = LAUNCH_KILLED;
    while (end == LAUNCH_KILLED && run->incarnations < allowed) {
        struct rank_end *ends = more_ends(run, launch->board);
        board_set_ranks(launch->board, scenario_ranks_in(run->scenario, run->incarnations));
        board_begin_incarnation(launch->board, run->incarnations++);
        enum error_code code =
            launch_incarnation(launch, ends, &end, run->end_text, sizeof run->end_text, error);
        run->rank_end_count -= (size_t)(launch->board->slots - board_processes(launch->board));
        if (code == OK)
            code = store_roll_back(run, launch->board, error);
        if (code == OK)
            code = report_state(run, launch->board, error);
        if (code != OK)
            return code;
    }
    run->end = end_of(end);
    asked_to_end = end == LAUNCH_INTERRUPTED;
    size_t used = strlen(run->end_text);
    if (end == LAUNCH_KILLED)
        snprintf(run->end_text + used, sizeof run->end_text - used,
                 ", and %d incarnations are all that max_incarnations allows", allowed);
    return OK;
}

static void collect_steps(struct run *run, const struct board *board)
{
    for (size_t i = 0; i < run->scenario->plan.count && i < PLAN_MAX_STEPS; i++) {
        const struct board_step *step = &board->progress[i];
        bool done = board_step_done(board, (unsigned)i);
        run->steps[i] = (struct step_fact){
            .done = done,
            .rank = done ? atomic_load(&step->rank) : -1,
            .incarnation = done ? atomic_load(&step->incarnation) : -1,
            .taken = atomic_load(&step->taken),
            .released_by = (int)atomic_load(&step->released_by),
        };
    }
}

static void *copy(const void *data, size_t bytes)
{
    void *made = memory_new(1, bytes);
    if (bytes > 0)
        memcpy(made, data, bytes);
    return made;
}

bool run_has_choices(const struct run *run)
{
    return run->scenario->engine != NULL && path_holds(run->folder.text, CHOICES_FILE);
}

/* Of what the engine has run, under mpiexec: so long that ranks which wait in vain for each other
 * say so, and for what they compute. */
static double confirmed_limit_s(const struct run *recorded)
{
    double all_in_all = CONFIRMED_LEAST_S + CONFIRMED_FACTOR * recorded->seconds;
    return fmin(recorded->timeout_s, all_in_all / FOLLOWED_PATIENCE);
}

/* How a run was explored: see struct run. */
static int explored_as(const char *folder)
{
    struct path path;
    struct entry first = {0};
    struct error error;
    if (path_format(&path, NULL, "%s/" TRANSITION_FILE ".0", folder) != OK)
        return 0;
    FILE *file = regular_stream(path.text, LINKS_REFUSED, REGULAR_ANY, &error);
    if (file == NULL)
        return 0;
    size_t read = fread(&first, sizeof first, 1, file);
    fclose(file);
    return read == 1 && first.kind == ENTRY_POLLS && first.extra <= INT_MAX ? (int)first.extra : 0;
}

void run_follow(struct run *run, const struct run *recorded)
{
    if (run->scenario->engine != NULL && run_has_choices(recorded))
        snprintf(run->given, sizeof run->given, "%s", recorded->folder.text);
    run->explored = explored_as(recorded->folder.text);
    snprintf(run->followed, sizeof run->followed, "%.*s/" DECISIONS_FILE,
             (int)(sizeof run->followed - sizeof "/" DECISIONS_FILE), recorded->folder.text);
    run->followed_end = recorded->end;
    run->seed = recorded->seed;
    run->store_bytes = recorded->store_bytes;
    run->trace_mb = recorded->trace_mb;
    run->timeout_s = run_has_choices(recorded) && run->scenario->engine == NULL
                         ? confirmed_limit_s(recorded)
                         : recorded->timeout_s;
    run->references =
        copy(recorded->references, recorded->reference_count * sizeof *recorded->references);
    run->unreceived =
        copy(recorded->unreceived, recorded->unreceived_count * sizeof *recorded->unreceived);
    run->reference_count = recorded->reference_count;
    run->unreceived_count = recorded->unreceived_count;
    run->unreceived_known = recorded->unreceived_known;
    run->reference_failed = recorded->reference_failed;
    snprintf(run->reference_text, sizeof run->reference_text, "%s", recorded->reference_text);
}

/* The limit of the run in seconds, of the faults and then of the job without them. */
static double run_patience_s(const struct run *run)
{
    bool waits = run->followed[0] != '\0' && run->given[0] == '\0';
    return waits ? FOLLOWED_PATIENCE * run->timeout_s : run->timeout_s;
}

enum error_code run_execute(struct run *run, struct error *error)
{
    struct launch *launch = memory_new(1, sizeof *launch);
    uint64_t start_ns = clock_monotonic_ns();
    *launch = (struct launch){
        .scenario = run->scenario,
        .folder = run->folder.text,
        .shown = run->shown.text,
        .store = run->store.text,
        .files = run->files.text,
        .followed = run->given[0] == '\0' ? run->followed : "",
        .given = run->given,
        .policy = run->policy[0] != '\0' ? run->policy : run->scenario->policy,
        .explored = run->explored,
        .followed_end = run->followed_end,
        .capture = run->capture,
        .seed = run->seed,
        .timeout_s = run->timeout_s,
        .trace_mb = run->trace_mb,
        .patience_s = run_patience_s(run),
        .deadline_ns = start_ns + (uint64_t)(run_patience_s(run) * 1e9),
        .launcher = launcher_of(run->scenario->engine),
        .signals = -1,
    };
    process_own_descendants();
    enum error_code code = launch_find_files(launch, error);
    if (code == OK)
        code = prepare_folder(run, &launch->board, error);
    if (code == OK)
        code = write_functions(launch, error);
    if (code == OK)
        code = block_signals(launch, error);
    if (code == OK)
        code = live(run, launch, error);
    if (code != OK)
        snprintf(run->end_text, sizeof run->end_text, "%s", error->text);
    if (launch->board != NULL)
        collect_steps(run, launch->board);
    run->seconds = (double)(clock_monotonic_ns() - start_ns) / 1e9;
    if (launch->signals >= 0)
        close(launch->signals);
    board_unmap(launch->board);
    free(launch);
    return code;
}

/* Where ranks have only polled in vain they have a quarter of the time. The step engine's time is
 * virtual. */
static double real_limit(const struct run *run)
{
    return run->scenario->engine == NULL ? run->timeout_s / 4 : 0;
}

struct run_facts run_facts_of(const struct run *run)
{
    return (struct run_facts){
        .ranks = run->scenario->ranks,
        .restart_ranks = run->scenario->restart_ranks,
        .incarnations = run->incarnations,
        .survivors = run->scenario->survivors,
        .end = run->end,
        .end_text = run->end_text,
        .limit_s = real_limit(run),
        .plan = run->scenario->plan.count > 0 ? &run->scenario->plan : NULL,
        .steps = run->steps,
        .rank_end_count = run->rank_end_count,
        .rank_ends = run->rank_ends,
        .reference_count = run->reference_count,
        .references = run->references,
        .unreceived_known = run->unreceived_known,
        .unreceived_count = run->unreceived_count,
        .unreceived = run->unreceived,
    };
}

static bool has_result(const struct reference_result *results, size_t count,
                       const struct reference_result *like)
{
    for (size_t i = 0; i < count; i++)
        if (results[i].rank == like->rank && results[i].near == like->near &&
            strcmp(results[i].name, like->name) == 0)
            return true;
    return false;
}

/* Along the chain of notes, newest first. */
static void add_results(const struct trace *trace, struct reference_result **results, size_t *count)
{
    uint64_t next = atomic_load(&trace->header->last_note);
    while (next > 0 && next <= trace->count) {
        const struct record *record = &trace->record[next - 1];
        struct reference_result result = {.rank = trace->rank,
                                          .near = record->tag == NOTE_NEAR,
                                          .bytes = record->bytes,
                                          .hash = record->hash};
        trace_text(trace, next - 1, result.name, sizeof result.name);
        next = record->previous_note < next ? record->previous_note : 0;
        if ((record->tag != NOTE_RESULT && !result.near) || has_result(*results, *count, &result))
            continue;
        *results = memory_resized(*results, *count + 1, sizeof **results);
        (*results)[(*count)++] = result;
    }
}

enum error_code run_results(const char *folder, struct reference_result **results, size_t *count,
                            struct error *error)
{
    struct trace_set traces;
    *results = NULL;
    *count = 0;
    enum error_code code = trace_set_open_run(folder, &traces, error);
    for (size_t i = 0; code == OK && i < traces.count; i++)
        if (traces.trace[i].incarnation == traces.incarnations - 1)
            add_results(&traces.trace[i], results, count);
    trace_set_release(&traces);
    return code;
}

enum error_code run_take_unreceived(struct run *run, const char *folder, struct error *error)
{
    struct trace_set traces;
    enum error_code code = trace_set_open_run(folder, &traces, error);
    if (code == OK)
        unreceived_find(&traces, &run->unreceived_known, &run->unreceived, &run->unreceived_count);
    trace_set_release(&traces);
    return code;
}
