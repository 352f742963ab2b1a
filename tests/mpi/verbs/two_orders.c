/* A mistake that needs two orders of messages, one after the other, for the tests of campaigns. For
 * 3 ranks. Ranks 1 and 2 each send to rank 0 in every round, and rank 0 takes what comes first and
 * what comes next. An order is rare: in all ROUNDS rounds of it the first message is by turns rank
 * 2's and rank 1's. Only after the first rare order is there a barrier, and rounds of the second;
 * after a second rare one rank 0 tells another result. */
#include "faultline.h"

#include <mpi.h>

#define ROUNDS 4
#define TAG 1

/* Of rank 0. Was the first message the one that a rare order has? */
static int take_round(int round)
{
    int word;
    MPI_Status first, next;
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &first);
    MPI_Recv(&word, 1, MPI_INT, MPI_ANY_SOURCE, TAG, MPI_COMM_WORLD, &next);
    return first.MPI_SOURCE == (round % 2 == 0 ? 2 : 1);
}

/* Was the order rare? All ranks are told, after each round, so that rounds do not mix. */
static int play(int rank)
{
    int rare = 1;
    for (int round = 0; round < ROUNDS; round++) {
        if (rank == 0) {
            rare &= take_round(round);
            MPI_Send(&rare, 1, MPI_INT, 1, TAG, MPI_COMM_WORLD);
            MPI_Send(&rare, 1, MPI_INT, 2, TAG, MPI_COMM_WORLD);
        } else if (rank <= 2) {
            MPI_Send(&round, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD);
            MPI_Recv(&rare, 1, MPI_INT, 0, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    return rare;
}

int main(int argc, char **argv)
{
    int rank, rare;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    rare = play(rank);
    if (rare) {
        MPI_Barrier(MPI_COMM_WORLD);
        rare = play(rank);
    }
    if (rank == 0)
        faultline_result("rare", &rare, sizeof rare);
    MPI_Finalize();
    return 0;
}
