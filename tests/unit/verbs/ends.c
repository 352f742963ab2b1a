/* How an incarnation ended, by how its ranks did (launch/ends.h): what is hard to bring about with
 * a job, for the launcher ends the others when one leaves. */
#include "launch/ends.h"
#include "board/progress.h"
#include "tap.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANKS 2
#define STATUS(code) ((code) << 8) /* of wait(), for exit(code) */

static char text[512];

/* Both have been through MPI_Finalize and exited with 0. */
static void finish_all(struct board *board, struct rank_end ends[RANKS])
{
    for (int rank = 0; rank < RANKS; rank++) {
        atomic_store(&board->slot[rank].pid, 100 + rank);
        atomic_store(&board->slot[rank].world_size, RANKS);
        atomic_store(&board->slot[rank].state, RANK_FINALIZED);
        ends[rank] = (struct rank_end){.rank = rank, .known = true, .finalized = true};
    }
}

static void test_exits(struct board *board)
{
    static const struct plan none;
    struct rank_end ends[RANKS];
    finish_all(board, ends);
    check(ends_classify(board, &none, ends, text, sizeof text) == LAUNCH_FINISHED, "%s", text);
    ends[1].finalized = false;
    check(ends_classify(board, &none, ends, text, sizeof text) == LAUNCH_FAILED &&
              strstr(text, "rank 1 exited with status 0 without MPI_Finalize") != NULL,
          "%s", text);
    ends[1] = (struct rank_end){.rank = 1, .known = true, .wait_status = STATUS(3)};
    check(ends_classify(board, &none, ends, text, sizeof text) == LAUNCH_FAILED &&
              strstr(text, "rank 1 exited with status 3") != NULL,
          "%s", text);
}

static void test_kills(struct board *board)
{
    static struct plan_step kill = {.action = ACTION_KILL, .victims = 1, .victim = {1}};
    const struct plan plan = {.count = 1, .steps = &kill};
    struct rank_end ends[RANKS];
    finish_all(board, ends);
    ends[1] = (struct rank_end){.rank = 1, .known = true, .wait_status = SIGKILL};
    check(ends_classify(board, &plan, ends, text, sizeof text) != LAUNCH_KILLED,
          "a rank that died before its step was done: %s", text);
    progress_finish(board, 0, 1, 0);
    check(ends_classify(board, &plan, ends, text, sizeof text) == LAUNCH_KILLED, "%s", text);
    ends[1].wait_status = SIGSEGV;
    check(ends_classify(board, &plan, ends, text, sizeof text) == LAUNCH_FAILED &&
              strstr(text, "rank 1 was ended by SIGSEGV") != NULL,
          "a victim that died of something else was not killed by the plan: %s", text);
}

int main(void)
{
    char folder[] = "/tmp/faultline-ends-XXXXXX", path[64];
    struct board *board = NULL;
    struct error error;
    if (mkdtemp(folder) == NULL)
        return 1;
    snprintf(path, sizeof path, "%s/board", folder);
    if (!check(board_create(path, RANKS, 1e9, &board, &error) == OK, "a board"))
        return done();
    test_exits(board);
    test_kills(board);
    board_unmap(board);
    unlink(path);
    rmdir(folder);
    return done();
}
