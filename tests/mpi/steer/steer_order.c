/* Messages that a scenario holds and lets go in an order of its own: steer_order HOW ORDER.
 * "senders": ranks 1, 2 and 3 send one message each to rank 0, one after the other; rank 0 takes
 * them with MPI_ANY_SOURCE, and must get them in ORDER, such as 312. "named": the same, but rank 0
 * asks for one after the other by source, in the order 1, 2, 3. "tags": rank 1 sends all three,
 * with tags 1, 2 and 3. "synchronous": ranks 1, 2 and 3 send at once, by MPI_Ssend, and rank 0
 * takes them as they come: what is first is not known. */
#include <mpi.h>

#include <stdlib.h>
#include <string.h>

#include "mpi/expect.h"

#define MESSAGES 3

static int rank;
static MPI_Comm world = MPI_COMM_WORLD, turns;

static void send_in_turn(void)
{
    int turn = 0;
    if (rank > 1)
        MPI_Recv(&turn, 1, MPI_INT, rank - 1, 0, turns, MPI_STATUS_IGNORE);
    MPI_Send(&rank, 1, MPI_INT, 0, 1, world);
    if (rank < MESSAGES)
        MPI_Send(&turn, 1, MPI_INT, rank + 1, 0, turns);
}

static void send_all(void)
{
    for (int tag = 1; tag <= MESSAGES; tag++)
        MPI_Send(&tag, 1, MPI_INT, 0, tag, world);
}

static void receive(const char *how, const char *order)
{
    for (int i = 0; i < MESSAGES; i++) {
        int value = 0, named = strcmp(how, "named") == 0, tags = strcmp(how, "tags") == 0;
        MPI_Recv(&value, 1, MPI_INT, named ? i + 1 : MPI_ANY_SOURCE, tags ? i + 1 : 1, world,
                 MPI_STATUS_IGNORE);
        expect(value == order[i] - '0' || strcmp(how, "synchronous") == 0);
    }
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_dup(world, &turns);
    const char *how = argc > 1 ? argv[1] : "senders";
    if (rank == 0)
        receive(how, argc > 2 ? argv[2] : "123");
    else if (strcmp(how, "synchronous") == 0)
        MPI_Ssend(&rank, 1, MPI_INT, 0, 1, world);
    else if (strcmp(how, "tags") != 0)
        send_in_turn();
    else if (rank == 1)
        send_all();
    MPI_Comm_free(&turns);
    MPI_Finalize();
    return expect_end(how, rank);
}
