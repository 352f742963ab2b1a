/* A program that is really racy: what it declares depends on which messages its wildcards took, in
 * what order, and on what polls said. Rank 0 hears the others, who send as soon as they like; the
 * last rank polls for its answers. Arguments: messages of each rank. With "break" after them, rank
 * 0 does something else when FAULTLINE_REPLAY is set: a program that changed; with "early" before
 * MPI_Init. With "threads" it asks for MPI_THREAD_MULTIPLE. */
#include "faultline.h"

#include <mpi.h>

#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TAGS 3
#define END 99

static uint64_t mix(uint64_t a, uint64_t b)
{
    uint64_t x = (a ^ b) * UINT64_C(0x9e3779b97f4a7c15);
    return (x ^ (x >> 29)) * UINT64_C(0xbf58476d1ce4e5b9);
}

/* Half of the messages by blocking receives, half by pairs of non-blocking ones. */
static uint64_t hear(int messages)
{
    uint64_t heard = 0;
    int left = messages;
    while (left > 0) {
        MPI_Status status;
        uint64_t data[2];
        if (left % 3 == 0 || left == 1) {
            MPI_Recv(data, 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            heard = mix(heard, data[0] + (uint64_t)status.MPI_SOURCE + (uint64_t)status.MPI_TAG);
            left--;
            continue;
        }
        MPI_Request requests[2];
        for (int i = 0; i < 2; i++)
            MPI_Irecv(&data[i], 1, MPI_UINT64_T, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
                      &requests[i]);
        for (int i = 0; i < 2; i++, left--) {
            int which;
            MPI_Waitany(2, requests, &which, &status);
            heard = mix(heard, data[which] + (uint64_t)which + (uint64_t)status.MPI_TAG);
        }
    }
    return heard;
}

/* Sends, and counts how often it asked in vain for the token that rank 0 gives back at the end. */
static uint64_t talk(int rank, int messages)
{
    uint64_t polls = 0, data;
    int flag = 0;
    MPI_Request request;
    MPI_Irecv(&data, 1, MPI_UINT64_T, 0, END, MPI_COMM_WORLD, &request);
    for (int i = 0; i < messages; i++) {
        data = mix((uint64_t)rank, (uint64_t)i);
        MPI_Send(&data, 1, MPI_UINT64_T, 0, i % TAGS, MPI_COMM_WORLD);
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        polls += !flag;
    }
    while (!flag) {
        MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
        polls += !flag;
    }
    return polls;
}

int main(int argc, char **argv)
{
    int rank, size, messages = argc > 1 ? atoi(argv[1]) : 30, provided;
    uint64_t result;
    if (argc > 2 && strcmp(argv[2], "early") == 0 && getenv("FAULTLINE_REPLAY"))
        MPI_Initialized(&provided);
    MPI_Init_thread(&argc, &argv,
                    argc > 2 && strcmp(argv[2], "threads") == 0 ? MPI_THREAD_MULTIPLE
                                                                : MPI_THREAD_SINGLE,
                    &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (rank == 0) {
        result = hear(messages * (size - 1));
        if (argc > 2 && strcmp(argv[2], "break") == 0 && getenv("FAULTLINE_REPLAY"))
            MPI_Barrier(MPI_COMM_SELF);
        for (int to = 1; to < size; to++)
            MPI_Send(&result, 1, MPI_UINT64_T, to, END, MPI_COMM_WORLD);
    } else {
        result = talk(rank, messages);
    }
    faultline_result("seen", &result, sizeof result);
    MPI_Finalize();
    return 0;
}
