/* Two threads of each rank make a communicator of the same members at once, told apart only by the
 * tag, and use it: what one sends must not be taken for the other's. */
#include <mpi.h>
#include <pthread.h>
#include <stdint.h>

#define THREADS 2
#define ROUNDS 20

static int rank;

static void *make_and_use(void *argument)
{
    int number = (int)(intptr_t)argument;
    MPI_Group world;
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    for (int round = 0; round < ROUNDS; round++) {
        MPI_Comm made;
        int sent = 100 * number + round, got = -1;
        MPI_Comm_create_group(MPI_COMM_WORLD, world, number, &made);
        MPI_Sendrecv(&sent, 1, MPI_INT, 1 - rank, 0, &got, 1, MPI_INT, 1 - rank, 0, made,
                     MPI_STATUS_IGNORE);
        if (got != sent)
            MPI_Abort(MPI_COMM_WORLD, 1);
        MPI_Comm_free(&made);
    }
    MPI_Group_free(&world);
    return NULL;
}

int main(int argc, char **argv)
{
    int provided;
    pthread_t thread[THREADS];
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, make_and_use, (void *)(intptr_t)(i + 1));
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
    MPI_Finalize();
    return provided == MPI_THREAD_MULTIPLE ? 0 : 1;
}
