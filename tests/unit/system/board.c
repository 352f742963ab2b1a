/* The board: made, mapped, refused when it is something else; requests between processes; how far
 * the plan has come. */
#include "board/board.h"
#include "board/progress.h"
#include "tap.h"
#include "trace/calls.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char folder[] = "/tmp/faultline-board-XXXXXX";
static char path[64];

static void test_create(void)
{
    struct board *board, *other;
    struct error error;
    check(board_create(path, 0, 0, 1e9, &board, &error) == ERROR_LIMIT && board == NULL &&
              strstr(error.text, "1 to 1024") != NULL,
          "a board for no rank is refused: %s", error.text);
    check(board_create(path, BOARD_MAX_RANKS + 1, 0, 1e9, &board, &error) == ERROR_LIMIT,
          "and for too many: %s", error.text);
    check(board_create(path, 3, 0, 2.5e9, &board, &error) == OK, "a board is created");
    check(board_create(path, 3, 0, 2.5e9, &other, &error) == ERROR_IO && other == NULL,
          "an existing one is not touched: %s", error.text);
    check(board_map(path, &other, &error) == OK && other->ranks == 3 &&
              other->ticks_per_second == 2.5e9,
          "it is mapped a second time");
    char link[80];
    struct board *linked;
    snprintf(link, sizeof link, "%s.link", path);
    check(symlink(path, link) == 0 && board_map(link, &linked, &error) == ERROR_IO &&
              linked == NULL,
          "a link to one is not followed: %s", error.text);
    unlink(link);
    atomic_store(&board->slot[2].line, 9);
    check(atomic_load(&other->slot[2].line) == 9, "both see the same memory");
    atomic_store(&board->progress[4].count, 7);
    progress_finish(board, 4, 2, 0);
    check(progress_reserve(board, 5, 1) && !progress_reserve(board, 5, 1), "one match to be had");
    board_set_ranks(board, 2);
    board_begin_incarnation(board, 1);
    check(other->ranks == 2 && board_processes(other) == 2, "an incarnation may have fewer ranks");
    check(progress_reserve(board, 5, 1), "a match that died with its rank is to be had again");
    check(atomic_load(&other->slot[2].line) == 0 && atomic_load(&other->incarnation) == 1,
          "a new incarnation starts with empty slots");
    check(board_step_done(other, 4) && atomic_load(&other->progress[4].count) == 7 &&
              atomic_load(&other->progress[4].rank) == 2,
          "but goes on in the plan");
    board_unmap(board);
    board_unmap(other);
    board_unmap(NULL);
    unlink(path);
}

static void test_newcomers(void)
{
    struct board *board, *other;
    board_create(path, 2, 3, 1e9, &board, NULL);
    check(board->slots == 5 && board_processes(board) == 2, "room for those that come later");
    atomic_store(&board->processes, 4);
    atomic_store(&board->slot[3].pid, (int32_t)getpid());
    board_note_signal(board, (int32_t)getpid(), SIGUSR1);
    check(board_sent_within(&board->slot[3], SIGUSR1), "one that came later was sent a signal");
    check(board_map(path, &other, NULL) == OK && other->slots == 5, "the room is there for all");
    board_begin_incarnation(board, 1);
    check(board_processes(board) == 2 && atomic_load(&board->slot[3].pid) == 0,
          "a new incarnation has none of them");
    board_unmap(board);
    board_unmap(other);
    unlink(path);
    board_create(path, BOARD_MAX_RANKS - 1, 3, 1e9, &board, NULL);
    check(board->slots == BOARD_MAX_RANKS, "no more than there are slots");
    board_unmap(board);
    unlink(path);
}

/* Numbers for processes that the program spawns, as the others of the call find them. */
static void test_spawned(void)
{
    struct board *board;
    board_create(path, 2, 3, 1e9, &board, NULL);
    check(board_find_newcomers(board, 77) == -1, "nobody was spawned by that call");
    check(board_take_newcomers(board, 2, 77) == 2 && board_processes(board) == 4,
          "they come after the ranks");
    check(board_take_newcomers(board, 1, 78) == 4 && board_find_newcomers(board, 77) == 2 &&
              board_find_newcomers(board, 78) == 4,
          "each call finds its own");
    check(board_take_newcomers(board, 1, 79) == -1 && board_find_newcomers(board, 79) == -1 &&
              board_processes(board) == 5,
          "no more than there are slots");
    board_begin_incarnation(board, 1);
    check(board_find_newcomers(board, 77) == -1 && board_take_newcomers(board, 0, 80) == -1,
          "a new incarnation has none of them");
    board_unmap(board);
    unlink(path);
}

static void write_file(const void *data, size_t bytes)
{
    FILE *file = fopen(path, "w");
    fwrite(data, 1, bytes, file);
    fclose(file);
}

static void test_foreign(void)
{
    struct board *board;
    struct error error;
    struct board head;
    memset(&head, 0, sizeof head);
    check(board_map(path, &board, &error) == ERROR_IO && strstr(error.text, path) != NULL,
          "a board that is not there: %s", error.text);
    write_file("", 0);
    check(board_map(path, &board, &error) == ERROR_FORMAT, "an empty file: %s", error.text);
    write_file(&head, sizeof head);
    check(board_map(path, &board, &error) == ERROR_FORMAT, "a foreign file: %s", error.text);
    head.magic = BOARD_MAGIC;
    head.version = BOARD_VERSION + 1;
    head.ranks = 2;
    write_file(&head, sizeof head);
    check(board_map(path, &board, &error) == ERROR_VERSION && board == NULL, "another version: %s",
          error.text);
    head.version = BOARD_VERSION;
    write_file(&head, sizeof head);
    check(board_map(path, &board, &error) == ERROR_FORMAT, "cut off: %s", error.text);
    unlink(path);
}

/* Waits for a kill as a parent of a rank does; step + 1. */
static uint32_t await_kill(struct board *board, int rank, int timeout_ms)
{
    struct board_slot *slot = &board->slot[rank];
    uint32_t seen = atomic_load(&slot->attention);
    if (atomic_load(&slot->kill_request) == 0)
        board_await_request(board, rank, seen, timeout_ms);
    return atomic_load(&slot->kill_request);
}

static void test_requests(void)
{
    struct board *board;
    int status;
    board_create(path, 2, 0, 1e9, &board, NULL);
    check(await_kill(board, 1, 1) == 0, "no request: the wait ends by itself");
    pid_t child = fork();
    if (child == 0)
        _exit((int)await_kill(board, 1, 20000));
    board_request_kill(board, 1, 4);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a request reaches another process");
    check(await_kill(board, 0, 0) == 0, "and only the rank it is for");
    board_request_kill(board, 2, 0);
    board_request_kill(board, -1, 0);
    board_request_stop(board, 2, 0);
    board_await_request(board, 2, 0, 600000);
    check(atomic_load(&board->slot[1].kill_request) == 5, "ranks that do not exist are ignored");
    uint32_t seen = atomic_load(&board->slot[0].attention);
    board_request_stop(board, 0, 6);
    board_await_request(board, 0, seen, 600000);
    board_request_stop(board, 0, 200);
    check(board_stopped_by(&board->slot[0], 0) == 6 && board_stopped_by(&board->slot[0], 7) == 200,
          "all steps that stop a rank are known");
    board_request_stop(board, 0, 40);
    board_stop_is_over(&board->slot[0], 6);
    check(board_stopped_by(&board->slot[0], 0) == 40, "the next one when the first is over");
    board_stop_is_over(&board->slot[0], 40);
    board_request_stop(board, 0, 6);
    board_stop_is_over(&board->slot[0], 200);
    check(board_stopped_by(&board->slot[0], 0) == 6 &&
              board_stopped_by(&board->slot[0], 7) == BOARD_MAX_STEPS &&
              atomic_load(&board->slot[0].kill_request) == 0,
          "a request that came before the wait is not waited for");
    board_unmap(board);
    unlink(path);
}

/* A waiter that sleeps already is woken, long before its time is over. */
static void test_wake(void)
{
    struct board *board;
    int status;
    board_create(path, 2, 0, 1e9, &board, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit((int)await_kill(board, 0, 600000));
    usleep(50000);
    board_request_kill(board, 0, 2);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "a sleeping parent is woken");
    board_unmap(board);
    unlink(path);
}

/* --- how far the plan has come ---------------------------------------------------------------- */
static struct plan plan;

static void plan_of(const char *const *lines)
{
    struct error error;
    struct plan_step step;
    plan_release(&plan);
    for (; *lines != NULL; lines++) {
        if (plan_step_parse(*lines, &step, &error) != OK) {
            printf("Bail out! %s\n", error.text);
            exit(1);
        }
        plan_add(&plan, &step, NULL);
    }
}

#define PLAN(...) plan_of((const char *const[]){__VA_ARGS__, NULL})

static void test_forest(struct board *board)
{
    PLAN("await event=send", "await event=recv", "await event=send after=1",
         "await event=recv after=start");
    check(progress_armed(board, &plan, 0) && progress_armed(board, &plan, 3) &&
              !progress_armed(board, &plan, 1) && !progress_armed(board, &plan, 2),
          "what comes after the start is armed");
    progress_finish(board, 0, 1, 0);
    check(!progress_armed(board, &plan, 0) && progress_armed(board, &plan, 1) &&
              progress_armed(board, &plan, 2),
          "a step that is done arms all that come after it");
    check(progress_claim(board, 1) && !progress_claim(board, 1), "one claims a step");
}

static void test_released(struct board *board)
{
    PLAN("hold event=send count=2 release.state=1:beyond:3", "release target=1 event=recv");
    check(progress_reserve(board, 0, 2) && progress_reserve(board, 0, 2) &&
              !progress_reserve(board, 0, 2),
          "a hold of two takes two");
    progress_give_back(board, 0);
    check(progress_reserve(board, 0, 2), "what is given back can be taken again");
    atomic_store(&board->slot[1].line, 3);
    atomic_store(&board->slot[1].stopped_line, 3);
    check(progress_released(board, &plan, 0) == RELEASED_NOT, "a hold that is not done is kept");
    atomic_store(&board->slot[1].stopped_line, 2);
    progress_finish(board, 0, 0, 0);
    check(progress_released(board, &plan, 0) == RELEASED_NOT, "its state does not hold yet");
    atomic_store(&board->slot[1].stopped_line, 3);
    check(progress_released(board, &plan, 0) == RELEASED_BY_CONDITION, "now it does");
    atomic_store(&board->slot[1].stopped_line, 2);
    progress_let_go(board, 0, RELEASED_BY_STEP);
    check(progress_released(board, &plan, 0) == RELEASED_BY_CONDITION,
          "what is let go stays so, for the first reason");
    check(!progress_reserve(board, 0, 9), "and takes nothing more");
}

static void test_reasons(struct board *board)
{
    PLAN("hold event=send ms=600000", "hold event=send ms=1", "hold event=send",
         "hold event=send count=2 order=2,1", "hold event=send count=2 order=2,1",
         "release target=5");
    for (unsigned i = 0; i < 5; i++)
        progress_finish(board, i, 0, 0);
    check(progress_released(board, &plan, 0) == RELEASED_NOT &&
              progress_released(board, &plan, 2) == RELEASED_NOT,
          "before its time, or without anything that lets it go, a message is kept");
    while (progress_released(board, &plan, 1) == RELEASED_NOT)
        usleep(1000);
    check(progress_released(board, &plan, 1) == RELEASED_BY_TIME, "time lets it go");
    check(progress_released(board, &plan, 3) == RELEASED_BY_CONDITION &&
              progress_released(board, &plan, 4) == RELEASED_NOT,
          "an order alone lets go, unless a step is to");
    progress_unstick(board);
    check(progress_released(board, &plan, 0) == RELEASED_BY_UNSTICK &&
              progress_released(board, &plan, 1) == RELEASED_BY_TIME,
          "when nothing goes on all are let go");
    PLAN("hold event=send");
    memset(&board->progress[0], 0, sizeof board->progress[0]);
    progress_finish(board, 0, 0, 0);
    check(progress_released(board, &plan, 0) == RELEASED_NOT, "but not what is held afterwards");
}

/* Two holds, one of them not complete, and a kill that has not come to its turn. */
static void test_quiet(struct board *board)
{
    PLAN("hold event=send", "hold after=start event=send count=3", "jitter after=start ms=5",
         "kill after=start victims=1 event=send rank=1", "quiet event=commit");
    progress_finish(board, 2, 0, 0);
    progress_finish(board, 0, 0, 0);
    atomic_store(&board->progress[1].taken, 1);
    check(progress_armed(board, &plan, 3) && !progress_is_over(board, &plan), "the faults go on");
    uint32_t unstick = atomic_load(&board->unstick);
    progress_quiet(board, RELEASED_BY_QUIET);
    progress_quiet(board, RELEASED_BY_STEP);
    check(!progress_armed(board, &plan, 3) && !progress_armed(board, &plan, 4) &&
              !progress_armed(board, &plan, 1),
          "in the quiet nothing is armed");
    check(progress_released(board, &plan, 0) == RELEASED_BY_QUIET &&
              progress_released(board, &plan, 1) == RELEASED_BY_QUIET,
          "all that is held is let go, and the first reason stays");
    check(atomic_load(&board->unstick) != unstick, "who waits for a choice gives in");
    board_begin_incarnation(board, 1);
    check(progress_is_over(board, &plan) && !progress_armed(board, &plan, 3),
          "and so it is in the next life");
}

/* Every step is done, and nothing is kept. */
static void test_over(struct board *board)
{
    PLAN("hold event=send", "kill victims=1 event=send rank=1");
    check(!progress_is_over(board, &plan), "what is not done can still come");
    progress_finish(board, 0, 0, 0);
    progress_finish(board, 1, 1, 0);
    check(!progress_is_over(board, &plan), "nor is it over while a message is held");
    progress_let_go(board, 0, RELEASED_BY_CONDITION);
    check(progress_is_over(board, &plan), "all done and let go: it is over");
    check(atomic_load(&board->quiet) == 0, "nobody had to say so");
}

static bool holds(struct board *board, const char *line, int32_t own)
{
    PLAN(line);
    return progress_states_hold(board, &plan.steps[0].when, own);
}

static void test_states(struct board *board)
{
    struct board_slot *slot = &board->slot[1];
    check(holds(board, "await state=1:before:1", 0) && !holds(board, "await state=1:logging:1", 0),
          "before its checkpoint a rank is before the line");
    atomic_store(&slot->line, 2);
    atomic_store(&slot->stopped_line, 1);
    check(holds(board, "await state=1:logging:2", 0) && holds(board, "await state=1:beyond:1", 0) &&
              holds(board, "await state=1:before:3", 0) &&
              !holds(board, "await state=1:beyond:2", 0) &&
              !holds(board, "await state=1:logging:1", 0) &&
              !holds(board, "await state=1:before:2", 0),
          "its place is told for every line");
    atomic_store(&slot->stopped_line, 3);
    check(!holds(board, "await state=1:beyond:3", 0), "beyond a line is only who has taken it");
    atomic_store(&slot->stopped_line, 1);
    check(holds(board, "await event=send state=own:logging:2", 1) &&
              !holds(board, "await event=send state=own:logging:2", 0),
          "own is the rank of the event");
    check(!holds(board, "await state=1:logging:2 state=0:beyond:1", 0) &&
              holds(board, "await state=1:logging:2 state=0:before:1", 0),
          "all states must hold");
    check(!holds(board, "await state=7:before:1", 0), "a rank that does not exist is nowhere");
    atomic_store(&slot->wire_call, CALL_MPI_Recv);
    check(!holds(board, "await state=1:blocked:MPI_Recv", 0), "a call that has returned");
    atomic_store(&slot->blocking_call, 5);
    check(holds(board, "await state=1:blocked:MPI_Recv", 0) &&
              !holds(board, "await state=1:blocked:MPI_Send", 0) &&
              !holds(board, "await state=1:blocked:MPI_Rcev", 0) &&
              holds(board, "await state=1:logging:2:MPI_Recv", 0) &&
              !holds(board, "await state=1:beyond:2:MPI_Recv", 0),
          "a call that a rank is in");
    atomic_store(&slot->app_call, CALL_MPI_Sendrecv);
    check(holds(board, "await state=1:blocked:MPI_Sendrecv", 0), "or as its program calls it");
}

static void on_a_board(void (*test)(struct board *))
{
    struct board *board;
    board_create(path, 3, 0, 1e9, &board, NULL);
    test(board);
    board_unmap(board);
    unlink(path);
}

/* A process that has entered the store, and stays there until it is killed. */
static pid_t stay_in_store(struct board *board)
{
    int entered[2];
    char byte = 0;
    if (pipe(entered) != 0)
        return -1;
    pid_t child = fork();
    if (child == 0) {
        byte = board_enter_store(board);
        if (write(entered[1], &byte, 1) == 1)
            pause();
        _exit(1);
    }
    bool is_there = child > 0 && read(entered[0], &byte, 1) == 1 && byte == 1;
    close(entered[0]);
    close(entered[1]);
    return is_there ? child : -1;
}

static void test_store_turns(struct board *board)
{
    check(board_enter_store(board), "the store is free");
    board_leave_store(board);
    pid_t child = stay_in_store(board);
    if (!check(child > 0, "another process may enter it"))
        return;
    check(!board_enter_store(board), "one that stays there is not waited for without end");
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    check(board_enter_store(board), "one that dies there lets the next one in");
    board_leave_store(board);
    child = stay_in_store(board);
    check(child > 0, "and the one after that");
    board_begin_incarnation(board, 1);
    check(board_enter_store(board), "nobody of an incarnation before is in it");
    board_leave_store(board);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
}

/* A rank that is together with others is not killed before it has parted from them. */
static void test_together(struct board *board)
{
    struct board_slot *slot = &board->slot[1];
    check(board_takes_kill(&board->slot[0]) && board_takes_kill(&board->slot[0]),
          "who is alone can be killed, as often as it is asked");
    atomic_store(&slot->together, TOGETHER_IN);
    check(!board_takes_kill(slot) && !board_takes_kill(slot), "who is not alone cannot");
    atomic_store(&slot->together, TOGETHER_NOT);
    check(board_takes_kill(slot) && atomic_load(&slot->together) == TOGETHER_KILLED,
          "when it has parted it can, and sees so before it begins anything again");
}

static void test_telling(struct board *board)
{
    PLAN("detect victims=0,2 choice=1 event=send", "detect victims=2 choice=3 event=recv");
    check(progress_death_notice(board, &plan, 0, 1) == NOTICE_IS_WITHHELD &&
              progress_death_notice(board, &plan, 0, 3) == NOTICE_IS_OPEN &&
              progress_death_notice(board, &plan, 1, 1) == NOTICE_IS_OPEN,
          "withheld is what a step tells, from whom it tells it");
    check(progress_withholds(board, &plan, 1) && !progress_withholds(board, &plan, 0),
          "whose death some step withholds");
    progress_finish(board, 0, 0, 0);
    check(progress_death_notice(board, &plan, 2, 1) == NOTICE_IS_DUE &&
              progress_death_notice(board, &plan, 2, 3) == NOTICE_IS_WITHHELD &&
              !progress_withholds(board, &plan, 1),
          "the step is done: it is told");
    progress_give_notice(board, &plan, 3, RELEASED_BY_UNSTICK);
    check(progress_death_notice(board, &plan, 2, 3) == NOTICE_IS_DUE &&
              progress_released(board, &plan, 1) == RELEASED_BY_UNSTICK,
          "it is let go: it is told, and why is kept");
    PLAN("detect victims=0 choice=1 event=send");
    memset(&board->progress[0], 0, sizeof board->progress[0]);
    progress_quiet(board, RELEASED_BY_QUIET);
    check(progress_death_notice(board, &plan, 0, 1) == NOTICE_IS_DUE, "the faults have stopped");
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/board", folder);
    test_create();
    test_newcomers();
    test_spawned();
    test_foreign();
    test_requests();
    test_wake();
    on_a_board(test_forest);
    on_a_board(test_released);
    on_a_board(test_reasons);
    on_a_board(test_quiet);
    on_a_board(test_over);
    on_a_board(test_states);
    on_a_board(test_store_turns);
    on_a_board(test_together);
    on_a_board(test_telling);
    plan_release(&plan);
    rmdir(folder);
    return done();
}
