/* How an incarnation ended, by how its ranks did (launch/ends.h, launch/outside.h): what is hard to
 * bring about with a job, for the launcher ends the others when one leaves. */
#include "launch/ends.h"
#include "board/progress.h"
#include "launch/outside.h"
#include "launch/rank.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define RANKS 2
#define STATUS(code) ((code) << 8) /* of wait(), for exit(code) */
#define LAUNCHER 50
#define STRANGER 77

static char text[512];
static struct rank_end ends[RANKS + 1]; /* and one that comes later */
static const struct plan no_plan;

/* Both have been through MPI_Finalize and exited with 0. */
static void finish_all(struct board *board)
{
    board_begin_incarnation(board, 0);
    memset(ends, 0, sizeof ends);
    for (int rank = 0; rank < RANKS; rank++) {
        struct board_slot *slot = &board->slot[rank];
        atomic_store(&slot->pid, 100 + rank);
        atomic_store(&slot->launcher_pid, LAUNCHER);
        atomic_store(&slot->world_size, RANKS);
        atomic_store(&slot->state, RANK_FINALIZED);
        atomic_store(&slot->ended_ns, 1000);
        atomic_store(&slot->ended, 1);
    }
}

/* As its parent saw it, `when_ns` by the clock; none of the others has ended by then. */
static void end_badly(struct board *board, int rank, int wait_status, uint64_t when_ns)
{
    struct board_slot *slot = &board->slot[rank];
    atomic_store(&slot->state, RANK_INITIALIZED);
    atomic_store(&slot->wait_status, wait_status);
    atomic_store(&slot->ended_ns, when_ns);
}

/* The signal for the rank came to its parent. */
static void tell(struct board *board, int rank, int number, int sender, uint64_t when_ns)
{
    struct board_slot *slot = &board->slot[rank];
    snprintf(slot->signal_sender_name, sizeof slot->signal_sender_name, "%s", "somebody");
    atomic_store(&slot->signal_sender, sender);
    atomic_store(&slot->signal_ns, when_ns);
    atomic_store(&slot->signal_sent, number);
}

static enum launch_end classify(const struct board *board, const struct plan *plan)
{
    ends_collect(board, NULL, ends);
    return ends_classify(board, plan, NULL, ends, text, sizeof text);
}

static void expect(struct board *board, enum launch_end end, const char *says, const char *what)
{
    enum launch_end got = classify(board, &no_plan);
    check(got == end && strstr(text, says) != NULL, "%s: %d, \"%s\"", what, (int)got, text);
}

static void test_exits(struct board *board)
{
    finish_all(board);
    expect(board, LAUNCH_FINISHED, "every rank finished", "all is well");
    atomic_store(&board->slot[1].state, RANK_INITIALIZED);
    expect(board, LAUNCH_FAILED, "rank 1 exited with status 0 without MPI_Finalize", "it left");
    end_badly(board, 1, STATUS(3), 500);
    expect(board, LAUNCH_FAILED, "rank 1 exited with status 3", "exit");
    end_badly(board, 0, SIGSEGV, 400);
    expect(board, LAUNCH_FAILED, "rank 0 was ended by SIGSEGV", "the first of two that fail");
    check(ends[0].first && !ends[1].first, "the first is told as such");
    atomic_store(&board->slot[0].orphaned, 1);
    expect(board, LAUNCH_FAILED, "rank 1 exited with status 3", "what comes of a lost launcher");
    atomic_store(&board->slot[1].orphaned, 1);
    expect(board, LAUNCH_VOID, "the launcher ended", "nothing but what comes of it");
}

static void test_aborts(struct board *board)
{
    finish_all(board);
    end_badly(board, 0, STATUS(7), 600);
    end_badly(board, 1, SIGKILL, 700);
    board_note_signal(board, 101, SIGKILL);
    atomic_store(&board->slot[1].aborted_ns, 500);
    expect(board, LAUNCH_FAILED, "rank 1 aborted the job", "whoever tells the launcher");
    check(ends[1].aborted && ends[1].first && !ends[0].first, "and that is the first failure");
    atomic_store(&board->slot[1].state, RANK_INITIALIZING);
    expect(board, LAUNCH_VOID, "inside MPI_Init of the MPI library", "before the program's turn");
}

static void test_kills(struct board *board)
{
    static struct plan_step kill = {.action = ACTION_KILL, .victims = 1, .victim = {1}};
    const struct plan plan = {.count = 1, .steps = &kill};
    finish_all(board);
    end_badly(board, 1, SIGKILL, 500);
    board_note_signal(board, 101, SIGKILL);
    check(classify(board, &plan) != LAUNCH_KILLED, "a rank that died before its step was done: %s",
          text);
    progress_finish(board, 0, 1, 0);
    check(classify(board, &plan) == LAUNCH_KILLED, "%s", text);
    end_badly(board, 0, SIGKILL, 600);
    check(classify(board, &plan) == LAUNCH_VOID && strstr(text, "rank 0") != NULL,
          "another that nobody of the run has killed: %s", text);
    end_badly(board, 0, 0, 600);
    end_badly(board, 1, SIGSEGV, 500);
    check(classify(board, &plan) == LAUNCH_FAILED &&
              strstr(text, "rank 1 was ended by SIGSEGV") != NULL,
          "a victim that died of something else was not killed by the plan: %s", text);
}

/* What the plan did in the life before is not why this one ends. */
static void test_next_life(struct board *board)
{
    static struct plan_step step = {.action = ACTION_KILL, .victims = 1, .victim = {1}};
    const struct plan plan = {.count = 1, .steps = &step};
    finish_all(board);
    progress_finish(board, 0, 1, 0);
    atomic_store(&board->incarnation, 1);
    end_badly(board, 1, SIGKILL, 500);
    board_note_signal(board, 101, SIGKILL);
    check(classify(board, &plan) == LAUNCH_FAILED, "the victim kills itself in the next life: %s",
          text);
    step.action = ACTION_FAIL;
    check(!ends_storage_failed(board, &plan, text, sizeof text), "the store failed before: %s",
          text);
    atomic_store(&board->incarnation, 0);
    check(ends_storage_failed(board, &plan, text, sizeof text), "the store fails in this life");
}

/* A process that came later than the job began tears what it writes, and dies of that. */
static void test_late_victim(struct board *board)
{
    static struct plan_step tear = {.action = ACTION_TEAR};
    const struct plan plan = {.count = 1, .steps = &tear};
    finish_all(board);
    int late = board_take_newcomers(board, 1, 1);
    struct board_slot *slot = &board->slot[late];
    atomic_store(&slot->pid, 100 + late);
    atomic_store(&slot->world_size, RANKS);
    atomic_store(&slot->ended, 1);
    end_badly(board, late, SIGKILL, 500);
    board_note_signal(board, 100 + late, SIGKILL);
    progress_finish(board, 0, late, 0);
    check(late == RANKS && classify(board, &plan) == LAUNCH_KILLED &&
              strstr(text, "rank 2 was killed by step 1") != NULL,
          "process %d kills itself: %s", late, text);
}

/* A job that may be started again: only after a kill whoever exits is not what went wrong. */
static void test_leaves(struct board *board)
{
    static struct plan_step kill = {.action = ACTION_KILL, .victims = 1, .victim = {0}};
    const struct plan plan = {.count = 1, .steps = &kill};
    const struct survivors survivors = {.ranks = RANKS, .may_leave = true, .plan = &plan};
    finish_all(board);
    progress_finish(board, 0, 0, 0);
    end_badly(board, 1, STATUS(3), 600);
    ends_collect(board, &survivors, ends);
    check(ends[1].first, "rank 1 exits, and nobody was killed");
    end_badly(board, 0, SIGKILL, 500);
    board_note_signal(board, 100, SIGKILL);
    ends_collect(board, &survivors, ends);
    check(!ends[1].first && !ends[0].first, "rank 1 exits after the kill");
}

/* A process in reserve that nobody needed may leave, but not crash. */
static void test_reserve(struct board *board)
{
    static struct plan_step kill = {.action = ACTION_KILL, .victims = 1, .victim = {0}};
    const struct plan plan = {.count = 1, .steps = &kill};
    const struct survivors survivors = {.ranks = 1, .plan = &plan};
    finish_all(board);
    atomic_store(&board->slot[1].nobody, 1);
    atomic_store(&board->slot[1].state, RANK_INITIALIZED);
    ends_collect(board, &survivors, ends);
    check(!ends[1].first, "the process in reserve leaves");
    end_badly(board, 1, SIGSEGV, 500);
    ends_collect(board, &survivors, ends);
    check(ends[1].first, "the process in reserve crashes");
}

/* Others that mpiexec has not started by then, or that find it gone, are not what went wrong. */
static void test_killed_at_start(struct board *board)
{
    static struct plan_step kill = {.action = ACTION_KILL, .victims = 1, .victim = {1}};
    const struct plan plan = {.count = 1, .steps = &kill};
    const struct survivors survivors = {.ranks = RANKS, .start_needs_all = true, .plan = &plan};
    for (int started = 0; started < 2; started++) {
        finish_all(board);
        end_badly(board, 1, SIGKILL, 500);
        atomic_store(&board->slot[1].state, RANK_INITIALIZING);
        board_note_signal(board, 101, SIGKILL);
        progress_finish(board, 0, 1, 0);
        atomic_store(&board->slot[0].state, RANK_ABSENT);
        atomic_store(&board->slot[0].pid, started ? 100 : 0);
        atomic_store(&board->slot[0].wait_status, STATUS(EXIT_NOT_STARTED));
        ends_collect(board, &survivors, ends);
        enum launch_end got = ends_classify(board, &plan, &survivors, ends, text, sizeof text);
        check(got == LAUNCH_VOID && strstr(text, "rank 1 was killed before its MPI_Init") != NULL,
              "rank 0 was %s: %d, \"%s\"", started ? "late" : "never started", (int)got, text);
    }
}

static void test_outside(struct board *board)
{
    static const int sent[] = {SIGKILL, SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2};
    static const int own[] = {SIGSEGV, SIGABRT, SIGBUS, SIGFPE, SIGILL, SIGPIPE, SIGALRM, SIGTRAP};
    for (size_t i = 0; i < sizeof sent / sizeof sent[0]; i++) {
        finish_all(board);
        end_badly(board, 1, sent[i], 500);
        expect(board, LAUNCH_VOID, "from outside the plan", "only somebody sends it");
        board_note_signal(board, 101, sent[i]);
        expect(board, LAUNCH_FAILED, "not by a fault of the plan", "a rank did");
    }
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        finish_all(board);
        end_badly(board, 1, own[i], 500);
        expect(board, LAUNCH_FAILED, "not by a fault of the plan", "a crash");
    }
    finish_all(board);
    end_badly(board, 1, SIGXFSZ, 500);
    expect(board, LAUNCH_VOID, "ulimit -f", "a limit");
    finish_all(board);
    end_badly(board, 1, SIGKILL, 500);
    atomic_store(&board->slot[1].ended, 0);
    expect(board, LAUNCH_VOID, "the launcher ended", "with its parent: by the launcher");
}

/* Signals by way of the rank's parent. */
static void test_told(struct board *board)
{
    finish_all(board);
    tell(board, 1, SIGTERM, STRANGER, 400);
    expect(board, LAUNCH_FINISHED, "every rank finished", "a signal that came to nothing");
    end_badly(board, 1, SIGTERM, 500);
    expect(board, LAUNCH_VOID, "sent by process 77 (somebody)", "who sent it");
    end_badly(board, 1, STATUS(1), 500);
    expect(board, LAUNCH_VOID, "was sent SIGTERM from outside the plan, by process 77",
           "a rank that takes it and exits");
    tell(board, 1, SIGTERM, LAUNCHER, 400);
    expect(board, LAUNCH_VOID, "by the launcher's process 50", "the launcher was told");
    tell(board, 1, SIGTERM, LAUNCHER, 600);
    expect(board, LAUNCH_FAILED, "rank 1 exited with status 1", "the launcher clears up");
    end_badly(board, 0, SIGTERM, 700);
    tell(board, 0, SIGTERM, LAUNCHER, 600);
    expect(board, LAUNCH_FAILED, "rank 1 exited with status 1", "and others die of it");
}

static void test_groups(struct board *board)
{
    finish_all(board);
    atomic_store(&board->slot[0].pid, (int)getpid());
    board_note_signal(board, -(int)getpgrp(), SIGTERM);
    check(board_sent_within(&board->slot[0], SIGTERM) &&
              !board_sent_within(&board->slot[1], SIGTERM),
          "a signal to the group of one rank");
    board_note_signal(board, 0, SIGINT);
    check(board_sent_within(&board->slot[0], SIGINT), "to the own group");
    board_note_signal(board, -1, SIGHUP);
    check(board_sent_within(&board->slot[1], SIGHUP), "to everybody");
    board_note_signal(board, 4711, SIGQUIT);
    check(!board_sent_within(&board->slot[0], SIGQUIT) &&
              !board_sent_within(&board->slot[1], SIGQUIT),
          "to a stranger");
}

/* Of two ranks that die of a signal of the program the one that has sent it to itself. */
static void test_by_itself(struct board *board)
{
    finish_all(board);
    atomic_store(&board->slot[0].pid, (int)getpid());
    board_note_signal_of_program(board, (int)getpid(), SIGKILL);
    board_note_signal_of_program(board, 101, SIGKILL);
    end_badly(board, 0, SIGKILL, 100);
    end_badly(board, 1, SIGKILL, 200);
    ends_collect(board, NULL, ends);
    check(ends[0].by_itself && !ends[1].by_itself, "died of a signal that it sent itself");
    end_badly(board, 0, SIGTERM, 100);
    ends_collect(board, NULL, ends);
    check(!ends[0].by_itself, "or of another one");
}

/* A process that is stopped, whoever had it stopped. */
static pid_t stopped_process(void)
{
    pid_t pid = fork();
    if (pid == 0)
        for (;;)
            raise(SIGSTOP);
    int status;
    check(waitpid(pid, &status, WUNTRACED) == pid && WIFSTOPPED(status), "a process is stopped");
    return pid;
}

/* A rank of which the plan stops the process alone, and not those around it. */
static void test_stopped(struct board *board)
{
    pid_t stopped = stopped_process();
    finish_all(board);
    struct board_slot *slot = &board->slot[1];
    atomic_store(&board->slot[0].launcher_pid, 0);
    atomic_store(&slot->launcher_pid, 0);
    atomic_store(&board->slot[0].pid, 0);
    atomic_store(&slot->pid, stopped);
    check(outside_stopped(board, 0, text, sizeof text) && strstr(text, "rank 1 (process ") != NULL,
          "a rank that is stopped: \"%s\"", text);
    board_note_signal(board, stopped, SIGSTOP);
    check(!outside_stopped(board, 0, text, sizeof text), "it may have been the plan");
    atomic_store(&slot->parent_pid, stopped);
    check(outside_stopped(board, 0, text, sizeof text) &&
              strstr(text, "the parent of rank 1 (process ") != NULL,
          "but it did not stop the parent of the rank: \"%s\"", text);
    atomic_store(&slot->parent_pid, 0);
    kill(stopped, SIGKILL);
    waitpid(stopped, NULL, 0);
}

int main(void)
{
    char folder[] = "/tmp/faultline-ends-XXXXXX", path[64];
    struct board *board = NULL;
    struct error error;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/board", folder);
    if (!check(board_create(path, RANKS, 1, 1e9, &board, &error) == OK, "a board"))
        return done();
    test_exits(board);
    test_aborts(board);
    test_outside(board);
    test_told(board);
    test_groups(board);
    test_by_itself(board);
    test_kills(board);
    test_next_life(board);
    test_leaves(board);
    test_reserve(board);
    test_killed_at_start(board);
    test_stopped(board);
    test_late_victim(board); /* adds a process that stays on the board */
    board_unmap(board);
    unlink(path);
    rmdir(folder);
    return done();
}
