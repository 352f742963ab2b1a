/* Every point-to-point call of MPI, on two ranks or more, checked by its own result: the same with
 * and without a protocol underneath. Only ranks 0 and 1 speak; a rank of a pair knows what the
 * other sends. Prints "all as it should be". */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LONG 300000 /* ints: too long to be copied by a protocol */

static int rank, other, wrong;

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "rank %d, line %d: not so: %s\n", rank, __LINE__, #condition);         \
            wrong++;                                                                               \
        }                                                                                          \
    } while (0)

static int count_of(const MPI_Status *status, MPI_Datatype type)
{
    int count;
    MPI_Get_count(status, type, &count);
    return count;
}

static void check_status(const MPI_Status *status, int tag, int count)
{
    CHECK(status->MPI_SOURCE == other);
    CHECK(status->MPI_TAG == tag);
    CHECK(count_of(status, MPI_INT) == count);
}

/* Both ways, in this mode, at lengths from nothing to long. */
static void exchange(int (*send)(const void *, int, MPI_Datatype, int, int, MPI_Comm))
{
    static const int lengths[] = {0, 1, 7, 255, 256, 257, 5000, LONG};
    int *data = malloc(LONG * sizeof(int));
    for (unsigned i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (int turn = 0; turn < 2; turn++) {
            MPI_Status status;
            for (int k = 0; k < lengths[i]; k++)
                data[k] = turn == rank ? k + (int)i : -1;
            if (turn == rank)
                send(data, lengths[i], MPI_INT, other, (int)i, MPI_COMM_WORLD);
            else {
                MPI_Recv(data, LONG, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
                check_status(&status, (int)i, lengths[i]);
            }
            for (int k = 0; k < lengths[i]; k++)
                if (data[k] != k + (int)i) {
                    CHECK(data[k] == k + (int)i);
                    break;
                }
        }
    free(data);
}

static void check_buffered(void)
{
    static char room[4096 + MPI_BSEND_OVERHEAD], *back;
    int size, data[3] = {1, 2, 3}, got[4];
    MPI_Request requests[2];
    MPI_Buffer_attach(room, sizeof room);
    MPI_Bsend(data, 3, MPI_INT, other, 1, MPI_COMM_WORLD);
    MPI_Ibsend(data, 2, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[0]);
    data[0] = 9;
    MPI_Recv(got, 4, MPI_INT, other, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    CHECK(got[0] == 1);
    MPI_Recv(got, 4, MPI_INT, other, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&requests[0], MPI_STATUS_IGNORE);
    MPI_Buffer_detach(&back, &size);
    CHECK(back == room && size == (int)sizeof room);
}

static void check_no_room(void)
{
    int large[4];
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    CHECK(MPI_Bsend(large, 4, MPI_INT, other, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(large, -1, MPI_INT, other, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    CHECK(MPI_Send(large, 1, MPI_INT, 4711, 1, MPI_COMM_WORLD) != MPI_SUCCESS);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

static void check_truncation(int length)
{
    int class, *data = calloc((size_t)length, sizeof *data);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 0) {
        MPI_Send(data, length, MPI_INT, 1, 3, MPI_COMM_WORLD);
    } else {
        int error = MPI_Recv(data, length - 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Error_class(error, &class);
        CHECK(class == MPI_ERR_TRUNCATE);
    }
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
    MPI_Barrier(MPI_COMM_WORLD);
    free(data);
}

static void check_many(void)
{
    enum { MANY = 20 };
    int sent[MANY], got[MANY], index, flag, done = 0, count, indices[MANY];
    MPI_Request out[MANY], in[MANY];
    MPI_Status statuses[MANY], status;
    for (int round = 0; round < 6; round++) {
        for (int i = 0; i < MANY; i++) {
            sent[i] = 100 * round + i;
            MPI_Irecv(&got[i], 1, MPI_INT, other, i, MPI_COMM_WORLD, &in[i]);
        }
        for (int i = MANY - 1; i >= 0; i--)
            (round % 2 ? MPI_Issend : MPI_Isend)(&sent[i], 1, MPI_INT, other, i, MPI_COMM_WORLD,
                                                 &out[i]);
        for (done = 0; round == 0 && done < MANY; done++) {
            MPI_Waitany(MANY, in, &index, &status);
            check_status(&status, index, 1);
        }
        while (round == 1 && done < MANY) {
            MPI_Waitsome(MANY, in, &count, indices, statuses);
            for (int k = 0; k < count; k++)
                check_status(&statuses[k], indices[k], 1);
            done += count;
        }
        for (flag = 0; round == 2 && !flag;)
            MPI_Testall(MANY, in, &flag, statuses);
        while (round == 3 && done < MANY) {
            MPI_Testany(MANY, in, &index, &flag, &status);
            done += flag;
        }
        while (round == 4 && done < MANY) {
            MPI_Testsome(MANY, in, &count, indices, MPI_STATUSES_IGNORE);
            done += count;
        }
        for (int i = 0; round == 5 && i < MANY; i++) {
            for (flag = 0; !flag;)
                MPI_Request_get_status(in[i], &flag, &status);
            check_status(&status, i, 1);
            for (flag = 0; !flag;)
                MPI_Test(&in[i], &flag, &status);
            check_status(&status, i, 1);
        }
        MPI_Waitall(MANY, in, MPI_STATUSES_IGNORE);
        MPI_Waitall(MANY, out, statuses);
        for (int i = 0; i < MANY; i++)
            CHECK(got[i] == sent[i] && in[i] == MPI_REQUEST_NULL && out[i] == MPI_REQUEST_NULL);
        done = 0;
    }
    MPI_Waitany(MANY, in, &index, &status);
    CHECK(index == MPI_UNDEFINED);
    MPI_Waitsome(MANY, in, &count, indices, statuses);
    CHECK(count == MPI_UNDEFINED);
}

static void check_persistent(void)
{
    int sent[2], got[2];
    MPI_Request requests[4];
    MPI_Status statuses[4];
    MPI_Recv_init(&got[0], 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &requests[0]);
    MPI_Recv_init(&got[1], 1, MPI_INT, other, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
    MPI_Send_init(&sent[0], 1, MPI_INT, other, 1, MPI_COMM_WORLD, &requests[2]);
    MPI_Ssend_init(&sent[1], 1, MPI_INT, other, 2, MPI_COMM_WORLD, &requests[3]);
    for (int round = 0; round < 5; round++) {
        sent[0] = round;
        sent[1] = -round;
        MPI_Start(&requests[0]);
        MPI_Startall(3, requests + 1);
        MPI_Waitall(4, requests, statuses);
        check_status(&statuses[0], 1, 1);
        check_status(&statuses[1], 2, 1);
        CHECK(got[0] == round && got[1] == -round);
        CHECK(requests[0] != MPI_REQUEST_NULL);
    }
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&requests[i]);
    CHECK(requests[0] == MPI_REQUEST_NULL);
}

static void check_probes(int length)
{
    int flag = 0, *data = calloc((size_t)length, sizeof *data);
    MPI_Status status;
    MPI_Message message;
    MPI_Request send[4], receive;
    for (int i = 0; i < 4; i++)
        MPI_Isend(data, length, MPI_INT, other, 10 + i, MPI_COMM_WORLD, &send[i]);
    int *got = malloc((size_t)length * sizeof *got);
    MPI_Probe(other, 10, MPI_COMM_WORLD, &status);
    check_status(&status, 10, length);
    MPI_Recv(got, length, MPI_INT, other, 10, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    while (!flag)
        MPI_Iprobe(MPI_ANY_SOURCE, 11, MPI_COMM_WORLD, &flag, &status);
    check_status(&status, 11, length);
    MPI_Recv(got, length, MPI_INT, other, 11, MPI_COMM_WORLD, &status);
    MPI_Mprobe(other, MPI_ANY_TAG, MPI_COMM_WORLD, &message, &status);
    check_status(&status, 12, length);
    MPI_Mrecv(got, length, MPI_INT, &message, &status);
    CHECK(message == MPI_MESSAGE_NULL);
    check_status(&status, 12, length);
    for (flag = 0; !flag;)
        MPI_Improbe(other, 13, MPI_COMM_WORLD, &flag, &message, &status);
    MPI_Imrecv(got, length, MPI_INT, &message, &receive);
    MPI_Wait(&receive, &status);
    check_status(&status, 13, length);
    MPI_Waitall(4, send, MPI_STATUSES_IGNORE);
    free(got);
    free(data);
}

static void check_nobody(void)
{
    int flag, data = 7;
    MPI_Status status;
    MPI_Request request;
    MPI_Message message;
    MPI_Send(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD);
    MPI_Recv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL && count_of(&status, MPI_INT) == 0 && data == 7);
    MPI_Irecv(&data, 1, MPI_INT, MPI_PROC_NULL, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, &status);
    MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &flag, &status);
    CHECK(flag && status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Mprobe(MPI_PROC_NULL, 0, MPI_COMM_WORLD, &message, &status);
    CHECK(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(&data, 1, MPI_INT, &message, &status);
    CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

static void check_cancel(void)
{
    int data, cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&data, 1, MPI_INT, other, 99, MPI_COMM_WORLD, &request);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    CHECK(cancelled);
}

/* A column of a matrix into one of another shape; addresses; bytes that are no whole elements. */
static void check_types(int rows)
{
    int lengths[2] = {1, 1};
    double *matrix = malloc((size_t)rows * 3 * sizeof *matrix);
    double *copy = calloc((size_t)rows * 2, sizeof *copy);
    MPI_Datatype column, two, here;
    MPI_Status status;
    for (int i = 0; i < rows * 3; i++)
        matrix[i] = i;
    MPI_Type_vector(rows, 1, 3, MPI_DOUBLE, &column);
    MPI_Type_vector(rows, 1, 2, MPI_DOUBLE, &two);
    MPI_Type_commit(&column);
    MPI_Type_commit(&two);
    MPI_Sendrecv(matrix + 1, 1, column, other, 1, copy, 1, two, other, 1, MPI_COMM_WORLD, &status);
    CHECK(count_of(&status, two) == 1 && count_of(&status, MPI_DOUBLE) == rows);
    for (int i = 0; i < rows; i++)
        if (copy[2 * i] != 3 * i + 1 || copy[2 * i + 1] != 0) {
            CHECK(copy[2 * i] == 3 * i + 1 && copy[2 * i + 1] == 0);
            break;
        }
    MPI_Aint places[2];
    MPI_Datatype kinds[2] = {MPI_DOUBLE, column};
    MPI_Get_address(copy, &places[0]);
    MPI_Get_address(matrix + 2, &places[1]);
    MPI_Type_create_struct(2, lengths, places, kinds, &here);
    MPI_Type_commit(&here);
    MPI_Sendrecv_replace(MPI_BOTTOM, 1, here, other, 2, other, 2, MPI_COMM_WORLD, &status);
    CHECK(count_of(&status, here) == 1 && matrix[2] == 2);
    MPI_Request request;
    MPI_Irecv(MPI_BOTTOM, 1, here, other, 3, MPI_COMM_WORLD, &request);
    MPI_Send(MPI_BOTTOM, 1, here, other, 3, MPI_COMM_WORLD);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Send(matrix, 1, MPI_DOUBLE, other, 4, MPI_COMM_WORLD);
    MPI_Recv(copy, 2, two, other, 4, MPI_COMM_WORLD, &status);
    int elements;
    MPI_Get_elements(&status, two, &elements);
    CHECK(elements == 1 && (rows == 1 || count_of(&status, two) == MPI_UNDEFINED));
    CHECK(copy[0] == matrix[0]);
    MPI_Type_free(&here);
    MPI_Type_free(&column);
    MPI_Type_free(&two);
    free(copy);
    free(matrix);
}

static void check_communicators(void)
{
    MPI_Comm pair, twin;
    int data = rank, got = -1, size;
    MPI_Request request;
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &pair);
    MPI_Comm_dup(pair, &twin);
    MPI_Comm_size(twin, &size);
    int reversed = size - 1 - other;
    MPI_Irecv(&got, 1, MPI_INT, reversed, 5, twin, &request);
    MPI_Send(&data, 1, MPI_INT, reversed, 5, twin);
    MPI_Comm_free(&twin);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    CHECK(got == other);
    MPI_Comm_free(&pair);
}

static void sends(void)
{
    exchange(MPI_Send);
}

static void synchronous_sends(void)
{
    exchange(MPI_Ssend);
}

static void truncations(void)
{
    check_truncation(10);
    check_truncation(250);
}

static void short_probes(void)
{
    check_probes(5);
}

static void long_probes(void)
{
    check_probes(LONG);
}

static void types(void)
{
    check_types(1);
    check_types(20);
    check_types(2000);
}

int main(int argc, char **argv)
{
    static void (*const steps[])(void) = {
        sends,         check_buffered, check_many,          synchronous_sends,
        check_no_room, truncations,    check_persistent,    check_many,
        short_probes,  long_probes,    check_nobody,        check_cancel,
        check_many,    types,          check_communicators,
    };
    const unsigned count = sizeof steps / sizeof *steps, rounds = 3;
    unsigned step = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    checkpoint_register("step", &step, sizeof step);
    checkpoint_register("wrong", &wrong, sizeof wrong);
    checkpoint_restore();
    while (step < rounds * count) {
        steps[step % count]();
        step++;
        potential_checkpoint();
    }
    int all;
    MPI_Allreduce(&wrong, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    faultline_result("wrong", &all, sizeof all);
    if (rank == 0 && all == 0)
        printf("all as it should be\n");
    MPI_Finalize();
    return all != 0;
}
