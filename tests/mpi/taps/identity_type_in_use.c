/* A derived datatype that one thread frees while another is inside a blocking receive that uses it;
 * MPI allows that. */
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

#include "mpi/expect.h"

#define ROUNDS 20

static MPI_Comm own;
static MPI_Datatype type;
static int got[4];
static _Atomic int inside;

static void *receive(void *unused)
{
    atomic_store(&inside, 1);
    MPI_Recv(got, 1, type, 1, 7, own, MPI_STATUS_IGNORE);
    return unused;
}

static void receive_and_free(void)
{
    pthread_t thread;
    MPI_Type_vector(2, 1, 2, MPI_INT, &type);
    MPI_Type_commit(&type);
    atomic_store(&inside, 0);
    if (pthread_create(&thread, NULL, receive, NULL) != 0)
        return;
    while (!atomic_load(&inside))
        ;
    usleep(1000); /* so that it is inside, most of the time; nothing depends on it */
    MPI_Type_free(&type);
    MPI_Send(NULL, 0, MPI_INT, 1, 1, MPI_COMM_WORLD);
    pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
    int provided, rank;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    for (int i = 0; i < ROUNDS && provided == MPI_THREAD_MULTIPLE; i++) {
        int data[2] = {i, -i};
        if (rank == 0)
            receive_and_free();
        if (rank == 1) {
            MPI_Recv(NULL, 0, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Send(data, 2, MPI_INT, 0, 7, own);
        }
        expect(rank != 0 || (got[0] == i && got[2] == -i));
    }
    MPI_Comm_free(&own);
    MPI_Finalize();
    return expect_end("type in use", rank);
}
