/* In each step a wildcard receive is posted whose message comes in the next step, and messages are
 * exchanged that only wildcards can take: in recovery the former has no outcome, and must not take
 * what belongs to a later one. Two ranks; both keep all they need in registered state. */
#include "checkpoint.h"

#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#define STEPS 40
#define EXCHANGES 5
#define STEP_US 2000

enum { TAG_NEXT = 1, TAG_NOW = 2 };

static struct {
    int step;
    int wrong;
    MPI_Request request[2]; /* by the step's parity */
    int got[2];
} kept = {.request = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}};

static int rank;

static void exchange(int number)
{
    int sent = kept.step * EXCHANGES + number, got = -1;
    MPI_Request request;
    MPI_Isend(&sent, 1, MPI_INT, 1 - rank, TAG_NOW, MPI_COMM_WORLD, &request);
    MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, TAG_NOW, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    kept.wrong += got != sent;
}

/* What was posted in the step before is sent now. */
static void finish_one(int step)
{
    MPI_Status status;
    int index = step % 2;
    MPI_Send(&step, 1, MPI_INT, 1 - rank, TAG_NEXT, MPI_COMM_WORLD);
    MPI_Wait(&kept.request[index], &status);
    kept.wrong += kept.got[index] != step || status.MPI_SOURCE != 1 - rank;
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    checkpoint_register("kept", &kept, sizeof kept);
    checkpoint_restore();
    while (kept.step < STEPS) {
        int index = kept.step % 2;
        kept.got[index] = -1;
        MPI_Irecv(&kept.got[index], 1, MPI_INT, MPI_ANY_SOURCE, TAG_NEXT, MPI_COMM_WORLD,
                  &kept.request[index]);
        for (int number = 0; number < EXCHANGES; number++) {
            exchange(number);
            usleep(STEP_US / EXCHANGES);
        }
        if (kept.step > 0)
            finish_one(kept.step - 1);
        kept.step++;
        potential_checkpoint();
    }
    finish_one(STEPS - 1);
    if (rank == 0)
        printf("%s\n", kept.wrong ? "something is wrong" : "all as it should be");
    MPI_Finalize();
    return kept.wrong != 0;
}
