/* What differs from engine to engine, from schedule to schedule, or from run to run, for the tests
 * of the verbs. The first argument says what:
 *
 *     alone     rank 0 fails where the step engine runs it, and nowhere else
 *     race      rank 0 fails where it hears rank 2 before rank 1
 *     root      all wait for ever where the root of a broadcast waits until all have come to it
 *     early     rank 0 changes what it sends before the send is complete, and rank 1 tells
 *               whether it has got what was there in the beginning; and where a receive does not
 *               write to its buffer when it begins
 *     random    rank 0 tells the others numbers from all sources of random numbers, and they print
 *               those that they have drawn as well
 *     process   rank 0 tells the others its process number
 *     often     rank 1 asks as often as its process number says, while the others wait for it in
 *               MPI_Finalize */
#include "faultline.h"

#include <fcntl.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#define SOURCES 5
#define MUCH 100000 /* numbers, more than what an MPI library buffers */

static void fail_on_engine(int rank)
{
    if (rank == 0 && getenv("FAULTLINE_ENGINE") != NULL)
        exit(1);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void race(int rank, int size)
{
    int first = 0, number = rank;
    if (rank > 0)
        MPI_Send(&number, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    for (int i = 1; rank == 0 && i < size; i++) {
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        first = i == 1 ? number : first;
    }
    if (first == 2)
        exit(1);
}

static void root(int rank, int size)
{
    static int much[MUCH];
    if (rank > 0)
        MPI_Recv(much, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Bcast(much, MUCH, MPI_INT, 0, MPI_COMM_WORLD);
    for (int to = 1; rank == 0 && to < size; to++)
        MPI_Send(much, 1, MPI_INT, to, 2, MPI_COMM_WORLD);
}

static void change_early(int rank)
{
    static int much[MUCH];
    MPI_Request send;
    int done;
    if (rank == 0) {
        MPI_Isend(much, MUCH, MPI_INT, 1, 3, MPI_COMM_WORLD, &send);
        much[0] = 1;
        MPI_Test(&send, &done, MPI_STATUS_IGNORE);
        MPI_Send(&rank, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
        MPI_Wait(&send, MPI_STATUS_IGNORE);
        MPI_Send(&(int){7}, 1, MPI_INT, 1, 5, MPI_COMM_WORLD);
        MPI_Send(&(int){8}, 1, MPI_INT, 1, 6, MPI_COMM_WORLD);
    } else if (rank == 1) {
        MPI_Recv(&rank, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Recv(much, MUCH, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        printf("%s\n", much[0] == 0 ? "as it was" : "as it is");
        MPI_Recv(&rank, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Irecv(&rank, 1, MPI_INT, 0, 5, MPI_COMM_WORLD, &send);
        if (rank != 7)
            printf("not written at once\n");
        MPI_Wait(&send, MPI_STATUS_IGNORE);
    }
}

static uint64_t from_file(void)
{
    uint64_t number = 0;
    int file = open("/dev/urandom", O_RDONLY);
    if (file < 0 || read(file, &number, sizeof number) != sizeof number)
        exit(2);
    close(file);
    return number;
}

static void draw(uint64_t number[SOURCES])
{
    if (getrandom(&number[0], sizeof number[0], 0) != sizeof number[0] ||
        getentropy(&number[1], sizeof number[1]) != 0)
        exit(2);
    srand((unsigned)time(NULL));
    number[2] = (uint64_t)rand();
    number[3] = arc4random();
    arc4random_buf(&number[4], sizeof number[4]);
    if (getenv("DRAW_FROM_FILE") != NULL)
        number[4] = from_file();
}

static void print(int rank, const uint64_t *number, int count)
{
    for (int i = 0; i < count; i++)
        printf("rank %d: %016llx\n", rank, (unsigned long long)number[i]);
}

static void tell(int rank, uint64_t *number, int count)
{
    MPI_Bcast(number, count, MPI_UINT64_T, 0, MPI_COMM_WORLD);
    print(rank, number, count);
}

static void ask_often(int rank)
{
    int flag;
    for (int left = 100 + getpid() % 1000; rank == 1 && left > 0; left--)
        MPI_Iprobe(0, 1, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
}

int main(int argc, char **argv)
{
    int rank, size;
    uint64_t number[SOURCES];
    const char *what = argc > 1 ? argv[1] : "";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Barrier(MPI_COMM_WORLD);
    if (strcmp(what, "alone") == 0) {
        fail_on_engine(rank);
    } else if (strcmp(what, "race") == 0) {
        race(rank, size);
    } else if (strcmp(what, "root") == 0) {
        root(rank, size);
    } else if (strcmp(what, "early") == 0) {
        change_early(rank);
    } else if (strcmp(what, "random") == 0) {
        draw(number);
        if (rank > 0)
            print(rank, number, SOURCES);
        tell(rank, number, SOURCES);
    } else if (strcmp(what, "often") == 0) {
        ask_often(rank);
    } else {
        number[0] = (uint64_t)getpid();
        tell(rank, number, 1);
    }
    MPI_Finalize();
    return 0;
}
