/* See launch.h. */
#include "launch/launch.h"

#include "base/memory.h"
#include "board/progress.h"
#include "board/shared_memory.h"
#include "launch/ends.h"
#include "launch/launcher.h"
#include "launch/leftovers.h"
#include "launch/output_tail.h"
#include "launch/outside.h"
#include "launch/preload.h"
#include "launch/watch.h"
#include "plan/action.h"
#include "system/process.h"
#include "trace/clock.h"
#include "trace/writer.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/signalfd.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

/* How long the launcher may take to end the job after a rank has failed. */
#define CLEANUP_GRACE_NS 2000000000ull
/* How long a job that only polls is waited for: part of the time limit, which says how long waiting
 * by the clock may take here; but a slow machine is not to be taken for a stall. */
#define STALL_OF_TIMEOUT 0.25
#define STALL_LEAST_S 5
#define IN_ORDER_WITHIN_MS 10000 /* against hanging alone */
#define PRELOAD_TEXT_BYTES 1024
#define TRACE_LOOK_NS 250000000ull /* a rank can write some 100 MB of trace in a second */
#define MB UINT64_C(1000000)
#define FREED_BYTES_OF_RANK (256u << 10)
#define FREED_MOST_BYTES (16u << 20)

/* An incarnation under way. */
struct running_incarnation {
    struct launch *launch;
    struct rank_end *ends;
    struct launch_order order;
    struct launched launched;
    int interrupted;             /* the signal, 0 none */
    uint64_t first_death_ns;     /* a rank was seen to have ended badly; 0: none */
    uint64_t next_trace_look_ns; /* CLOCK_MONOTONIC */
    long killed_for_memory;      /* processes of this machine, before it began */
    struct watch watch;
    struct output_tail tail;
};

/* Orphans come to the driver: a rank whose parent the launcher killed is reaped here. */
static void note_reaped(void *context, pid_t pid, int wait_status)
{
    struct running_incarnation *running = context;
    struct board *board = running->launch->board;
    if (pid == running->launched.pid) {
        running->launched.ended = true;
        running->launched.wait_status = wait_status;
    }
    for (int rank = 0; rank < board_processes(board); rank++) {
        if (atomic_load(&board->slot[rank].pid) != pid || atomic_load(&board->slot[rank].ended))
            continue;
        running->ends[rank].known = true;
        running->ends[rank].wait_status = wait_status;
    }
}

static void take_signals(struct running_incarnation *running)
{
    struct signalfd_siginfo info;
    while (read(running->launch->signals, &info, sizeof info) == sizeof info)
        if (info.ssi_signo != SIGCHLD)
            running->interrupted = (int)info.ssi_signo;
    process_reap(note_reaped, running);
}

/* A rank that ended badly, and a launcher that takes too long to notice. */
static bool launcher_is_stuck(struct running_incarnation *running, uint64_t now_ns)
{
    const struct board *board = running->launch->board;
    if (running->launch->scenario->survivors)
        return false;
    for (int rank = 0; running->first_death_ns == 0 && rank < board_processes(board); rank++)
        if (atomic_load(&board->slot[rank].ended) != 0 &&
            atomic_load(&board->slot[rank].wait_status) != 0)
            running->first_death_ns = now_ns;
    return running->first_death_ns != 0 && now_ns - running->first_death_ns > CLEANUP_GRACE_NS;
}

/* A rank or the launcher was asked to end, by somebody: if it does not, nothing that comes of the
 * run means anything, and a launcher may wait to be asked again. */
static bool was_asked_to_end(struct running_incarnation *running, uint64_t now_ns, char *text,
                             size_t bytes)
{
    uint64_t first_ns = outside_end_signal_ns(running->launch->board);
    return first_ns != 0 && now_ns > first_ns + CLEANUP_GRACE_NS &&
           outside_signalled(running->launch->board, 0, text, bytes);
}

/* A rank is dead, or is to die by a step that is done: what the others wait for then is their end,
 * which the launcher brings, in its time. */
static bool is_ending(const struct running_incarnation *running)
{
    const struct board *board = running->launch->board;
    const struct plan *plan = &running->launch->scenario->plan;
    bool ending = running->first_death_ns != 0;
    bool survivors = running->launch->scenario->survivors;
    for (unsigned i = 0; !ending && !survivors && i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        if (action_of(step)->kills != KILLS_VICTIMS || !board_step_done(board, i) ||
            atomic_load(&board->progress[i].incarnation) != atomic_load(&board->incarnation))
            continue;
        for (unsigned k = 0; k < step->victims; k++)
            ending |= step->victim[k] < board_processes(board) &&
                      atomic_load(&board->slot[step->victim[k]].ended) == 0;
    }
    return ending;
}

/* The run that is followed was ended at its limit, and all ranks are where they were then. */
static bool was_ended_here(const struct launch *launch)
{
    const struct board *board = launch->board;
    if (launch->followed[0] == '\0' || launch->followed_end != RUN_TIME_LIMIT)
        return false;
    for (int rank = 0; rank < board->ranks; rank++)
        if (atomic_load(&board->slot[rank].arrived) == 0 &&
            atomic_load(&board->slot[rank].ended) == 0)
            return false;
    return true;
}

/* The job has its time after the last fault. So much is there for the faults, too; then they stop
 * (progress_quiet), and what still waits for them goes on without. */
static bool is_too_late(struct running_incarnation *running, uint64_t now_ns, char *text,
                        size_t bytes)
{
    struct launch *launch = running->launch;
    const struct plan *plan = &launch->scenario->plan;
    double timeout_s = launch->patience_s;
    double stall_s = fmax(timeout_s * STALL_OF_TIMEOUT, STALL_LEAST_S);
    if (watch_has_stalled(&running->watch, launch->board, stall_s)) {
        snprintf(text, bytes, "for %g s " RUN_POLLED, stall_s);
        return true;
    }
    bool ended_here = !is_ending(running) && was_ended_here(launch);
    bool over = launch->quiet || progress_is_over(launch->board, plan);
    if (!over && !ended_here && now_ns < launch->deadline_ns)
        return false;
    if (!launch->quiet && !ended_here && plan->count > 0) {
        if (!over) {
            progress_quiet(launch->board, RELEASED_BY_QUIET);
            watch_init(&running->watch, launch->board->ranks, launch->launcher->decides);
        }
        launch->deadline_ns = now_ns + (uint64_t)(timeout_s * 1e9);
    }
    launch->quiet = true;
    if (now_ns < launch->deadline_ns && !ended_here)
        return false;
    snprintf(text, bytes,
             plan->count > 0 ? "still running %g s after the faults stopped"
                             : "still running after %g s",
             launch->timeout_s);
    return true;
}

/* A rank that found no room for its trace follows nothing, and the others may wait for it in vain.
 */
static bool cannot_follow(const struct launch *launch, char *text, size_t bytes)
{
    const struct board *board = launch->board;
    for (int rank = 0; launch->followed[0] != '\0' && rank < board->ranks; rank++)
        if (atomic_load(&board->slot[rank].lost) != 0) {
            snprintf(text, bytes,
                     "the trace of rank %d in %.300s is incomplete (is the disk full?)", rank,
                     launch->shown);
            return true;
        }
    return false;
}

/* A program that prints, or calls what fails at once, for ever writes until the disk is full. */
static bool writes_too_much(struct running_incarnation *running, uint64_t now_ns, char *text,
                            size_t bytes)
{
    const struct launch *launch = running->launch;
    struct path traces, output;
    if (launch->trace_mb == 0 || now_ns < running->next_trace_look_ns)
        return false;
    running->next_trace_look_ns = now_ns + TRACE_LOOK_NS;
    if (path_format(&traces, NULL, "%s/trace", launch->folder) != OK ||
        path_format(&output, NULL, "%s/output", launch->folder) != OK)
        return false;
    uint64_t recorded = path_bytes_in(traces.text), printed = path_bytes_in(output.text);
    if (recorded + printed <= (uint64_t)launch->trace_mb * MB)
        return false;
    snprintf(text, bytes,
             "the %s of the run take%s more than the %d MB that are allowed; --trace-limit or "
             "FAULTLINE_TRACE_LIMIT allows more",
             printed > recorded ? "output" : "traces", printed > recorded ? "s" : "",
             launch->trace_mb);
    return true;
}

/* The launcher does not always notice such a death: mpiexec may be starting other ranks meanwhile.
 */
static bool is_lost_at_start(const struct launch *launch)
{
    return launch->scenario->survivors && launch->launcher->hides_deaths &&
           ends_killed_at_start(launch->board, &launch->scenario->plan) >= 0;
}

/* Until the incarnation is over or there is a reason to end it. LAUNCH_FINISHED: look at the ranks
 * to know more. */
static enum launch_end watch_incarnation(struct running_incarnation *running, char *text,
                                         size_t bytes)
{
    const struct launch *launch = running->launch;
    struct pollfd look[] = {{.fd = launch->signals, .events = POLLIN},
                            {.fd = running->launched.line, .events = POLLIN}};
    nfds_t looks = running->launched.line != 0 ? 2 : 1;
    uint64_t next_look_ns = 0;
    while (!launch->launcher->poll(&running->launched)) {
        poll(look, looks, WATCH_PERIOD_MS);
        take_signals(running);
        uint64_t now_ns = clock_monotonic_ns();
        if (running->interrupted != 0) {
            snprintf(text, bytes, "interrupted by SIG%s", sigabbrev_np(running->interrupted));
            return LAUNCH_INTERRUPTED;
        }
        bool stuck = atomic_load(&launch->board->stuck) != 0;
        if ((now_ns < next_look_ns && !stuck) || launch->launcher->poll(&running->launched))
            continue;
        next_look_ns = now_ns + WATCH_PERIOD_MS * 1000000ull * 9 / 10;
        output_tail_copy(&running->tail, board_processes(launch->board));
        if (launcher_is_stuck(running, now_ns))
            return LAUNCH_FINISHED;
        if (was_asked_to_end(running, now_ns, text, bytes))
            return LAUNCH_VOID;
        if (launch->board->refused[0] != '\0' || is_lost_at_start(launch))
            return LAUNCH_FINISHED; /* others may wait for that rank for ever */
        if (!is_ending(running) && watch_look(&running->watch, launch->board,
                                              &launch->scenario->plan, launch->folder, text, bytes))
            return LAUNCH_DEADLOCK;
        if (!is_ending(running) && atomic_load(&launch->board->stuck) != 0) {
            bool stalled = atomic_load(&launch->board->stuck) == STUCK_STALL;
            snprintf(text, bytes, "%s", stalled ? RUN_POLLED : RUN_STUCK);
            return LAUNCH_TIME_LIMIT;
        }
        if (cannot_follow(launch, text, bytes) || writes_too_much(running, now_ns, text, bytes))
            return LAUNCH_VOID;
        if (is_too_late(running, now_ns, text, bytes))
            return LAUNCH_TIME_LIMIT;
    }
    return LAUNCH_FINISHED;
}

/* Where the ranks' ends do not say what happened, the launcher may; or the kernel. */
static void explain_void(const struct running_incarnation *running, char *text, size_t bytes)
{
    running->launch->launcher->explain(&running->launched, &running->order, text, bytes);
    size_t used = strlen(text);
    long killed = process_killed_for_memory() - running->killed_for_memory;
    if (killed > 0)
        snprintf(text + used, bytes - used,
                 "; the kernel killed %ld process%s for lack of memory meanwhile", killed,
                 killed == 1 ? "" : "es");
}

/* What fails on a full disk is not the program's fault. A little is free again by now: what the
 * traces had asked for and did not need. */
static bool disk_is_full(const struct launch *launch, char *text, size_t bytes)
{
    struct statvfs disk;
    uint64_t freed = (uint64_t)launch->board->ranks * FREED_BYTES_OF_RANK;
    uint64_t least = freed < FREED_MOST_BYTES ? freed : FREED_MOST_BYTES;
    if (statvfs(launch->folder, &disk) != 0)
        return false;
    bool nodes_left = disk.f_files == 0 || disk.f_favail > 0; /* 0: they are not counted */
    if (disk.f_bavail * disk.f_frsize > least && nodes_left)
        return false;
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, "; but the disk of %.200s is full", launch->shown);
    return true;
}

/* What fails in MPI_Init where the library has no room for its shared memory is not the program's
 * fault either. What other ranks had of it is free again by now. */
static bool lacks_shared_memory(const struct launch *launch, char *text, size_t bytes)
{
    struct statvfs memory;
    uint64_t ranks = (uint64_t)launch->board->ranks;
    bool in_init = false;
    for (uint64_t rank = 0; rank < ranks; rank++)
        in_init |= atomic_load(&launch->board->slot[rank].state) == RANK_INITIALIZING;
    if (!in_init || statvfs(SHARED_MEMORY, &memory) != 0)
        return false;
    bool read_only = (memory.f_flag & ST_RDONLY) != 0;
    if (!read_only &&
        memory.f_bavail * memory.f_frsize >= ranks * launch->launcher->shared_bytes_of_rank)
        return false;
    size_t used = strlen(text);
    if (read_only)
        snprintf(text + used, bytes - used, "; but %s is read-only", SHARED_MEMORY);
    else
        snprintf(text + used, bytes - used, "; but %s has no room for %d ranks in MPI_Init",
                 SHARED_MEMORY, launch->board->ranks);
    return true;
}

/* Its own end, not by Faultline; that of a crash may be due to a rank's. */
static bool launcher_was_signalled(const struct running_incarnation *running, char *text,
                                   size_t bytes)
{
    const struct launch *launch = running->launch;
    int status = running->launched.wait_status;
    if (!running->launched.left || !WIFSIGNALED(status) ||
        (!outside_is_sent(WTERMSIG(status)) && ends_failed_ns(launch->board, running->ends) != 0))
        return false;
    snprintf(text, bytes, "the launcher was ended, not by Faultline");
    return true;
}

/* The first rank that ended badly died of a signal, and the plan did not kill it. */
static bool has_crashed(const struct running_incarnation *running)
{
    for (int rank = 0; rank < board_processes(running->launch->board); rank++) {
        const struct rank_end *end = &running->ends[rank];
        if (end->first && !end->aborted && end->known && WIFSIGNALED(end->wait_status))
            return true;
    }
    return false;
}

/* After a rank has crashed the engine may refuse what the others ask for, as a rule one new process
 * after the other: the crash is why the run ended then, and not the refusal. */
static enum launch_end classify(const struct running_incarnation *running,
                                const struct survivors *survivors, char *text, size_t bytes)
{
    const struct launch *launch = running->launch;
    if (launch->board->refused[0] != '\0' && !has_crashed(running)) {
        snprintf(text, bytes, "%.300s", launch->board->refused);
        return LAUNCH_REFUSED;
    }
    if (launch->board->misbuilt[0] != '\0') {
        snprintf(text, bytes, "%.300s", launch->board->misbuilt);
        return LAUNCH_VOID;
    }
    const struct plan *plan = &launch->scenario->plan;
    enum launch_end end = LAUNCH_VOID;
    if (!launcher_was_signalled(running, text, bytes))
        end = ends_classify(launch->board, plan, survivors, running->ends, text, bytes);
    if (end == LAUNCH_FAILED && ends_storage_failed(launch->board, plan, text, bytes))
        return LAUNCH_KILLED;
    if (end == LAUNCH_VOID)
        explain_void(running, text, bytes);
    return end;
}

/* Without one of our libraries in every rank nothing that was seen means anything. */
static bool lacks_library(const struct launch *launch, char *text, size_t bytes)
{
    const struct path *const library[] = {&launch->protocol, &launch->preload_library};
    static const char *const what[] = {"the protocol", "libfaultline"};
    int incarnation = atomic_load(&launch->board->incarnation);
    char said[PRELOAD_TEXT_BYTES];
    for (int rank = 0; rank < launch->board->ranks; rank++) {
        struct path output;
        if (path_format(&output, NULL, "%s/output/r%d.%d.err", launch->folder, rank, incarnation) !=
            OK)
            continue;
        for (int i = 0; i < 2; i++)
            if (preload_was_ignored(output.text, library[i], said, sizeof said)) {
                snprintf(text, bytes, "%s was not loaded into rank %d: %.900s", what[i], rank,
                         said);
                return true;
            }
    }
    return false;
}

static void tail_if_asked(struct running_incarnation *running)
{
    const struct launch *launch = running->launch;
    if (!launch->capture)
        output_tail_begin(&running->tail, launch->folder, atomic_load(&launch->board->incarnation),
                          launch->board->slots);
}

/* The job does not go on: is it the job's doing? */
static enum launch_end look_at_stuck(const struct running_incarnation *running, enum launch_end end,
                                     char *text, size_t bytes)
{
    const struct board *board = running->launch->board;
    size_t used = strlen(text);
    if (outside_stopped(board, running->launched.pid, text, bytes) ||
        outside_signalled(board, 0, text, bytes))
        return LAUNCH_VOID;
    if (ends_program_runs(board)) {
        watch_write_stacks(board, running->launch->folder);
        return end;
    }
    snprintf(text + used, bytes - used,
             ", and every rank that lives is inside MPI_Init of the MPI library");
    return LAUNCH_VOID;
}

/* A launcher that decides ends the job itself, so that its decisions until then are kept. If it
 * does not, or is another one, `stop` ends it. */
static void end_in_order(const struct running_incarnation *running)
{
    const struct launched *launched = &running->launched;
    struct board *board = running->launch->board;
    if (!running->launch->launcher->decides || launched->ended || launched->line != 0 ||
        atomic_load(&board->slot[0].pid) == 0 || atomic_load(&board->stuck) != STUCK_NOT)
        return;
    struct pollfd look = {.fd = pidfd_open(launched->pid, 0), .events = POLLIN};
    if (look.fd < 0)
        return;
    atomic_store(&board->over, 1);
    while (poll(&look, 1, IN_ORDER_WITHIN_MS) < 0 && errno == EINTR)
        ;
    close(look.fd);
}

/* After an incarnation of which nothing lives any more. */
static enum launch_end conclude(const struct running_incarnation *running, enum launch_end end,
                                char *text, size_t bytes)
{
    const struct launch *launch = running->launch;
    const struct scenario *scenario = launch->scenario;
    const struct survivors survivors = {
        .folder = launch->folder,
        .ranks = scenario->ranks - scenario->reserve,
        .start_needs_all = launch->launcher->hides_deaths,
        .may_leave = scenario->max_incarnations > 1,
        .plan = &scenario->plan,
    };
    const struct survivors *live_on = scenario->survivors ? &survivors : NULL;
    ends_collect(launch->board, live_on, running->ends);
    if (end == LAUNCH_FINISHED)
        end = classify(running, live_on, text, bytes);
    bool bad = end == LAUNCH_FAILED || end == LAUNCH_DEADLOCK || end == LAUNCH_TIME_LIMIT ||
               end == LAUNCH_VOID;
    if (bad && (disk_is_full(launch, text, bytes) || lacks_shared_memory(launch, text, bytes)))
        end = LAUNCH_VOID;
    return end != LAUNCH_INTERRUPTED && lacks_library(launch, text, bytes) ? LAUNCH_VOID : end;
}

enum error_code launch_find_files(struct launch *launch, struct error *error)
{
    const struct scenario *scenario = launch->scenario;
    enum error_code code = path_rank_parent(&launch->rank_parent, error);
    if (code == OK)
        code = launch->launcher->find(launch->launcher, &launch->launcher_path, error);
    if (code == OK)
        code = path_library(&launch->preload_library, error);
    if (code == OK)
        code = path_protocol(scenario->protocol, scenario->file, &launch->protocol, error);
    if (code == OK)
        code = path_program(scenario->program, scenario->file, &launch->program, error);
    return code;
}

enum error_code launch_incarnation(struct launch *launch, struct rank_end *ends,
                                   enum launch_end *end, char *text, size_t bytes,
                                   struct error *error)
{
    struct running_incarnation *running = memory_new(1, sizeof *running);
    running->launch = launch;
    running->ends = ends;
    running->killed_for_memory = process_killed_for_memory();
    watch_init(&running->watch, launch->board->ranks, launch->launcher->decides);
    tail_if_asked(running);
    leftovers_begin(launch->folder);
    struct launched *launched = &running->launched;
    enum error_code code = order_make(launch, &running->order, error);
    if (code == OK)
        code = launch->launcher->start(launch->launcher, &running->order, launched, error);
    if (code == OK)
        *end = watch_incarnation(running, text, bytes);
    if (code == OK && (*end == LAUNCH_DEADLOCK || *end == LAUNCH_TIME_LIMIT))
        *end = look_at_stuck(running, *end, text, bytes);
    if (code == OK && *end == LAUNCH_TIME_LIMIT)
        end_in_order(running);
    launched->left = launched->ended;
    launch->launcher->stop(launched, note_reaped, running);
    leftovers_remove(launch->folder);
    if (code == OK)
        *end = conclude(running, *end, text, bytes);
    output_tail_copy(&running->tail, board_processes(launch->board));
    output_tail_end(&running->tail);
    order_release(&running->order);
    free(running);
    return code;
}
