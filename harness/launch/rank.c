/* See rank.h. */
#include "launch/rank.h"

#include "base/regular_file.h"
#include "board/board.h"
#include "board/progress.h"
#include "board/rank_number.h"
#include "launch/preload.h"
#include "stacks/snapshot.h"
#include "system/path.h"
#include "system/process.h"
#include "trace/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#define REQUEST_LOOK_MS 1000
#define STOPPED_LOOK_MS 2 /* between two looks at what lets a stopped rank go on */
#define NUMBER_BYTES 16

/* The rank and what is needed to look after it. */
struct charge {
    const struct rank_job *job;
    struct board *board;
    int rank;
    pid_t launcher; /* parent of this process */
    pid_t pid;      /* of the rank */
    int pidfd;      /* of the rank */
    int watchfd;    /* of job->watch, or -1 */
    int signals;    /* signalfd */
    sigset_t mask;  /* as it was */
    bool ended;
    int wait_status;
    struct path run;
    const struct lookout *lookout; /* NULL: this one does not ask it, or need not any more */
    bool stopped;                  /* seen to be, since it was last let go */
    bool has_plan;                 /* read when the first stop comes */
    struct plan plan;
};

/* What a launcher or a user may send to the parent and mean for the rank. The rank has a process
 * group of its own, so that it gets each once. */
static const int forwarded[] = {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT};

/* Bytes of the first library of a list if it is the runtime of a sanitiser, which ends a process
 * where it does not come before all others; else 0. */
static int sanitiser_first(const char *list)
{
    static const char *const runtimes[] = {"libasan.so", "libtsan.so", "libclang_rt.asan",
                                           "libclang_rt.tsan"};
    size_t length = strcspn(list, PRELOAD_SEPARATORS);
    const char *slash = memrchr(list, '/', length);
    const char *name = slash != NULL ? slash + 1 : list;
    for (size_t i = 0; i < sizeof runtimes / sizeof runtimes[0]; i++)
        if (strncmp(name, runtimes[i], strlen(runtimes[i])) == 0)
            return (int)length;
    return 0;
}

char *rank_preload(const char *list)
{
    const char *old = getenv("LD_PRELOAD");
    if (old == NULL)
        old = "";
    int first = sanitiser_first(old);
    const char *rest = old + first + strspn(old + first, PRELOAD_SEPARATORS);
    char *whole;
    if (asprintf(&whole, "%.*s%s%s%s%s", first, old, first > 0 ? ":" : "", list,
                 *rest != '\0' ? ":" : "", rest) < 0)
        return NULL;
    return whole;
}

/* The board of the run. In a job that the launcher started by itself the first rank makes it, whole
 * before it gets its name. */
static enum error_code find_board(const struct rank_job *job, struct board **board,
                                  struct error *error)
{
    struct path path, fresh;
    enum error_code code = path_format(&path, error, "%s/board", job->run);
    int ranks = rank_count_from_environment();
    if (code != OK || path_exists(path.text) || ranks < 1)
        return code != OK ? code : board_map(path.text, board, error);
    code = path_format(&fresh, error, "%s.%d", path.text, (int)getpid());
    if (code == OK)
        code = board_create(fresh.text, ranks, clock_ticks_per_second(), board, error);
    if (code != OK)
        return code;
    board_unmap(*board);
    *board = NULL;
    if (link(fresh.text, path.text) != 0 && errno != EEXIST)
        code = error_set(error, ERROR_IO, "%s: %s", path.text, strerror(errno));
    unlink(fresh.text);
    return code != OK ? code : board_map(path.text, board, error);
}

static bool redirect(const char *path, int to)
{
    int file;
    return regular_make(path, &file, NULL) == OK && dup2(file, to) >= 0;
}

static bool capture_output(const struct charge *charge)
{
    struct path out, err;
    int incarnation = atomic_load(&charge->board->incarnation);
    return path_format(&out, NULL, "%s/output/r%d.%d.out", charge->job->run, charge->rank,
                       incarnation) == OK &&
           path_format(&err, NULL, "%s/output/r%d.%d.err", charge->job->run, charge->rank,
                       incarnation) == OK &&
           redirect(out.text, STDOUT_FILENO) && redirect(err.text, STDERR_FILENO);
}

static void set_number(const char *name, int number)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

static void set_environment(const struct charge *charge)
{
    const struct rank_job *job = charge->job;
    for (size_t i = 0; i < job->environment_count; i++)
        putenv((char *)(uintptr_t)job->environment[i]); /* the store among them */
    setenv("FAULTLINE_RUN", job->run, 1);
    set_number("FAULTLINE_RANK", charge->rank);
    set_number("FAULTLINE_RANKS", charge->board->ranks);
    char *preload = rank_preload(job->preload);
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);
}

/* The forked child: becomes the rank. */
_Noreturn static void become_rank(const struct charge *charge, pid_t parent)
{
    setpgid(0, 0);
    if (!process_die_with(parent, SIGKILL))
        _exit(EXIT_NOT_STARTED);
    if (charge->job->capture && !capture_output(charge))
        _exit(EXIT_NOT_STARTED);
    set_environment(charge);
    process_reset_signals(&charge->mask);
    execvp(charge->job->command[0], charge->job->command);
    fprintf(stderr, "faultline: cannot start %s: %s\n", charge->job->command[0], strerror(errno));
    _exit(EXIT_NOT_STARTED);
}

/* --- requests --------------------------------------------------------------------------------- */
static void read_plan(struct charge *charge)
{
    struct path path;
    struct error error;
    if (charge->has_plan || path_format(&path, &error, "%s/plan", charge->job->run) != OK)
        return;
    charge->has_plan = plan_read(path.text, &charge->plan, &error) == OK;
}

/* As process_signal: a signal of ours, not one from outside. */
static void send(const struct charge *charge, int number)
{
    board_note_signal(charge->board, charge->pid, number);
    process_signal(charge->pidfd, number);
}

/* The rank has really stopped: a SIGCONT before that would be lost on it. */
static bool has_stopped(struct charge *charge)
{
    siginfo_t info = {0};
    if (!charge->stopped)
        charge->stopped = waitid(P_PID, (id_t)charge->pid, &info, WSTOPPED | WNOHANG) == 0 &&
                          info.si_pid == charge->pid;
    return charge->stopped;
}

/* One look at a rank that the plan has stopped; its steps are asked for why it may go on. */
static void serve_stop(struct charge *charge)
{
    struct board_slot *slot = &charge->board->slot[charge->rank];
    read_plan(charge);
    if (!has_stopped(charge) || !charge->has_plan)
        return;
    for (unsigned step = 0; (step = board_stopped_by(slot, step)) < charge->plan.count; step++)
        if (progress_released(charge->board, &charge->plan, step) != RELEASED_NOT)
            board_stop_is_over(slot, step);
    if (board_is_stopped(slot))
        return;
    charge->stopped = false;
    send(charge, SIGCONT);
    if (board_is_stopped(slot)) /* again, while it still was: that SIGSTOP was lost on it */
        send(charge, SIGSTOP);
}

/* Where it stood is kept: it will not tell any more. */
static void kill_rank(const struct charge *charge)
{
    char path[PATH_MAX];
    int incarnation = atomic_load(&charge->board->incarnation);
    send(charge, SIGSTOP);
    if (snapshot_path(path, sizeof path, charge->job->run, charge->rank, incarnation, "killed"))
        snapshot_take_of(charge->pid, path);
    send(charge, SIGKILL);
}

/* A thread of its own, since a futex cannot be polled. The pidfd keeps a late request from hitting
 * whoever has the number by then. */
static void *serve_requests(void *argument)
{
    struct charge *charge = argument;
    struct board_slot *slot = &charge->board->slot[charge->rank];
    for (;;) {
        uint32_t seen = atomic_load(&slot->attention);
        if (atomic_load(&slot->kill_request) != 0) {
            kill_rank(charge);
            return NULL;
        }
        if (board_is_stopped(slot))
            serve_stop(charge);
        board_await_request(charge->board, charge->rank, seen,
                            board_is_stopped(slot) ? STOPPED_LOOK_MS : REQUEST_LOOK_MS);
    }
}

static void note_end(void *context, pid_t pid, int wait_status)
{
    struct charge *charge = context;
    if (pid != charge->pid)
        return;
    charge->ended = true;
    charge->wait_status = wait_status;
    struct board_slot *slot = &charge->board->slot[charge->rank];
    atomic_store(&slot->wait_status, wait_status);
    atomic_store(&slot->ended_ns, clock_monotonic_ns());
    atomic_store(&slot->ended, 1);
}

static void read_name(pid_t pid, char name[BOARD_NAME_BYTES])
{
    struct path path;
    FILE *file =
        path_format(&path, NULL, "/proc/%d/comm", (int)pid) == OK ? fopen(path.text, "re") : NULL;
    if (file == NULL || fgets(name, BOARD_NAME_BYTES, file) == NULL)
        name[0] = '\0';
    name[strcspn(name, "\n")] = '\0';
    if (file != NULL)
        fclose(file);
}

/* The first signal that somebody has sent for the rank; that it may go on is no news. */
static void note_told(struct charge *charge, const struct signalfd_siginfo *info)
{
    struct board_slot *slot = &charge->board->slot[charge->rank];
    if (info->ssi_signo == SIGCONT || atomic_load(&slot->told) != 0)
        return;
    read_name((pid_t)info->ssi_pid, slot->told_name);
    atomic_store(&slot->told_by, (int32_t)info->ssi_pid);
    atomic_store(&slot->told_ns, clock_monotonic_ns());
    atomic_store(&slot->told, (int32_t)info->ssi_signo);
}

/* SIGTERM is also what this process gets when the launcher has ended. */
static void handle_signal(struct charge *charge, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGCHLD) {
        process_reap(note_end, charge);
    } else if (getppid() != charge->launcher) {
        atomic_store(&charge->board->slot[charge->rank].orphaned, 1);
        send(charge, SIGKILL);
    } else {
        note_told(charge, info);
        process_signal(charge->pidfd, (int)info->ssi_signo);
    }
}

/* The end of one rank makes the launcher end the others. */
static bool is_to_be_ended(const struct charge *charge)
{
    const struct lookout *lookout = charge->lookout;
    return lookout != NULL && !charge->ended && lookout->look(lookout->context, &charge->run);
}

static void wait_for_end(struct charge *charge)
{
    struct pollfd look[2] = {{.fd = charge->signals, .events = POLLIN},
                             {.fd = charge->watchfd, .events = POLLIN}};
    int status = 0; /* of the lookout, which has had the rank ended */
    while (!charge->ended) {
        if (poll(look, 2, charge->lookout != NULL ? charge->lookout->period_ms : -1) < 0)
            continue;
        if (look[1].revents != 0) {
            send(charge, SIGKILL);
            look[1].fd = -1;
        }
        struct signalfd_siginfo info;
        while (read(charge->signals, &info, sizeof info) == sizeof info)
            handle_signal(charge, &info);
        if (is_to_be_ended(charge)) {
            status = charge->lookout->status;
            charge->lookout = NULL;
            send(charge, SIGKILL);
        }
    }
    if (status != 0)
        charge->wait_status = status << 8;
}

/* false: whom to watch, or the launcher, has ended already. */
static bool tie_to_others(struct charge *charge)
{
    charge->watchfd = -1;
    charge->launcher = getppid();
    if (!process_die_with(charge->launcher, SIGTERM))
        return false;
    if (charge->job->watch > 0)
        charge->watchfd = process_open(charge->job->watch);
    return charge->job->watch == 0 || charge->watchfd >= 0;
}

static bool block_signals(struct charge *charge)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&signals, forwarded[i]);
    charge->signals = process_signals(&signals, &charge->mask);
    return charge->signals >= 0;
}

/* The others may wait for it in MPI_Init, and a launcher need not end them. */
static enum error_code not_started(struct charge *charge, const char *what, struct error *error)
{
    struct board_slot *slot = &charge->board->slot[charge->rank];
    enum error_code code = error_set(error, ERROR_LAUNCH, "%s: %s", what, strerror(errno));
    if (charge->pid > 0) {
        kill(charge->pid, SIGKILL);
        waitpid(charge->pid, NULL, 0);
    }
    atomic_store(&slot->state, RANK_ABSENT);
    atomic_store(&slot->wait_status, EXIT_NOT_STARTED << 8);
    atomic_store(&slot->ended_ns, clock_monotonic_ns());
    atomic_store(&slot->ended, 1);
    return code;
}

static enum error_code start_rank(struct charge *charge, struct error *error)
{
    struct board_slot *slot = &charge->board->slot[charge->rank];
    pid_t self = getpid();
    atomic_store(&slot->parent_pid, self);
    atomic_store(&slot->launcher_pid, charge->launcher);
    charge->pid = fork();
    if (charge->pid == 0)
        become_rank(charge, self);
    if (charge->pid < 0)
        return not_started(charge, "cannot fork", error);
    setpgid(charge->pid, charge->pid);
    atomic_store(&slot->pid, charge->pid);
    charge->pidfd = process_open(charge->pid);
    if (charge->pidfd >= 0 && board_is_stopped(slot))
        send(charge, SIGSTOP); /* asked for before there was a process */
    pthread_t thread;
    if (charge->pidfd >= 0)
        errno = pthread_create(&thread, NULL, serve_requests, charge);
    bool watched = charge->pidfd >= 0 && errno == 0;
    return watched ? OK : not_started(charge, "cannot watch the rank", error);
}

enum error_code rank_parent(const struct rank_job *job, struct error *error)
{
    static struct charge charge;
    charge.job = job;
    charge.rank = rank_from_environment();
    charge.lookout = charge.rank == 0 ? job->lookout : NULL;
    if (path_format(&charge.run, error, "%s", job->run) != OK)
        return error->code;
    if (!tie_to_others(&charge))
        return error_set(error, ERROR_LAUNCH, "the driver or the launcher has ended already");
    enum error_code code = find_board(job, &charge.board, error);
    if (code != OK)
        return code;
    if (charge.rank < 0 || charge.rank >= charge.board->ranks)
        return error_set(error, ERROR_LAUNCH, "the launcher says rank %d, the run has 0 to %d",
                         charge.rank, charge.board->ranks - 1);
    if (!block_signals(&charge))
        return error_set(error, ERROR_LAUNCH, "signalfd: %s", strerror(errno));
    if (job->owns)
        process_own_descendants();
    code = start_rank(&charge, error);
    if (code != OK)
        return code;
    wait_for_end(&charge);
    if (job->owns)
        process_end_descendants(NULL, NULL);
    process_end_like(charge.wait_status);
}
