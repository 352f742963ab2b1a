/* What an open receive takes is decided before the program knows: three ranks, one recovery line,
 * and a stop-log line that runs through the middle of one of these:
 *   long       a wildcard receive has a long message under way, one after it is given a short one
 *   probe      a probe has found a message, its receive is still to come
 *   cancel     a receive is cancelled, the program has not waited for it
 *   cancelled  the same across the checkpoint
 * Executed again, messages come in another order. Prints "all as it should be", or hangs. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORLD MPI_COMM_WORLD
#define LONG (1 << 22) /* bytes: more than the library sends before the receiver asks */
#define SHORT_US 1000
#define LONG_US 200000 /* longer than what is ahead of it in another rank takes */
#define SETTLE 50      /* polls until control messages have come through */

enum { LATE = 1, DATA, GO, NEVER, SAID }; /* tags */

static int rank, restored, word;
static MPI_Status status;
static MPI_Request request = MPI_REQUEST_NULL; /* registered */
static int number;                             /* registered: its buffer */

static void tell(int to, int tag)
{
    MPI_Send(&rank, 1, MPI_INT, to, tag, WORLD);
}

static void hear(int from, int tag)
{
    MPI_Recv(&word, 1, MPI_INT, from, tag, WORLD, &status);
}

/* Time passes in one of the incarnations only. */
static void slow(int then)
{
    if (then == restored)
        usleep(LONG_US);
}

static void check(int condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "rank %d: not so: %s\n", rank, what);
    MPI_Abort(WORLD, 1);
}

/* Rank 0 takes in the last late message: all ranks are ready now, and stop. */
static void let_stop(void)
{
    int there;
    hear(1, LATE);
    for (int i = 0; i < SETTLE; i++) {
        usleep(SHORT_US);
        MPI_Iprobe(1, NEVER, WORLD, &there, &status);
    }
}

/* Rank 1: logging ends in here. */
static void stop_between(void)
{
    tell(0, GO);
    hear(0, SAID);
}

static void other_end(void)
{
    hear(1, GO);
    let_stop();
    tell(1, SAID);
}

static void go_long(void)
{
    static char data[LONG];
    MPI_Request first, second;
    int count, after = 0;
    if (rank == 0)
        other_end();
    if (rank == 1) {
        MPI_Irecv(data, LONG, MPI_CHAR, MPI_ANY_SOURCE, DATA, WORLD, &first);
        MPI_Irecv(&after, 1, MPI_INT, MPI_ANY_SOURCE, DATA, WORLD, &second);
        tell(2, GO);
        MPI_Wait(&second, &status);
        stop_between();
        MPI_Wait(&first, &status);
        MPI_Get_count(&status, MPI_CHAR, &count);
        check(count == LONG && after == 2, "the first receive has the long message");
    }
    if (rank == 2) {
        hear(1, GO);
        MPI_Isend(data, LONG, MPI_CHAR, 1, DATA, WORLD, &first);
        tell(1, DATA);
        usleep(LONG_US); /* and does not help the long one along */
        MPI_Wait(&first, &status);
    }
}

static void go_probe(void)
{
    MPI_Status found;
    if (rank == 0) {
        hear(1, GO);
        let_stop();
        tell(1, DATA);
        tell(1, SAID);
    }
    if (rank == 1) {
        MPI_Probe(MPI_ANY_SOURCE, DATA, WORLD, &found);
        stop_between();
        hear(MPI_ANY_SOURCE, DATA);
        check(found.MPI_SOURCE == status.MPI_SOURCE, "what was probed for is received");
        hear(MPI_ANY_SOURCE, DATA);
    }
    if (rank == 2) {
        slow(1);
        tell(1, DATA);
    }
}

static void wait_cancelled(void)
{
    int cancelled;
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    check(cancelled, "what was cancelled is cancelled");
}

static void begin_cancelled(void)
{
    MPI_Irecv(&number, 1, MPI_INT, 2, DATA, WORLD, &request);
    MPI_Cancel(&request);
}

static void go_cancel(void)
{
    if (rank == 0)
        other_end();
    if (rank == 1) {
        slow(1);
        begin_cancelled();
        hear(2, DATA);
        stop_between();
        wait_cancelled();
    }
    if (rank == 2) {
        slow(0);
        tell(1, DATA);
    }
}

static void go_cancelled(void)
{
    if (rank == 0)
        other_end();
    if (rank == 1) {
        slow(1);
        hear(2, DATA);
        stop_between();
        wait_cancelled();
    }
    if (rank == 2)
        tell(1, DATA);
}

static void (*chosen(const char *name))(void)
{
    static const struct {
        const char *name;
        void (*go)(void);
    } all[] = {
        {"long", go_long}, {"probe", go_probe}, {"cancel", go_cancel}, {"cancelled", go_cancelled}};
    for (unsigned i = 0; i < sizeof all / sizeof *all; i++)
        if (name && strcmp(name, all[i].name) == 0)
            return all[i].go;
    fprintf(stderr, "accepted: long, probe, cancel, cancelled\n");
    exit(64);
}

int main(int argc, char **argv)
{
    void (*go)(void) = chosen(argc > 1 ? argv[1] : NULL);
    int step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(WORLD, &rank);
    checkpoint_register("step", &step, sizeof step);
    checkpoint_register("request", &request, sizeof request);
    checkpoint_register("number", &number, sizeof number);
    restored = checkpoint_restore() > 0;
    if (step == 0) {
        if (rank == 1)
            tell(0, LATE);
        if (rank == 1 && go == go_cancelled)
            begin_cancelled();
        step++;
        /* Each rank of a job of one line takes its checkpoint here. */
        if (rank > 0)
            usleep(LONG_US);
        potential_checkpoint();
    }
    go();
    MPI_Barrier(WORLD);
    usleep(LONG_US);
    MPI_Barrier(WORLD); /* by now the line is committed */
    if (rank == 0)
        printf("all as it should be\n");
    MPI_Finalize();
    return 0;
}
