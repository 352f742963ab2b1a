/* Point-to-point in all its forms between neighbours of a ring, in MPI_COMM_WORLD and backwards;
 * each rank checks what it gets. Nothing is left unreceived. For 2 ranks or more. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "mpi/expect.h"

#define WORDS 100
#define LARGE (1 << 16)

static int rank, size, next, before;
static MPI_Comm world;

static void fill(int *data, int count, int from, int what)
{
    for (int i = 0; i < count; i++)
        data[i] = from * 1000003 + what * 1009 + i;
}

static int good(const int *data, int count, int from, int what)
{
    for (int i = 0; i < count; i++)
        if (data[i] != from * 1000003 + what * 1009 + i)
            return 0;
    return 1;
}

/* Every blocking mode, against a receive posted before it. */
static void modes(void)
{
    static char attached[WORDS * sizeof(int) + MPI_BSEND_OVERHEAD];
    int out[WORDS], in[WORDS], count;
    MPI_Status status;
    MPI_Request request;
    for (int mode = 0; mode < 4; mode++) {
        fill(out, WORDS, rank, mode);
        memset(in, 0, sizeof in);
        MPI_Irecv(in, WORDS, MPI_INT, before, mode, world, &request);
        MPI_Barrier(world);
        if (mode == 0)
            MPI_Send(out, WORDS, MPI_INT, next, mode, world);
        else if (mode == 1)
            MPI_Ssend(out, WORDS, MPI_INT, next, mode, world);
        else if (mode == 2)
            MPI_Rsend(out, WORDS, MPI_INT, next, mode, world);
        else {
            int bytes = sizeof attached;
            void *detached;
            MPI_Buffer_attach(attached, bytes);
            MPI_Bsend(out, WORDS, MPI_INT, next, mode, world);
            MPI_Buffer_detach(&detached, &bytes);
        }
        MPI_Wait(&request, &status);
        MPI_Get_count(&status, MPI_INT, &count);
        expect(count == WORDS && status.MPI_SOURCE == before && status.MPI_TAG == mode);
        expect(good(in, WORDS, before, mode));
    }
}

/* The same with large counts (_c), a large message, and none at all. */
static void sizes(void)
{
    int *out = malloc(LARGE * sizeof *out), *in = calloc(LARGE, sizeof *in);
    MPI_Request request;
    MPI_Status status;
    MPI_Count count;
    fill(out, LARGE, rank, 9);
    MPI_Irecv_c(in, LARGE, MPI_INT, before, 9, world, &request);
    MPI_Send_c(out, LARGE, MPI_INT, next, 9, world);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    expect(count == LARGE && good(in, LARGE, before, 9));
    MPI_Irecv(NULL, 0, MPI_INT, before, 10, world, &request);
    MPI_Send(NULL, 0, MPI_INT, next, 10, world);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* a shorter message than there is room for */
    MPI_Irecv(in, LARGE, MPI_INT, before, 11, world, &request);
    MPI_Send(out, 3, MPI_INT, next, 11, world);
    MPI_Wait(&request, &status);
    MPI_Get_count_c(&status, MPI_INT, &count);
    expect(count == 3);
    free(out);
    free(in);
}

/* Wildcards and MPI_STATUS_IGNORE; every other rank sends to rank 0. */
static void wildcards(void)
{
    int value = rank * 7, sum = 0;
    if (rank != 0) {
        MPI_Send(&value, 1, MPI_INT, 0, 20 + rank, world);
        MPI_Send(&value, 1, MPI_INT, 0, 20 + rank, world);
        return;
    }
    for (int i = 1; i < size; i++) {
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, MPI_STATUS_IGNORE);
        sum += value;
    }
    for (int i = 1; i < size; i++) {
        MPI_Status status;
        MPI_Recv(&value, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, world, &status);
        expect(status.MPI_TAG == 20 + status.MPI_SOURCE && value == status.MPI_SOURCE * 7);
        sum += value;
    }
    expect(sum == 7 * size * (size - 1));
}

static void nowhere(void)
{
    int value = 5;
    MPI_Status status;
    MPI_Request request;
    MPI_Send(&value, 1, MPI_INT, MPI_PROC_NULL, 1, world);
    MPI_Recv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, world, &status);
    expect(value == 5 && status.MPI_SOURCE == MPI_PROC_NULL && status.MPI_TAG == MPI_ANY_TAG);
    MPI_Isend(&value, 1, MPI_INT, MPI_PROC_NULL, 1, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&value, 1, MPI_INT, MPI_PROC_NULL, 1, &value, 1, MPI_INT, MPI_PROC_NULL, 1, world,
                 MPI_STATUS_IGNORE);
    MPI_Probe(MPI_PROC_NULL, 3, world, &status);
    expect(status.MPI_SOURCE == MPI_PROC_NULL);
    MPI_Message message;
    MPI_Mprobe(MPI_PROC_NULL, 3, world, &message, MPI_STATUS_IGNORE);
    MPI_Imrecv(&value, 1, MPI_INT, &message, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    /* MPI_Waitall of MPICH does not say MPI_PROC_NULL in these statuses. */
    int out = rank, in;
    MPI_Status old[2];
    MPI_Request both[2];
    MPI_Sendrecv(&out, 1, MPI_INT, rank, 4, &in, 1, MPI_INT, rank, 4, world, &old[0]);
    old[1] = old[0];
    for (int i = 0; i < 2; i++)
        MPI_Irecv(&value, 1, MPI_INT, MPI_PROC_NULL, 4, world, &both[i]);
    MPI_Waitall(2, both, old);
}

static void exchanges(void)
{
    int out[WORDS], in[WORDS];
    MPI_Status status;
    MPI_Request request;
    fill(out, WORDS, rank, 30);
    MPI_Sendrecv(out, WORDS, MPI_INT, next, 30, in, WORDS, MPI_INT, before, 30, world, &status);
    expect(good(in, WORDS, before, 30) && status.MPI_SOURCE == before);
    fill(in, WORDS, rank, 31);
    MPI_Sendrecv_replace(in, WORDS, MPI_INT, next, 31, before, 31, world, MPI_STATUS_IGNORE);
    expect(good(in, WORDS, before, 31));
    fill(out, WORDS, rank, 32);
    MPI_Isendrecv(out, WORDS, MPI_INT, next, 32, in, WORDS, MPI_INT, before, 32, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(good(in, WORDS, before, 32));
    fill(in, WORDS, rank, 33);
    MPI_Isendrecv_replace(in, WORDS, MPI_INT, next, 33, before, 33, world, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(good(in, WORDS, before, 33));
    fill(in, WORDS, rank, 34);
    MPI_Sendrecv_replace_c(in, WORDS, MPI_INT, next, 34, before, 34, world, MPI_STATUS_IGNORE);
    expect(good(in, WORDS, before, 34));
}

static void probes(void)
{
    int out[WORDS], in[WORDS], flag = 0, count;
    MPI_Status status;
    MPI_Message message;
    MPI_Request request;
    for (int i = 0; i < 5; i++) {
        fill(out, WORDS, rank, 40 + i);
        MPI_Isend(out, WORDS - i, MPI_INT, next, 40 + i, world, &request);
        if (i == 0)
            MPI_Probe(MPI_ANY_SOURCE, 40, world, &status);
        for (flag = 0; i == 1 && !flag;)
            MPI_Iprobe(before, MPI_ANY_TAG, world, &flag, &status);
        if (i <= 1) {
            MPI_Get_count(&status, MPI_INT, &count);
            expect(count == WORDS - i && status.MPI_TAG == 40 + i);
            MPI_Recv(in, count, MPI_INT, status.MPI_SOURCE, status.MPI_TAG, world,
                     MPI_STATUS_IGNORE);
        }
        if (i == 2 || i == 3)
            MPI_Mprobe(before, 40 + i, world, &message, MPI_STATUS_IGNORE);
        for (flag = 0; i == 4 && !flag;)
            MPI_Improbe(MPI_ANY_SOURCE, 44, world, &flag, &message, &status);
        if (i == 2)
            MPI_Mrecv(in, WORDS, MPI_INT, &message, &status);
        if (i == 3 || i == 4) {
            MPI_Request receive;
            MPI_Imrecv(in, WORDS, MPI_INT, &message, &receive);
            MPI_Wait(&receive, &status);
        }
        expect(good(in, WORDS - i, before, 40 + i) && status.MPI_SOURCE == before);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Barrier(world);
    }
    MPI_Mprobe(MPI_PROC_NULL, 1, world, &message, MPI_STATUS_IGNORE);
    expect(message == MPI_MESSAGE_NO_PROC);
    MPI_Mrecv(in, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
}

/* The two ends describe the same bytes differently; types are freed while requests are under way.
 */
static void types(void)
{
    int out[2 * WORDS], in[2 * WORDS];
    MPI_Datatype every_other, block;
    MPI_Request request[2];
    fill(out, 2 * WORDS, rank, 50);
    memset(in, 0, sizeof in);
    MPI_Type_vector(WORDS, 1, 2, MPI_INT, &every_other);
    MPI_Type_commit(&every_other);
    MPI_Type_contiguous(WORDS, MPI_INT, &block);
    MPI_Type_commit(&block);
    MPI_Irecv(in, 1, block, before, 50, world, &request[0]);
    MPI_Irecv(in + WORDS, WORDS, MPI_INT, before, 50, world, &request[1]);
    MPI_Type_free(&block);
    MPI_Send(out, 1, every_other, next, 50, world);
    MPI_Send(out + 1, 1, every_other, next, 50, world);
    MPI_Waitall(2, request, MPI_STATUSES_IGNORE);
    fill(out, 2 * WORDS, before, 50);
    for (int i = 0; i < WORDS; i++)
        expect(in[i] == out[2 * i] && in[WORDS + i] == out[2 * i + 1]);
    MPI_Irecv(in, 1, every_other, before, 51, world, &request[0]);
    MPI_Type_free(&every_other);
    MPI_Send(out, WORDS, MPI_INT, next, 51, world);
    MPI_Wait(&request[0], MPI_STATUS_IGNORE);
}

static void all(MPI_Comm comm)
{
    world = comm;
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    next = (rank + 1) % size;
    before = (rank + size - 1) % size;
    modes();
    sizes();
    wildcards();
    MPI_Barrier(world);
    nowhere();
    exchanges();
    probes();
    types();
}

int main(int argc, char **argv)
{
    MPI_Comm backwards; /* ranks have other numbers there */
    MPI_Init(&argc, &argv);
    all(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &backwards);
    all(backwards);
    MPI_Comm_free(&backwards);
    MPI_Finalize();
    return expect_end("messages", rank);
}
