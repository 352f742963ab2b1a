/* The board: made, mapped, refused when it is something else; kill requests between processes. */
#include "board/board.h"
#include "tap.h"

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
    check(board_create(path, 0, 1e9, &board, &error) == ERROR_LIMIT && board == NULL &&
              strstr(error.text, "1 to 1024") != NULL,
          "a board for no rank is refused: %s", error.text);
    check(board_create(path, BOARD_MAX_RANKS + 1, 1e9, &board, &error) == ERROR_LIMIT,
          "and for too many: %s", error.text);
    check(board_create(path, 3, 2.5e9, &board, &error) == OK, "a board is created");
    check(board_create(path, 3, 2.5e9, &other, &error) == ERROR_IO && other == NULL,
          "an existing one is not touched: %s", error.text);
    check(board_map(path, &other, &error) == OK && other->ranks == 3 &&
              other->ticks_per_second == 2.5e9,
          "it is mapped a second time");
    atomic_store(&board->slot[2].line, 9);
    check(atomic_load(&other->slot[2].line) == 9, "both see the same memory");
    atomic_store(&board->step, 4);
    atomic_store(&board->count[4], 7);
    board_begin_incarnation(board, 1);
    check(atomic_load(&other->slot[2].line) == 0 && atomic_load(&other->incarnation) == 1,
          "a new incarnation starts with empty slots");
    check(atomic_load(&other->step) == 4 && atomic_load(&other->count[4]) == 7,
          "but goes on in the plan");
    board_unmap(board);
    board_unmap(other);
    board_unmap(NULL);
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

/* The child waits for a request as a parent of a rank does. */
static void test_kill_request(void)
{
    struct board *board;
    int status;
    board_create(path, 2, 1e9, &board, NULL);
    check(board_await_kill_request(board, 1, 1) == 0, "no request: the wait ends by itself");
    pid_t child = fork();
    if (child == 0)
        _exit((int)board_await_kill_request(board, 1, 20000));
    board_request_kill(board, 1, 4);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "a request reaches another process");
    check(board_await_kill_request(board, 0, 0) == 0, "and only the rank it is for");
    board_request_kill(board, 2, 0);
    board_request_kill(board, -1, 0);
    check(board_await_kill_request(board, 2, 0) == 0, "ranks that do not exist are ignored");
    board_unmap(board);
    unlink(path);
}

/* A waiter that sleeps already is woken, long before its time is over. */
static void test_wake(void)
{
    struct board *board;
    int status;
    board_create(path, 2, 1e9, &board, NULL);
    pid_t child = fork();
    if (child == 0)
        _exit((int)board_await_kill_request(board, 0, 600000));
    usleep(50000);
    board_request_kill(board, 0, 2);
    waitpid(child, &status, 0);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 3, "a sleeping parent is woken");
    board_unmap(board);
    unlink(path);
}

int main(void)
{
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/board", folder);
    test_create();
    test_foreign();
    test_kill_request();
    test_wake();
    rmdir(folder);
    return done();
}
