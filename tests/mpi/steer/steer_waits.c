/* What waits for an action of the plan, and what waits for that in turn: steer_waits HOW.
 *   group   2 ranks: rank 1 sends some messages; rank 0 sends to rank 1, and makes a communicator
 *           with it; rank 1 says that it is made (phase "made"), and receives
 *   many    2 ranks: rank 0 begins 600 synchronous sends, and then waits for all of them
 *   refused 2 ranks: rank 0 makes a call that the library refuses, as MPI_COMM_WORLD has no grid;
 *           rank 1 waits for a message that it sends then
 *   behind  3 ranks: rank 0 posts a receive from anyone, then probes with MPI_Mprobe for a message
 *           of anyone; rank 1 sends two, rank 2 one when both are received
 *   after   the same with a second receive that it posts, and waits for first */
#include <faultline.h>
#include <mpi.h>

#include <stdbool.h>
#include <string.h>

#include "mpi/expect.h"

#define MESSAGES 10
#define MANY 600
#define TAG_READY 2

static int rank;
static MPI_Comm world = MPI_COMM_WORLD;

static void make_together(void)
{
    MPI_Group both;
    MPI_Comm made;
    MPI_Comm_group(world, &both);
    MPI_Comm_create_group(world, both, 0, &made);
    MPI_Group_free(&both);
    MPI_Comm_free(&made);
}

static void with_group(void)
{
    int word = 0;
    MPI_Request request;
    for (int i = 0; i < MESSAGES; i++)
        if (rank == 1)
            MPI_Send(&i, 1, MPI_INT, 0, 0, world);
        else
            MPI_Recv(&word, 1, MPI_INT, 1, 0, world, MPI_STATUS_IGNORE);
    if (rank == 0)
        MPI_Isend(&word, 1, MPI_INT, 1, 1, world, &request);
    make_together();
    if (rank == 0) {
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        return;
    }
    faultline_phase("made");
    MPI_Recv(&word, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
    expect(word == MESSAGES - 1);
}

static void with_many(void)
{
    MPI_Request request[MANY];
    int word[MANY];
    for (int i = 0; i < MANY; i++) {
        word[i] = i;
        if (rank == 0)
            MPI_Issend(&word[i], 1, MPI_INT, 1, 0, world, &request[i]);
        else
            MPI_Recv(&word[i], 1, MPI_INT, 0, 0, world, MPI_STATUS_IGNORE);
        expect(word[i] == i);
    }
    if (rank == 0)
        MPI_Waitall(MANY, request, MPI_STATUSES_IGNORE);
}

static void refused(void)
{
    int word = 1, stays = 1, class = MPI_SUCCESS;
    MPI_Comm made;
    if (rank == 1) {
        MPI_Recv(&word, 1, MPI_INT, 0, 1, world, MPI_STATUS_IGNORE);
        return;
    }
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Error_class(MPI_Cart_sub(world, &stays, &made), &class);
    expect(class == MPI_ERR_TOPOLOGY);
    MPI_Send(&word, 1, MPI_INT, 1, 1, world);
}

static void behind(bool by_probe)
{
    int word = 1, more = 2;
    MPI_Request request, other;
    MPI_Message message;
    MPI_Barrier(world);
    if (rank == 1) {
        MPI_Send(&word, 1, MPI_INT, 0, 1, world);
        MPI_Send(&more, 1, MPI_INT, 0, 1, world);
    } else if (rank == 2) {
        MPI_Recv(&word, 1, MPI_INT, 0, TAG_READY, world, MPI_STATUS_IGNORE);
        MPI_Send(&word, 1, MPI_INT, 0, 1, world);
    } else {
        MPI_Irecv(&word, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &request);
        if (by_probe) {
            MPI_Mprobe(MPI_ANY_SOURCE, 1, world, &message, MPI_STATUS_IGNORE);
            MPI_Mrecv(&more, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
        } else {
            MPI_Irecv(&more, 1, MPI_INT, MPI_ANY_SOURCE, 1, world, &other);
            MPI_Wait(&other, MPI_STATUS_IGNORE);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        expect(word == 1 && more == 2);
        MPI_Send(&word, 1, MPI_INT, 2, TAG_READY, world);
        MPI_Recv(&word, 1, MPI_INT, 2, 1, world, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    const char *how = argc < 2 ? "group" : argv[1];
    if (strcmp(how, "group") == 0)
        with_group();
    else if (strcmp(how, "many") == 0)
        with_many();
    else if (strcmp(how, "refused") == 0)
        refused();
    else
        behind(strcmp(how, "behind") == 0);
    MPI_Finalize();
    return expect_end(how, rank);
}
