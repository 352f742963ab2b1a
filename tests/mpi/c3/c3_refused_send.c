/* After each checkpoint rank 0 makes two calls that the library refuses, a send and one that would
 * make a communicator; it sends to rank 1, and both duplicate MPI_COMM_WORLD. Rank 1 does so ahead
 * of its own checkpoint: in recovery rank 0 does not send again, and gets the communicator as it
 * was before, and the two other calls must be refused again. Two ranks. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>

#define STEPS 20

enum { TAG = 1, TAG_IMPOSSIBLE = -9 };

static struct {
    int step;
    int wrong;
    bool received; /* by rank 1: the first message; from then on a step begins with its answer */
} kept;

static int rank;

static void send_wrongly(void)
{
    int class = MPI_SUCCESS;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int error = MPI_Send(&kept.step, 1, MPI_INT, 1, TAG_IMPOSSIBLE, MPI_COMM_WORLD);
    MPI_Error_class(error, &class);
    kept.wrong += class != MPI_ERR_TAG;
    MPI_Comm made;
    int stays = 1;
    error = MPI_Cart_sub(MPI_COMM_WORLD, &stays, &made);
    MPI_Error_class(error, &class);
    kept.wrong += class != MPI_ERR_TOPOLOGY;
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

/* The other rank sends the step's number. */
static void receive(void)
{
    int got = -1;
    MPI_Recv(&got, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    kept.wrong += got != kept.step;
}

static void send(void)
{
    MPI_Send(&kept.step, 1, MPI_INT, 1 - rank, TAG, MPI_COMM_WORLD);
}

static void duplicate(void)
{
    MPI_Comm made;
    MPI_Comm_dup(MPI_COMM_WORLD, &made);
    MPI_Comm_free(&made);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    checkpoint_register("kept", &kept, sizeof kept);
    checkpoint_restore();
    while (kept.step < STEPS) {
        if (rank == 0) {
            send_wrongly();
            send();
            duplicate();
            receive();
        } else if (kept.received) {
            send();
        }
        kept.step += rank == 0 || kept.received;
        if (rank == 1 && kept.step < STEPS) {
            receive();
            duplicate();
        }
        kept.received = true;
        potential_checkpoint();
    }
    printf("%s\n", kept.wrong ? "something is wrong" : "all as it should be");
    MPI_Finalize();
    return kept.wrong != 0;
}
