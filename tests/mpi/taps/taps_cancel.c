/* Receives that are cancelled by one thread while another tests them: none is ever delivered. */
#include <mpi.h>

#include <pthread.h>
#include <stdatomic.h>

#include "mpi/expect.h"

#define RECEIVES 300

static MPI_Request request;
static _Atomic int posted, completed; /* count */

static void *test(void *unused)
{
    for (int i = 1; i <= RECEIVES; i++) {
        MPI_Status status;
        int flag = 0, cancelled = 0;
        while (atomic_load(&posted) < i)
            ;
        while (!flag)
            MPI_Test(&request, &flag, &status);
        MPI_Test_cancelled(&status, &cancelled);
        expect(cancelled);
        atomic_store(&completed, i);
    }
    return unused;
}

int main(int argc, char **argv)
{
    pthread_t thread;
    int provided, rank, data = 0;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    if (provided < MPI_THREAD_MULTIPLE)
        printf("skipped: no MPI_THREAD_MULTIPLE\n");
    else if (rank == 0 && pthread_create(&thread, NULL, test, NULL) == 0) {
        for (int i = 1; i <= RECEIVES; i++) {
            MPI_Irecv(&data, 1, MPI_INT, MPI_ANY_SOURCE, 5, MPI_COMM_WORLD, &request);
            MPI_Request copy = request;
            atomic_store(&posted, i);
            MPI_Cancel(&copy);
            while (atomic_load(&completed) < i)
                ;
        }
        pthread_join(thread, NULL);
    }
    MPI_Finalize();
    return expect_end("cancel", rank);
}
