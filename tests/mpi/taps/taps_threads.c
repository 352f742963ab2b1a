/* MPI_THREAD_MULTIPLE: several threads of each rank send and receive at once, blocking and not. For
 * 2 ranks. Prints "skipped" if the library has no threads. */
#include <mpi.h>

#include <pthread.h>
#include <stdint.h>

#include "mpi/expect.h"

#define THREADS 4
#define ROUNDS 300

static int rank, other;

static void *work(void *argument)
{
    int thread = (int)(intptr_t)argument;
    for (int i = 0; i < ROUNDS; i++) {
        int out = rank * 1000000 + thread * 10000 + i, in = -1;
        MPI_Request requests[2];
        MPI_Irecv(&in, 1, MPI_INT, other, thread, MPI_COMM_WORLD, &requests[0]);
        if (i % 2)
            MPI_Isend(&out, 1, MPI_INT, other, thread, MPI_COMM_WORLD, &requests[1]);
        else
            MPI_Send(&out, 1, MPI_INT, other, thread, MPI_COMM_WORLD);
        MPI_Waitall(1 + i % 2, requests, MPI_STATUSES_IGNORE);
        expect(in == other * 1000000 + thread * 10000 + i);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t threads[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    other = 1 - rank;
    if (provided < MPI_THREAD_MULTIPLE) {
        printf("skipped\n");
        MPI_Finalize();
        return 0;
    }
    for (intptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, (void *)i);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    MPI_Finalize();
    return expect_end("threads", rank);
}
