/* Requests to their end in every way: Wait and Test in all forms, persistent, cancelled, freed, in
 * numbers; handles that are used again at once. For 2 ranks. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "mpi/expect.h"

#define MANY 100 /* more than the taps keep on the stack */

static int rank, other;
static MPI_Comm world = MPI_COMM_WORLD;

/* Posts `count` receives and sends of one int each; requests[0..count) receive. */
static void post(int count, int *in, int *out, MPI_Request *requests, int tag)
{
    for (int i = 0; i < count; i++) {
        in[i] = -1;
        MPI_Irecv(&in[i], 1, MPI_INT, other, tag, world, &requests[i]);
    }
    for (int i = 0; i < count; i++) {
        out[i] = rank * 1000 + tag * 100000 + i;
        MPI_Isend(&out[i], 1, MPI_INT, other, tag, world, &requests[count + i]);
    }
}

static void arrived(int count, const int *in, int tag)
{
    for (int i = 0; i < count; i++)
        expect(in[i] == other * 1000 + tag * 100000 + i);
}

static void all(int count, int with_statuses)
{
    int in[MANY], out[MANY], flag = 0, tag = 1 + with_statuses;
    MPI_Request requests[2 * MANY];
    MPI_Status statuses[2 * MANY];
    MPI_Status *given = with_statuses ? statuses : MPI_STATUSES_IGNORE;
    post(count, in, out, requests, tag);
    MPI_Waitall(2 * count, requests, given);
    arrived(count, in, tag);
    expect(requests[0] == MPI_REQUEST_NULL && requests[2 * count - 1] == MPI_REQUEST_NULL);
    expect(!with_statuses || statuses[0].MPI_SOURCE == other);
    post(count, in, out, requests, tag + 2);
    while (!flag)
        MPI_Testall(2 * count, requests, &flag, given);
    arrived(count, in, tag + 2);
}

static void any_and_some(int count)
{
    int in[MANY], out[MANY], index, flag, done, indices[2 * MANY];
    MPI_Request requests[2 * MANY];
    MPI_Status status, statuses[2 * MANY];
    post(count, in, out, requests, 10);
    for (int i = 0; i < 2 * count; i++) {
        MPI_Waitany(2 * count, requests, &index, &status);
        expect(index >= 0 && requests[index] == MPI_REQUEST_NULL);
        expect(index >= count || status.MPI_SOURCE == other);
    }
    MPI_Waitany(2 * count, requests, &index, MPI_STATUS_IGNORE);
    expect(index == MPI_UNDEFINED);
    arrived(count, in, 10);
    post(count, in, out, requests, 11);
    for (int i = 0; i < 2 * count; i += flag)
        MPI_Testany(2 * count, requests, &index, &flag, MPI_STATUS_IGNORE);
    arrived(count, in, 11);
    post(count, in, out, requests, 12);
    for (int i = 0; i < 2 * count; i += done)
        MPI_Waitsome(2 * count, requests, &done, indices, statuses);
    arrived(count, in, 12);
    post(count, in, out, requests, 13);
    for (int i = 0; i < 2 * count; i += done)
        MPI_Testsome(2 * count, requests, &done, indices, MPI_STATUSES_IGNORE);
    MPI_Waitsome(2 * count, requests, &done, indices, MPI_STATUSES_IGNORE);
    expect(done == MPI_UNDEFINED);
    arrived(count, in, 13);
}

static void one_at_a_time(void)
{
    int in = -1, out = rank, flag = 0;
    MPI_Request requests[2];
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &requests[0]);
    MPI_Test(&requests[0], &flag, &status); /* most likely not yet */
    MPI_Issend(&out, 1, MPI_INT, other, 20, world, &requests[1]);
    while (!flag)
        MPI_Test(&requests[0], &flag, &status);
    expect(in == other && status.MPI_SOURCE == other && status.MPI_TAG == 20);
    MPI_Request_get_status(requests[1], &flag, &status);
    MPI_Wait(&requests[1], &status);
    MPI_Wait(&requests[1], MPI_STATUS_IGNORE); /* null: returns at once */
    MPI_Test(&requests[1], &flag, MPI_STATUS_IGNORE);
    expect(flag);
}

/* Many rounds: the library uses few handles over and over. */
static void rounds(void)
{
    for (int i = 0; i < 2000; i++) {
        int in, out = i + rank;
        MPI_Request requests[2];
        MPI_Isend(&out, 1, MPI_INT, other, 30, world, &requests[0]);
        MPI_Irecv(&in, 1, MPI_INT, other, 30, world, &requests[1]);
        MPI_Wait(&requests[1], MPI_STATUS_IGNORE);
        MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
        expect(in == i + other);
    }
}

static void persistent(void)
{
    int in[2], out[2], flag;
    MPI_Request requests[4];
    MPI_Datatype pair;
    MPI_Type_contiguous(1, MPI_INT, &pair);
    MPI_Type_commit(&pair);
    MPI_Recv_init(&in[0], 1, pair, other, 40, world, &requests[0]);
    MPI_Recv_init(&in[1], 1, MPI_INT, MPI_ANY_SOURCE, 41, world, &requests[1]);
    MPI_Send_init(&out[0], 1, pair, other, 40, world, &requests[2]);
    MPI_Ssend_init(&out[1], 1, MPI_INT, other, 41, world, &requests[3]);
    MPI_Type_free(&pair);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE); /* inactive: returns at once */
    for (int i = 0; i < 5; i++) {
        out[0] = 100 * i + rank;
        out[1] = -out[0];
        if (i % 2 == 0) {
            MPI_Startall(4, requests);
            MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
        } else {
            for (int k = 0; k < 4; k++)
                MPI_Start(&requests[k]);
            for (int k = 0; k < 4; k++)
                for (flag = 0; !flag;)
                    MPI_Test(&requests[k], &flag, MPI_STATUS_IGNORE);
        }
        expect(in[0] == 100 * i + other && in[1] == -in[0]);
    }
    for (int k = 0; k < 4; k++)
        MPI_Request_free(&requests[k]);
}

static void cancelled_and_freed(void)
{
    int in = -1, out = 7, cancelled = 0;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&in, 1, MPI_INT, other, 50, world, &request); /* never sent */
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    expect(cancelled && in == -1);
    MPI_Isend(&out, 1, MPI_INT, other, 51, world, &request);
    MPI_Request_free(&request);
    expect(request == MPI_REQUEST_NULL);
    MPI_Recv(&in, 1, MPI_INT, other, 51, world, MPI_STATUS_IGNORE);
    expect(in == 7);
    MPI_Barrier(world);
}

static int truncated(int code)
{
    int class;
    MPI_Error_class(code, &class);
    return class == MPI_ERR_TRUNCATE;
}

/* A message too long for its receive is an error that is handed through, alone or among others. */
static void too_long(void)
{
    int out[4] = {1, 2, 3, 4}, in[4];
    MPI_Request requests[3];
    MPI_Status statuses[3];
    MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
    MPI_Irecv(in, 2, MPI_INT, other, 60, world, &requests[0]);
    MPI_Barrier(world);
    MPI_Send(out, 4, MPI_INT, other, 60, world);
    expect(truncated(MPI_Wait(&requests[0], MPI_STATUS_IGNORE)));
    MPI_Irecv(in, 2, MPI_INT, other, 61, world, &requests[0]);
    MPI_Irecv(in + 2, 2, MPI_INT, other, 62, world, &requests[1]);
    MPI_Barrier(world);
    MPI_Isend(out, 2, MPI_INT, other, 62, world, &requests[2]);
    MPI_Send(out, 4, MPI_INT, other, 61, world);
    int code = MPI_Waitall(3, requests, statuses), class;
    MPI_Error_class(code, &class);
    expect(class == MPI_ERR_IN_STATUS && truncated(statuses[0].MPI_ERROR));
    for (int i = 1; i < 3; i++) { /* the others may be done or still pending */
        MPI_Error_class(statuses[i].MPI_ERROR, &class);
        expect(class == MPI_SUCCESS || class == MPI_ERR_PENDING);
        MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    }
    expect(in[2] == 1 && in[3] == 2);
    expect(MPI_Send(out, 1, MPI_INT, 99, 1, world) != MPI_SUCCESS);
    expect(MPI_Recv(in, 1, MPI_INT, 99, 1, world, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    expect(MPI_Send(out, 1, MPI_INT, other, 1, MPI_COMM_NULL) != MPI_SUCCESS);
    expect(MPI_Send(out, 1, MPI_DATATYPE_NULL, other, 1, world) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(world, MPI_ERRORS_ARE_FATAL);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    other = 1 - rank;
    all(3, 0);
    all(MANY, 1);
    any_and_some(3);
    any_and_some(MANY);
    one_at_a_time();
    rounds();
    persistent();
    cancelled_and_freed();
    too_long();
    MPI_Finalize();
    return expect_end("requests", rank);
}
