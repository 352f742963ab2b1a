/* An incarnation from its start to its end (launch/launch.h), with a launcher of the test's own:
 * one process that forks the ranks, without mpiexec and without a parent around each. What is
 * common to all launchers must need nothing of mpiexec. */
#include "launch/launcher.h"
#include "tap.h"
#include "trace/clock.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 2
#define WAIT_S 300 /* against hanging alone */

/* What the ranks do. */
enum behaviour { FINISH, CRASH, LAUNCHER_DIES, LAUNCHER_LEAVES, WAIT_FOREVER, NOT_STARTED };

static enum behaviour behaviour;
static struct board *board;
static char folder[] = "/tmp/faultline-launch.XXXXXX";
static int stops; /* calls of stop */

static void finish(struct board_slot *slot, int wait_status)
{
    atomic_store(&slot->state, wait_status == 0 ? RANK_FINALIZED : RANK_INITIALIZED);
    atomic_store(&slot->world_size, RANKS);
    atomic_store(&slot->wait_status, wait_status);
    atomic_store(&slot->ended_ns, 1000);
    atomic_store(&slot->ended, 1);
}

/* The process that the ranks descend from, which tells the board of their ends. */
_Noreturn static void serve(const struct launch_order *order)
{
    for (int rank = 0; rank < order->ranks; rank++) {
        pid_t pid = fork();
        if (pid == 0 && behaviour != FINISH && behaviour != CRASH)
            for (;;)
                pause();
        if (pid == 0)
            _exit(behaviour == CRASH && rank == 1 ? 3 : 0);
        atomic_store(&board->slot[rank].pid, pid);
        atomic_store(&board->slot[rank].state, RANK_INITIALIZED);
    }
    int wait_status;
    for (pid_t pid; behaviour <= CRASH && (pid = wait(&wait_status)) > 0;)
        for (int rank = 0; rank < order->ranks; rank++)
            if (atomic_load(&board->slot[rank].pid) == pid)
                finish(&board->slot[rank], wait_status);
    if (behaviour == LAUNCHER_DIES)
        raise(SIGKILL);
    if (behaviour == WAIT_FOREVER)
        for (;;)
            pause();
    _exit(behaviour == FINISH ? 0 : 5);
}

static enum error_code find(const struct launcher *self, struct path *command, struct error *error)
{
    (void)self;
    return path_format(command, error, "forks");
}

static enum error_code start(const struct launcher *self, const struct launch_order *order,
                             struct launched *launched, struct error *error)
{
    (void)self;
    if (behaviour == NOT_STARTED)
        return error_set(error, ERROR_LAUNCH, "no room for a process");
    launched->pid = fork();
    if (launched->pid == 0)
        serve(order);
    return OK;
}

static bool poll_ended(struct launched *launched)
{
    return launched->ended;
}

static void stop(struct launched *launched, process_reaped *reaped, void *context)
{
    (void)launched;
    stops++;
    process_end_descendants(reaped, context);
}

static void explain(const struct launched *launched, const struct launch_order *order, char *text,
                    size_t bytes)
{
    size_t used = strlen(text);
    snprintf(text + used, bytes - used, " [%s %s]", order->launcher,
             launched->left ? "left" : "stopped");
}

static const struct launcher forks = {.name = "forks",
                                      .find = find,
                                      .start = start,
                                      .poll = poll_ended,
                                      .stop = stop,
                                      .explain = explain};

static struct launch make_launch(const struct scenario *scenario, double timeout_s)
{
    struct launch launch = {.scenario = scenario,
                            .folder = folder,
                            .shown = "here",
                            .followed = "",
                            .capture = true,
                            .timeout_s = timeout_s,
                            .patience_s = timeout_s,
                            .board = board,
                            .launcher = &forks,
                            .deadline_ns = clock_monotonic_ns() + (uint64_t)(timeout_s * 1e9)};
    launch.launcher->find(launch.launcher, &launch.launcher_path, NULL);
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    launch.signals = process_signals(&signals, &launch.mask);
    return launch;
}

static void expect(enum behaviour what, double timeout_s, enum launch_end end, const char *says)
{
    char argument[] = "a";
    char *arguments[] = {argument};
    struct scenario scenario = {.ranks = RANKS, .argument = arguments, .argument_count = 1};
    struct rank_end ends[RANKS] = {{0}};
    struct error error = {0};
    char text[1024] = "";
    enum launch_end got = LAUNCH_INTERRUPTED;
    behaviour = what;
    stops = 0;
    board_begin_incarnation(board, 0);
    struct launch launch = make_launch(&scenario, timeout_s);
    enum error_code code = launch_incarnation(&launch, ends, &got, text, sizeof text, &error);
    if (what == NOT_STARTED)
        check(code == ERROR_LAUNCH && strstr(error.text, says) != NULL, "\"%s\"", error.text);
    else
        check(code == OK && got == end && strstr(text, says) != NULL, "%d, \"%s\"", (int)got, text);
    check(stops == 1, "stopped once: %d", stops);
    check(waitpid(-1, NULL, WNOHANG) < 0 && errno == ECHILD, "nothing of it lives");
    close(launch.signals);
}

static void remove_folder(void)
{
    static const char *const names[] = {"board", "shared-memory", "stacks.txt"};
    struct path path;
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (path_format(&path, NULL, "%s/%s", folder, names[i]) == OK)
            unlink(path.text);
    rmdir(folder);
}

int main(void)
{
    struct path path;
    struct error error;
    if (!check(mkdtemp(folder) != NULL && path_format(&path, NULL, "%s/board", folder) == OK &&
                   board_create(path.text, RANKS, 0, 1e9, &board, &error) == OK,
               "a board"))
        return done();
    process_own_descendants();
    expect(FINISH, WAIT_S, LAUNCH_FINISHED, "every rank finished");
    expect(CRASH, WAIT_S, LAUNCH_FAILED, "rank 1 exited with status 3, not by a fault of the plan");
    expect(LAUNCHER_DIES, WAIT_S, LAUNCH_VOID,
           "the launcher was ended, not by Faultline [forks left]");
    expect(LAUNCHER_LEAVES, WAIT_S, LAUNCH_VOID,
           "the launcher ended while ranks were running, and none had failed [forks left]");
    expect(WAIT_FOREVER, 0.2, LAUNCH_TIME_LIMIT, "still running after 0.2 s");
    expect(NOT_STARTED, WAIT_S, LAUNCH_VOID, "no room for a process");
    board_unmap(board);
    remove_folder();
    return done();
}
