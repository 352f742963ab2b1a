/* Wildcard receives and probes whose message the scenario chooses: steer_choices CALL FIRST, for 4
 * ranks. Ranks 1, 2 and 3 send two messages each to rank 0, one rank after the other. Rank 0 takes
 * them with MPI_ANY_SOURCE; the first it gets must be that of rank FIRST (0: of whom it likes). Of
 * each rank they come in order. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "mpi/expect.h"

#define SENDERS 3
#define EACH 2

static int rank;
static MPI_Comm world = MPI_COMM_WORLD, turns;
static const char *name;
static int first, taken[SENDERS + 1], all;

static void sender(void)
{
    int turn = 0;
    if (rank > 1 || strcmp(name, "again") == 0)
        MPI_Recv(&turn, 1, MPI_INT, rank - 1, 0, turns, MPI_STATUS_IGNORE);
    for (int i = 0; i < EACH; i++) {
        int data[2] = {rank, i};
        MPI_Send(data, 2, MPI_INT, 0, 10 + i, world);
    }
    if (rank < SENDERS)
        MPI_Send(&turn, 1, MPI_INT, rank + 1, 0, turns);
}

static void took(const int *data, const MPI_Status *status)
{
    int count;
    MPI_Get_count(status, MPI_INT, &count);
    expect(count == 2 && status->MPI_SOURCE == data[0] && status->MPI_TAG == 10 + data[1]);
    expect(data[0] >= 1 && data[0] <= SENDERS && taken[data[0]]++ == data[1]);
    expect(all++ > 0 || first == 0 || data[0] == first);
}

static void with_probe(void)
{
    int data[2], flag = 0;
    MPI_Status status;
    MPI_Message message = MPI_MESSAGE_NULL;
    if (strcmp(name, "probe") == 0)
        MPI_Probe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    while (strcmp(name, "iprobe") == 0 && !flag)
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &status);
    while (strcmp(name, "improbe") == 0 && !flag)
        MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &flag, &message, &status);
    if (strcmp(name, "mprobe") == 0)
        MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, world, &message, &status);
    if (message == MPI_MESSAGE_NULL)
        MPI_Recv(data, 2, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world, &status);
    else
        MPI_Mrecv(data, 2, MPI_INT, &message, &status);
    took(data, &status);
}

/* How the request of a receive is completed makes no difference. */
static void complete(MPI_Request *request, MPI_Status *status, int how)
{
    int flag = 0, index, count;
    if (how == 0)
        MPI_Wait(request, status);
    while (how == 1 && !flag)
        MPI_Test(request, &flag, status);
    if (how == 2)
        MPI_Waitany(1, request, &index, status);
    if (how == 3)
        MPI_Waitsome(1, request, &count, &index, status);
    if (how > 3)
        MPI_Waitall(1, request, status);
    expect(*request == MPI_REQUEST_NULL);
}

static void with_irecv(void)
{
    int data[SENDERS * EACH][2];
    MPI_Request requests[SENDERS * EACH];
    MPI_Status status;
    MPI_Datatype pair;
    MPI_Type_contiguous(2, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    for (int i = 0; i < SENDERS * EACH; i++)
        MPI_Irecv(data[i], 1, pair, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[i]);
    MPI_Type_free(&pair);
    for (int i = 0; i < SENDERS * EACH; i++) {
        complete(&requests[i], &status, i);
        took(data[i], &status);
    }
}

static void with_recv(void)
{
    int data[2], none = 0;
    MPI_Status status;
    if (strcmp(name, "sendrecv") == 0)
        MPI_Sendrecv(&none, 1, MPI_INT, MPI_PROC_NULL, 0, data, 2, MPI_INT, MPI_ANY_SOURCE,
                     MPI_ANY_TAG, world, &status);
    else
        MPI_Recv(data, 2, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
    took(data, &status);
}

/* The receive that waits for its choice is taken back, or forgotten. */
static void with_end(int tag)
{
    int data[2], cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(data, 2, MPI_INT, MPI_ANY_SOURCE, tag, world, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_dup(world, &turns);
    name = argc > 1 ? argv[1] : "recv";
    first = argc > 2 ? atoi(argv[2]) : 0;
    if (rank == 0 && strcmp(name, "irecv") == 0)
        with_irecv();
    if (rank == 0 && strcmp(name, "cancel") == 0)
        with_end(99);
    if (rank == 0 && strcmp(name, "again") == 0) { /* before anybody sends */
        with_end(MPI_ANY_TAG);
        MPI_Send(&rank, 1, MPI_INT, 1, 0, turns);
    }
    if (rank != 0)
        sender();
    while (rank == 0 && all < SENDERS * EACH) {
        if (strstr(name, "probe"))
            with_probe();
        else
            with_recv();
    }
    MPI_Comm_free(&turns);
    MPI_Finalize();
    return expect_end(name, rank);
}
