/* The parent of the ranks of one incarnation: see launcher.h. Touches what the ranks share only
 * while none of them holds the token, or to say that one has ended. */
#include "engine/zygote/launcher.h"

#include "base/regular_file.h"
#include "board/board.h"
#include "board/progress.h"
#include "engine/core/core.h"
#include "engine/time/virtual.h"
#include "engine/zygote/choices.h"
#include "engine/zygote/kept.h"
#include "engine/zygote/numbers.h"
#include "engine/zygote/stops.h"
#include "engine/zygote/zygote.h"
#include "stacks/snapshot.h"
#include "trace/clock.h"
#include "trace/end.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define EXIT_NOT_STARTED 127
#define LOOK_MS 100         /* a rank that has closed its descriptors cannot call */
#define BETWEEN_NS 1000000u /* that the job takes to be started again, in virtual time */

static struct {
    const char *folder;
    struct board *board;
    bool ending;                   /* one rank has ended the job */
    bool stopped;                  /* the driver has, or is gone */
    int processor;                 /* on which all ranks run */
    int status;                    /* of this process's own end */
    int end[ENGINE_MAX_PROCESSES]; /* pidfd of each process */
} job;

_Noreturn static void give_up(const char *what)
{
    fprintf(stderr, "faultline: the step engine cannot start the ranks: %s: %s\n", what,
            strerror(errno));
    fflush(NULL);
    _exit(EXIT_NOT_STARTED);
}

/* --- where ranks run -------------------------------------------------------------------------- */

/* One rank runs at a time. On one processor the token passes without waking another one, which
 * takes about a third off a run. What cannot be set stays with the kernel. 0: the calling process.
 */
static void run_on_processor(pid_t process)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    if (job.processor >= 0 && job.processor < CPU_SETSIZE) {
        CPU_SET((size_t)job.processor, &one);
        (void)sched_setaffinity(process, sizeof one, &one);
    }
}

static bool is_alive(int process)
{
    return engine->process[process].pid != 0 && atomic_load(&engine->process[process].gone) == 0;
}

/* The kernel wakes this process on an idle processor if there is one: the ranks follow it there. */
static void move_ranks(void)
{
    int processor = sched_getcpu();
    if (processor == job.processor)
        return;
    job.processor = processor;
    for (int i = 0; i < engine->processes; i++)
        if (is_alive(i))
            run_on_processor(engine->process[i].pid);
}

/* --- a rank begins ---------------------------------------------------------------------------- */

static bool redirect(int rank, const char *what, int to)
{
    char path[PATH_MAX];
    int file, incarnation = atomic_load(&job.board->incarnation);
    snprintf(path, sizeof path, "%s/output/r%d.%d.%s", job.folder, rank, incarnation, what);
    return regular_make(path, &file, NULL) == OK && dup2(file, to) >= 0;
}

/* In the forked child: redirects its output to the rank's files and sets its number. */
static void begin_rank(int rank, pid_t parent)
{
    char number[16];
    snprintf(number, sizeof number, "%d", rank);
    setenv("FAULTLINE_RANK", number, 1);
    setpgid(0, 0);
    kept_forget();
    run_on_processor(0);
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    if (getppid() != parent || !redirect(rank, "out", STDOUT_FILENO) ||
        !redirect(rank, "err", STDERR_FILENO))
        _exit(EXIT_NOT_STARTED);
    engine_join(rank);
}

/* True in the child. */
static bool fork_rank(int rank)
{
    struct board_slot *slot = &job.board->slot[rank];
    pid_t self = getpid();
    atomic_store(&slot->parent_pid, self);
    atomic_store(&slot->launcher_pid, self);
    if (rank >= board_processes(job.board))
        atomic_store(&job.board->processes, rank + 1);
    pid_t pid = fork();
    if (pid == 0) {
        begin_rank(rank, self);
        return true;
    }
    if (pid < 0)
        give_up("cannot fork");
    job.end[rank] = pidfd_open(pid, 0);
    if (job.end[rank] < 0)
        give_up("pidfd_open");
    engine->process[rank].pid = pid;
    engine->process[rank].state = PROCESS_READY;
    engine->process[rank].idle_polls = job.board->polls;
    atomic_store(&slot->pid, pid);
    if (atomic_load(&slot->kill_request) != 0) /* the plan wanted it dead before it was there */
        engine_died(rank);
    atomic_fetch_add(&engine->forked, 1);
    engine_futex_wake(&engine->forked);
    return false;
}

/* Forks the processes that the holder of the token has asked for. True in each of them. */
static bool fork_spawned(void)
{
    for (int i = (int)atomic_load(&engine->forked); i < engine->processes; i++)
        if (fork_rank(i))
            return true;
    return false;
}

/* --- ends ------------------------------------------------------------------------------------- */

static void note_signal(pid_t pid, int number)
{
    board_note_signal(job.board, pid, number);
    kill(pid, number);
}

static bool any_alive(void)
{
    for (int i = 0; i < engine->processes; i++)
        if (is_alive(i))
            return true;
    return false;
}

static void end_others(void)
{
    job.ending = true;
    for (int i = 0; i < engine->processes; i++) {
        if (!is_alive(i))
            continue;
        atomic_store(&job.board->slot[i].orphaned, 1);
        note_signal(engine->process[i].pid, SIGKILL);
    }
}

static void note_on_board(int rank, int wait_status)
{
    struct board_slot *slot = &job.board->slot[rank];
    atomic_store(&slot->wait_status, wait_status);
    atomic_store(&slot->ended_ns, clock_monotonic_ns());
    atomic_store(&slot->ended, 1);
}

/* A process whose end nobody has noticed yet was ended together with the job: at the present
 * virtual time. */
static void write_end(int process)
{
    char path[PATH_MAX];
    const struct process *p = &engine->process[process];
    snprintf(path, sizeof path, "%s/trace/r%d.%d.trace", job.folder, process,
             atomic_load(&job.board->incarnation));
    trace_write_end(path, atomic_load(&p->wait_status),
                    virtual_ticks(p->ended_ns != 0 ? p->ended_ns : engine->now_ns));
}

static bool ended_well(const struct process *p)
{
    return p->finalized && atomic_load(&p->wait_status) == 0;
}

static void note_end(int process, int wait_status)
{
    struct process *p = &engine->process[process];
    atomic_store(&p->wait_status, wait_status);
    atomic_store(&p->gone, 1);
    if (engine->aborted && atomic_load(&engine->holder) == process)
        atomic_store(&job.board->slot[process].aborted_ns, clock_monotonic_ns());
    note_on_board(process, wait_status);
    bool was_holder = atomic_load(&engine->holder) == process;
    if (!ended_well(p))
        job.status = WIFEXITED(wait_status) ? WEXITSTATUS(wait_status) : EXIT_FAILURE;
    if (was_holder && !job.stopped)
        engine_pass_on();
    if (!job.stopped) /* else the driver has ended it, as it ends where no zygote is kept */
        write_end(process);
}

static void reap(void)
{
    int wait_status;
    for (int i = 0; i < engine->processes; i++)
        if (is_alive(i) && waitpid(engine->process[i].pid, &wait_status, WNOHANG) > 0 &&
            !WIFSTOPPED(wait_status)) {
            close(job.end[i]);
            note_end(i, wait_status);
        }
}

/* --- requests --------------------------------------------------------------------------------- */

/* It makes no progress any more: the other ranks treat it as dead, or it waits at the event at
 * which the plan kills it. */
static bool is_doomed(int rank)
{
    const struct process *p = &engine->process[rank];
    return is_alive(rank) && (p->state == PROCESS_DEAD || atomic_load(&p->doomed) != 0);
}

/* Kills the ranks that the plan wants killed by their parent. Keeps a snapshot of each before. */
static void kill_requested(void)
{
    char path[PATH_MAX];
    for (int rank = 0; rank < engine->processes; rank++) {
        if (atomic_load(&job.board->slot[rank].kill_request) == 0 || !is_doomed(rank))
            continue;
        pid_t pid = engine->process[rank].pid;
        note_signal(pid, SIGSTOP);
        if (snapshot_path(path, sizeof path, job.folder, rank, atomic_load(&job.board->incarnation),
                          "killed"))
            snapshot_take_of(pid, path);
        note_signal(pid, SIGKILL);
    }
}

static bool is_steered(void)
{
    for (int rank = 0; rank < engine->processes; rank++) {
        const struct board_slot *slot = &job.board->slot[rank];
        if (is_alive(rank) && (board_is_stopped(slot) || atomic_load(&slot->held) > 0 ||
                               atomic_load(&slot->choosing) > 0))
            return true;
    }
    return stops_withhold();
}

/* Wakes the launcher process, so that it looks at once. */
static void call_driver(void)
{
    if (kept_job() >= 0)
        kept_send(KEPT_LOOK, 0);
    else
        kill(getppid(), SIGCHLD);
}

/* Not only such as were killed, whose end has not been seen yet. */
static bool any_waits(void)
{
    for (int i = 0; i < engine->processes; i++)
        if (is_alive(i) && engine->process[i].state != PROCESS_DEAD)
            return true;
    return false;
}

/* Nobody can go on: what the plan keeps is let go. Where it keeps nothing the driver sees that the
 * job is deadlocked, and ends it. */
static void look_at_stuck(void)
{
    static uint64_t turns;
    if (!any_waits())
        return;
    if (!is_steered() || engine->turns == turns) {
        choices_write(job.folder, atomic_load(&job.board->incarnation)); /* it will be ended */
        atomic_store(&job.board->stuck, atomic_load(&engine->stuck));
        call_driver();
        return;
    }
    turns = engine->turns;
    progress_unstick(job.board);
    stops_give_notice();
    engine_wake_all();
    engine_pass_on();
}

static void serve_requests(void)
{
    uint64_t calls;
    ssize_t got = read(engine->events, &calls, sizeof calls);
    (void)got;
    kill_requested();
    if (atomic_load(&engine->holder) != ENGINE_NOBODY)
        return;
    if (engine->refused[0] != '\0')
        snprintf(job.board->refused, sizeof job.board->refused, "%s", engine->refused);
    if (engine->aborted || engine->refused[0] != '\0' || atomic_load(&engine->turns_left) == 1)
        end_others();
    else if (atomic_load(&engine->stuck) != STUCK_NOT)
        look_at_stuck();
}

/* --- the whole -------------------------------------------------------------------------------- */

/* Not by SIGCHLD: another thread, of a library of the MPI library's, may take it. */
static int watched(struct pollfd *look)
{
    int count = 0;
    look[count++] = (struct pollfd){.fd = job.stopped ? -1 : kept_job(), .events = POLLIN};
    look[count++] = (struct pollfd){.fd = engine->events, .events = POLLIN};
    for (int i = 0; i < engine->processes; i++)
        if (is_alive(i))
            look[count++] = (struct pollfd){.fd = job.end[i], .events = POLLIN};
    return count;
}

/* Until all have ended; true in a process that was forked meanwhile. */
static bool serve(void)
{
    static struct pollfd look[ENGINE_MAX_PROCESSES + 2];
    while (any_alive()) {
        int ready = poll(look, (nfds_t)watched(look), LOOK_MS);
        if (ready < 0 && errno != EINTR)
            give_up("poll");
        if (ready == 0)
            move_ranks();
        if ((ready > 0 && look[0].revents != 0) || atomic_load(&job.board->over) != 0) {
            job.stopped = true;
            end_others();
        }
        reap();
        if (job.stopped)
            continue;
        if (fork_spawned())
            return true;
        serve_requests();
    }
    return false;
}

static void open_board(const char *folder)
{
    char path[PATH_MAX];
    struct error error;
    if (snprintf(path, sizeof path, "%s/board", folder) >= (int)sizeof path ||
        board_map(path, &job.board, &error) != OK)
        give_up("the board of the run");
}

void launcher_run(const char *folder, int ranks)
{
    const char *survivors = getenv(SURVIVORS_ENVIRONMENT);
    job.folder = folder;
    job.processor = sched_getcpu();
    open_board(folder);
    if (!engine_map(ranks))
        give_up("no shared memory");
    engine->most_processes = job.board->slots;
    engine->goes_on = survivors != NULL && strcmp(survivors, "1") == 0;
    stops_open(job.board, folder);
    engine->now_ns = job.board->virtual_ns; /* the lives of a rank follow one another */
    engine->polls_again = job.board->polls;
    numbers_read(folder);
    choices_open(atomic_load(&job.board->incarnation));
    for (int rank = 0; rank < ranks; rank++)
        if (fork_rank(rank))
            return;
    engine_pass_on();
    if (serve())
        return;
    job.board->virtual_ns = engine->now_ns + BETWEEN_NS;
    job.board->polls = engine_most_polls();
    numbers_write(folder);
    choices_write(folder, atomic_load(&job.board->incarnation));
    kept_end_leftovers();
    kept_send(KEPT_ENDS, job.status);
    _exit(job.status);
}
