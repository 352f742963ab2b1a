/* See rank.h. */
#include "launch/rank.h"

#include "base/regular_file.h"
#include "board/board.h"
#include "board/mpich_ulfm.h"
#include "board/progress.h"
#include "board/rank_number.h"
#include "launch/preload.h"
#include "launch/stay.h"
#include "stacks/snapshot.h"
#include "system/path.h"
#include "system/process.h"
#include "trace/clock.h"
#include "trace/end.h"

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
#define PARTING_LOOK_NS 100000
#define NUMBER_BYTES 16

/* The rank and what is needed to look after it. */
struct supervised_rank {
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
    bool others_live_on; /* when it dies */
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
        code = board_create(fresh.text, ranks, 0, clock_ticks_per_second(), board, error);
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

static bool capture_output(const struct supervised_rank *supervised)
{
    struct path out, err;
    int incarnation = atomic_load(&supervised->board->incarnation);
    return path_format(&out, NULL, "%s/output/r%d.%d.out", supervised->job->run, supervised->rank,
                       incarnation) == OK &&
           path_format(&err, NULL, "%s/output/r%d.%d.err", supervised->job->run, supervised->rank,
                       incarnation) == OK &&
           redirect(out.text, STDOUT_FILENO) && redirect(err.text, STDERR_FILENO);
}

static void set_number(const char *name, int number)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%d", number);
    setenv(name, text, 1);
}

static void set_environment(const struct supervised_rank *supervised)
{
    const struct rank_job *job = supervised->job;
    for (size_t i = 0; i < job->environment_count; i++)
        putenv((char *)(uintptr_t)job->environment[i]); /* the store among them */
    setenv("FAULTLINE_RUN", job->run, 1);
    set_number("FAULTLINE_RANK", supervised->rank);
    set_number("FAULTLINE_RANKS", supervised->board->ranks);
    char *preload = rank_preload(job->preload);
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);
}

/* The forked child: becomes the rank. */
_Noreturn static void become_rank(const struct supervised_rank *supervised, pid_t parent)
{
    setpgid(0, 0);
    if (!process_die_with(parent, SIGKILL))
        _exit(EXIT_NOT_STARTED);
    if (supervised->job->capture && !capture_output(supervised))
        _exit(EXIT_NOT_STARTED);
    set_environment(supervised);
    process_reset_signals(&supervised->mask);
    const char *pipe_signal = getenv(SIGPIPE_ENVIRONMENT);
    if (pipe_signal != NULL && strcmp(pipe_signal, "ignored") == 0)
        signal(SIGPIPE, SIG_IGN);
    execvp(supervised->job->command[0], supervised->job->command);
    fprintf(stderr, "faultline: cannot start %s: %s\n", supervised->job->command[0],
            strerror(errno));
    _exit(EXIT_NOT_STARTED);
}

/* --- requests --------------------------------------------------------------------------------- */
static void read_plan(struct supervised_rank *supervised)
{
    struct path path;
    struct error error;
    if (supervised->has_plan || path_format(&path, &error, "%s/plan", supervised->job->run) != OK)
        return;
    supervised->has_plan = plan_read(path.text, &supervised->plan, &error) == OK;
}

/* As process_signal: a signal of ours, not one from outside. */
static void send(const struct supervised_rank *supervised, int number)
{
    board_note_signal(supervised->board, supervised->pid, number);
    process_signal(supervised->pidfd, number);
}

/* The rank has really stopped: a SIGCONT before that would be lost on it. */
static bool has_stopped(struct supervised_rank *supervised)
{
    siginfo_t info = {0};
    if (!supervised->stopped)
        supervised->stopped =
            waitid(P_PID, (id_t)supervised->pid, &info, WSTOPPED | WNOHANG) == 0 &&
            info.si_pid == supervised->pid;
    return supervised->stopped;
}

/* One that is to be killed, but not in what it does with others, must come out of that first. */
static bool may_go_on(struct supervised_rank *supervised, unsigned step)
{
    return atomic_load(&supervised->board->slot[supervised->rank].kill_request) != 0 ||
           progress_released(supervised->board, &supervised->plan, step) != RELEASED_NOT;
}

/* One look at a rank that the plan has stopped; its steps are asked for why it may go on. */
static void serve_stop(struct supervised_rank *supervised)
{
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
    read_plan(supervised);
    if (!has_stopped(supervised) || !supervised->has_plan)
        return;
    for (unsigned step = 0; (step = board_stopped_by(slot, step)) < supervised->plan.count; step++)
        if (may_go_on(supervised, step))
            board_stop_is_over(slot, step);
    if (board_is_stopped(slot))
        return;
    supervised->stopped = false;
    send(supervised, SIGCONT);
    if (board_is_stopped(slot)) /* again, while it still was: that SIGSTOP was lost on it */
        send(supervised, SIGSTOP);
}

/* Where it stood is kept here, because the rank itself will write nothing any more. */
static void kill_rank(const struct supervised_rank *supervised)
{
    char path[PATH_MAX];
    int incarnation = atomic_load(&supervised->board->incarnation);
    send(supervised, SIGSTOP);
    if (snapshot_path(path, sizeof path, supervised->job->run, supervised->rank, incarnation,
                      "killed"))
        snapshot_take_of(supervised->pid, path);
    send(supervised, SIGKILL);
}

/* Until the next look at what the rank's slot asks for. is_doomed: the rank first finishes what it
 * does together with others, for which there is no request. */
static void await_request(const struct supervised_rank *supervised, uint32_t seen, bool is_doomed)
{
    bool is_stopped = board_is_stopped(&supervised->board->slot[supervised->rank]);
    if (is_doomed)
        nanosleep(&(struct timespec){.tv_nsec = PARTING_LOOK_NS}, NULL);
    else
        board_await_request(supervised->board, supervised->rank, seen,
                            is_stopped ? STOPPED_LOOK_MS : REQUEST_LOOK_MS);
}

/* A thread of its own, since a futex cannot be polled. The pidfd keeps a late request from hitting
 * whoever has the number by then. */
static void *serve_requests(void *argument)
{
    struct supervised_rank *supervised = argument;
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
    for (;;) {
        uint32_t seen = atomic_load(&slot->attention);
        if (atomic_load(&slot->ended) != 0)
            return NULL;
        bool is_doomed = atomic_load(&slot->kill_request) != 0;
        if (is_doomed && board_takes_kill(slot)) {
            kill_rank(supervised);
            return NULL;
        }
        if (board_is_stopped(slot))
            serve_stop(supervised);
        await_request(supervised, seen, is_doomed);
    }
}

/* Where the others live on the trace says when it ended, and how. */
static void write_end(const struct supervised_rank *supervised, int wait_status)
{
    struct path path;
    if (supervised->others_live_on &&
        path_format(&path, NULL, "%s/trace/r%d.%d.trace", supervised->job->run, supervised->rank,
                    atomic_load(&supervised->board->incarnation)) == OK)
        trace_write_end(path.text, wait_status, clock_ticks());
}

static void note_end(void *context, pid_t pid, int wait_status)
{
    struct supervised_rank *supervised = context;
    if (pid != supervised->pid)
        return;
    write_end(supervised, wait_status);
    supervised->ended = true;
    supervised->wait_status = wait_status;
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
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
static void note_signal(struct supervised_rank *supervised, const struct signalfd_siginfo *info)
{
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
    if (info->ssi_signo == SIGCONT || atomic_load(&slot->signal_sent) != 0)
        return;
    read_name((pid_t)info->ssi_pid, slot->signal_sender_name);
    atomic_store(&slot->signal_sender, (int32_t)info->ssi_pid);
    atomic_store(&slot->signal_ns, clock_monotonic_ns());
    atomic_store(&slot->signal_sent, (int32_t)info->ssi_signo);
}

/* SIGTERM is also what this process gets when the launcher has ended. */
static void handle_signal(struct supervised_rank *supervised, const struct signalfd_siginfo *info)
{
    if (info->ssi_signo == SIGCHLD) {
        process_reap(note_end, supervised);
    } else if (getppid() != supervised->launcher) {
        atomic_store(&supervised->board->slot[supervised->rank].orphaned, 1);
        send(supervised, SIGKILL);
    } else {
        if (info->ssi_signo != SIGUSR1 || !mpich_has_ulfm())
            note_signal(supervised, info); /* else it is how the launcher tells of a death */
        process_signal(supervised->pidfd, (int)info->ssi_signo);
    }
}

/* The end of one rank makes the launcher end the others. */
static bool is_to_be_ended(const struct supervised_rank *supervised)
{
    const struct lookout *lookout = supervised->lookout;
    return lookout != NULL && !supervised->ended &&
           lookout->look(lookout->context, &supervised->run);
}

static void wait_for_end(struct supervised_rank *supervised)
{
    struct pollfd look[2] = {{.fd = supervised->signals, .events = POLLIN},
                             {.fd = supervised->watchfd, .events = POLLIN}};
    int status = 0; /* of the lookout, which has had the rank ended */
    while (!supervised->ended) {
        if (poll(look, 2, supervised->lookout != NULL ? supervised->lookout->period_ms : -1) < 0)
            continue;
        if (look[1].revents != 0) {
            send(supervised, SIGKILL);
            look[1].fd = -1;
        }
        struct signalfd_siginfo info;
        while (read(supervised->signals, &info, sizeof info) == sizeof info)
            handle_signal(supervised, &info);
        if (is_to_be_ended(supervised)) {
            status = supervised->lookout->status;
            supervised->lookout = NULL;
            send(supervised, SIGKILL);
        }
    }
    if (status != 0)
        supervised->wait_status = status << 8;
}

/* The others have all ended; false: the launcher, or whom to watch, wants this process to end. */
static bool stay(struct supervised_rank *supervised)
{
    struct pollfd look[2] = {{.fd = supervised->signals, .events = POLLIN},
                             {.fd = supervised->watchfd, .events = POLLIN}};
    struct signalfd_siginfo info;
    while (!stay_is_over(supervised->board)) {
        poll(look, 2, STAY_LOOK_MS);
        if (look[1].revents != 0 || getppid() != supervised->launcher)
            return false;
        while (read(supervised->signals, &info, sizeof info) == sizeof info)
            if (info.ssi_signo != SIGCHLD && info.ssi_signo != SIGCONT)
                return false;
    }
    return true;
}

/* After the end of the rank. Returns where this process is to end as the rank did. */
static void leave_later(struct supervised_rank *supervised)
{
    if (!supervised->others_live_on || !stay_is_meant() ||
        !stay_is_possible(&supervised->board->slot[supervised->rank]) || !stay(supervised))
        return;
    stay_take_leave(STAY_ANSWER_MS);
    _exit(EXIT_SUCCESS);
}

/* "1" for the rank says so for its parent, too. */
static bool has_survivors(const struct rank_job *job)
{
    for (size_t i = 0; i < job->environment_count; i++)
        if (strcmp(job->environment[i], SURVIVORS_ENVIRONMENT "=1") == 0)
            return true;
    return false;
}

/* false: whom to watch, or the launcher, has ended already. */
static bool tie_to_others(struct supervised_rank *supervised)
{
    supervised->watchfd = -1;
    supervised->launcher = getppid();
    if (!process_die_with(supervised->launcher, SIGTERM))
        return false;
    if (supervised->job->watch > 0)
        supervised->watchfd = process_open(supervised->job->watch);
    return supervised->job->watch == 0 || supervised->watchfd >= 0;
}

static bool block_signals(struct supervised_rank *supervised)
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGCHLD);
    for (size_t i = 0; i < sizeof forwarded / sizeof forwarded[0]; i++)
        sigaddset(&signals, forwarded[i]);
    supervised->signals = process_signals(&signals, &supervised->mask);
    return supervised->signals >= 0;
}

/* The others may wait for it in MPI_Init, and a launcher need not end them. */
static enum error_code not_started(struct supervised_rank *supervised, const char *what,
                                   struct error *error)
{
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
    enum error_code code = error_set(error, ERROR_LAUNCH, "%s: %s", what, strerror(errno));
    if (supervised->pid > 0) {
        kill(supervised->pid, SIGKILL);
        waitpid(supervised->pid, NULL, 0);
    }
    atomic_store(&slot->state, RANK_ABSENT);
    atomic_store(&slot->wait_status, EXIT_NOT_STARTED << 8);
    atomic_store(&slot->ended_ns, clock_monotonic_ns());
    atomic_store(&slot->ended, 1);
    return code;
}

static enum error_code start_rank(struct supervised_rank *supervised, struct error *error)
{
    struct board_slot *slot = &supervised->board->slot[supervised->rank];
    pid_t self = getpid();
    atomic_store(&slot->parent_pid, self);
    atomic_store(&slot->launcher_pid, supervised->launcher);
    if (supervised->others_live_on &&
        stay_is_meant()) /* up to MPI_Init, in which each process needs all others */
        atomic_store(&slot->together, TOGETHER_IN);
    supervised->pid = fork();
    if (supervised->pid == 0)
        become_rank(supervised, self);
    if (supervised->pid < 0)
        return not_started(supervised, "cannot fork", error);
    setpgid(supervised->pid, supervised->pid);
    atomic_store(&slot->pid, supervised->pid);
    supervised->pidfd = process_open(supervised->pid);
    if (supervised->pidfd >= 0 && board_is_stopped(slot))
        send(supervised, SIGSTOP); /* asked for before there was a process */
    pthread_t thread;
    if (supervised->pidfd >= 0)
        errno = pthread_create(&thread, NULL, serve_requests, supervised);
    bool watched = supervised->pidfd >= 0 && errno == 0;
    return watched ? OK : not_started(supervised, "cannot watch the rank", error);
}

enum error_code rank_parent(const struct rank_job *job, struct error *error)
{
    static struct supervised_rank supervised;
    supervised.job = job;
    supervised.rank = job->first + rank_from_environment();
    supervised.lookout = supervised.rank == 0 ? job->lookout : NULL;
    supervised.others_live_on = has_survivors(job);
    if (path_format(&supervised.run, error, "%s", job->run) != OK)
        return error->code;
    if (!tie_to_others(&supervised))
        return error_set(error, ERROR_LAUNCH, "the driver or the launcher has ended already");
    enum error_code code = find_board(job, &supervised.board, error);
    if (code != OK)
        return code;
    int processes = board_processes(supervised.board);
    if (supervised.rank < job->first || supervised.rank >= processes)
        return error_set(error, ERROR_LAUNCH, "the launcher says rank %d, the run has %d to %d",
                         supervised.rank, job->first, processes - 1);
    if (!block_signals(&supervised))
        return error_set(error, ERROR_LAUNCH, "signalfd: %s", strerror(errno));
    if (job->owns)
        process_own_descendants();
    code = start_rank(&supervised, error);
    if (code != OK)
        return code;
    wait_for_end(&supervised);
    if (job->owns)
        process_end_descendants(NULL, NULL);
    leave_later(&supervised);
    if (supervised.others_live_on && mpich_has_ulfm())
        _exit(WIFEXITED(supervised.wait_status) ? WEXITSTATUS(supervised.wait_status)
                                                : EXIT_FAILURE); /* a signal may end the launcher */
    process_end_like(supervised.wait_status);
}
