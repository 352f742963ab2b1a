/* Rules of steering: what is done to calls on the checkpoint store, who is stopped and goes on, and
 * conditions on the call stack. A "rank" here is a forked process that records by hand. */
#include "faultline.h"
#include "rules_run.h"

#include "board/progress.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/wait.h>

/* --- the store -------------------------------------------------------------------------------- */
static void on_store(enum plan_event event, const char *file)
{
    struct record *r = record_begin(LEVEL_SELF, RECORD_CALL, CALL_NONE);
    r->error = 0;
    atomic_store(&r->kind, RECORD_CALL);
    watcher->storage(r, event, file, false);
}

static void test_store(void)
{
    RUN("fail event=write file=line-*.rank-? choice=28 nth=2", "tear event=write count=3 lose=node",
        "await event=send");
    become(1, 0);
    on_store(EVENT_WRITE, "commit");
    on_store(EVENT_SYNC, "line-1.rank-1");
    on_store(EVENT_WRITE, "line-1.rank-1");
    check(rules_take() == 0, "another file, another call, another number");
    on_store(EVENT_WRITE, "line-2.rank-1");
    check(rules_take() == 1 && rules_step(0)->choice == 28, "the call fails");
    rules_stored(0, 28, 28);
    check(is_last_fault(FAULT_STORAGE, 0, 1, 28, 0) && step() == 1, "with evidence");
    on_store(EVENT_WRITE, "commit");
    check(rules_take() == 2, "a write is torn");
    rules_stored(1, 3, 0);
    check(faults(FAULT_LOST) == RANKS && step() == 2, "and the node loses what it had");
    check(atomic_load(&board->slot[0].lose) == 2 && atomic_load(&board->slot[2].lose) == 2,
          "which the board says");
    RUN("kill victims=1 event=sync lose=rank", "await event=send");
    pid_t pid = fork();
    if (pid == 0) {
        become(1, 0);
        on_store(EVENT_SYNC, "commit");
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    check(WIFSIGNALED(status) && atomic_load(&board->slot[1].lose) == 1 &&
              atomic_load(&board->slot[0].lose) == 0,
          "a rank is killed at a call on the store, and loses alone");
}

/* --- stops ------------------------------------------------------------------------------------ */
/* The parent of rank 1, as rank.c is one: lets it go on when it has stopped and is released. */
static bool serve(pid_t pid)
{
    int status;
    pid_t seen = waitpid(pid, &status, WUNTRACED);
    if (seen != pid || !WIFSTOPPED(status))
        return false;
    unsigned step = board_stopped_by(&board->slot[1], 0);
    while (progress_released(board, &plan, step) == RELEASED_NOT)
        usleep(500);
    board_stop_is_over(&board->slot[1], step);
    kill(pid, SIGCONT);
    waitpid(pid, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

static void test_stop(void)
{
    RUN("stop victims=1 event=send rank=1 release.event=recv", "await event=send rank=0");
    atomic_store(&board->slot[1].parent_pid, (int32_t)getpid());
    pid_t pid = fork();
    if (pid == 0) {
        become(1, 0);
        do_send(LEVEL_APP, CALL_MPI_Send, 0, 0, 1);
        unsigned stopped = faults(FAULT_STOPPED), continued = faults(FAULT_CONTINUED);
        _exit(stopped == 1 && continued == 1 && is_last_fault(FAULT_CONTINUED, 0, 1, 0, 1) ? 0 : 9);
    }
    while (!board_step_done(board, 0))
        usleep(500);
    become(0, 0);
    check(progress_released(board, &plan, 0) == RELEASED_NOT, "a rank has stopped itself");
    do_irecv(1);
    check(serve(pid), "another rank's event lets it go on, and it says so");
    become(1, 1);
    do_irecv(0);
    check(faults(FAULT_CONTINUED) == 0, "which it does not do in its next life");
    RUN("stop victims=1 event=send rank=0 ms=1", "await event=recv rank=1");
    atomic_store(&board->slot[0].parent_pid, (int32_t)getpid());
    pid = fork();
    if (pid == 0) {
        become(1, 0);
        while (!board_step_done(board, 0))
            usleep(500);
        do_irecv(0);
        _exit(faults(FAULT_CONTINUED) == 1 ? 0 : 9);
    }
    atomic_store(&board->slot[1].pid, (int32_t)pid);
    atomic_store(&board->slot[1].parent_pid, (int32_t)getpid());
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(faults(FAULT_STOPPED) == 1 && board_stopped_by(&board->slot[1], 0) == 0,
          "a rank stops another one");
    check(serve(pid), "for some time");
    RUN("stop victims=1 event=send rank=0");
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(runtime_trace.record[1].error == 255 &&
              board_stopped_by(&board->slot[1], 0) == BOARD_MAX_STEPS,
          "a rank that nobody would let go on is not stopped");
    RUN("stop victims=1 event=send rank=0");
    atomic_store(&board->slot[0].parent_pid, (int32_t)getpid());
    become(0, 0);
    board_request_kill(board, 1, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(runtime_trace.record[1].error == 255 &&
              board_stopped_by(&board->slot[1], 0) == BOARD_MAX_STEPS,
          "nor is one that is to be killed, though it has not ended yet");
    RUN("stop victims=2 event=send rank=0");
    atomic_store(&board->slot[0].parent_pid, (int32_t)getpid());
    become(0, 0);
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
    check(board_stopped_by(&board->slot[2], 0) == 0,
          "one without a process will be stopped by its parent");
}

/* --- the call stack --------------------------------------------------------------------------- */
__attribute__((noinline)) static void send_plain(void)
{
    do_send(LEVEL_APP, CALL_MPI_Send, 1, 0, 1);
}

__attribute__((noinline)) static void send_within(void)
{
    send_plain();
    __asm__ volatile(""); /* no tail call */
}

static void test_within(void)
{
    char path[96], module[256];
    Dl_info info;
    snprintf(path, sizeof path, "%s/functions", folder);
    ssize_t length = readlink("/proc/self/exe", module, sizeof module - 1);
    module[length > 0 ? length : 0] = '\0';
    FILE *file = fopen(path, "w");
    dladdr((void *)(uintptr_t)test_within, &info);
    uintptr_t offset = (uintptr_t)send_within - (uintptr_t)info.dli_fbase;
    fprintf(file, "send_within %lx %lx %s\n", (unsigned long)offset, (unsigned long)offset + 32,
            module);
    fprintf(file, "elsewhere 1 2 /no/such/module\n");
    fclose(file);
    RUN("await event=send within=send_within", "await event=send within=elsewhere");
    become(0, 0);
    rules_open(&plan, board, 0, 0, folder);
    send_plain();
    check(step() == 0, "the same call from elsewhere does not count");
    send_within();
    check(step() == 1, "one inside the function does");
    send_within();
    check(step() == 1, "a function of a module that is not loaded is never on the stack");
    unlink(path);
}

int main(void)
{
    if (!open_runs())
        return 1;
    test_store();
    test_stop();
    test_within();
    check(close_runs(), "nothing is left");
    return done();
}
