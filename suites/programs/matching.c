/* Programs that take one order of messages for the only one: races of the kinds that tools which
 * record and replay MPI programs were made for. The order they trust in is the one that shared
 * memory gives, where what is sent first is there first; MPI does not promise it. The first
 * argument says which:
 *
 *   barrier   rank 1 sends to rank 0 before a barrier, rank 2 after it: rank 0 trusts that rank 1's
 *             message is the first one that it takes from anybody
 *
 *   waitany   rank 2 sends to rank 0 when rank 1 has told it that its own message is sent: rank 0
 *             trusts that MPI_Waitany gives rank 1's first
 *
 *   rounds    in each of two rounds rank 0 takes a message of each other rank, from anybody and
 *             with the same tag: it trusts that no message of the next round is among them, since
 *             the others wait for each other when they have sent
 *
 * Rank 0 looks whether it was so, and ends the job if not, where a program of somebody's would
 * compute something else. Three ranks. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TAG 5
#define EXIT_USAGE 64

static int rank;

static void send_to(int to, int number)
{
    MPI_Send(&number, 1, MPI_INT, to, TAG, MPI_COMM_WORLD);
}

static int receive(int from)
{
    int number;
    MPI_Recv(&number, 1, MPI_INT, from, TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return number;
}

static void trust(int came, int expected)
{
    if (came == expected)
        return;
    fprintf(stderr, "matching: %d came where %d was expected\n", came, expected);
    MPI_Abort(MPI_COMM_WORLD, 1);
}

static void barrier(void)
{
    if (rank == 1)
        send_to(0, 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 2)
        send_to(0, 2);
    if (rank != 0)
        return;
    trust(receive(MPI_ANY_SOURCE), 1);
    receive(MPI_ANY_SOURCE);
}

static void wait_any(void)
{
    MPI_Request request[2];
    int number[2], first, second;
    if (rank == 1) {
        send_to(0, 1);
        send_to(2, 1);
    } else if (rank == 2) {
        receive(1);
        send_to(0, 2);
    } else {
        MPI_Irecv(&number[0], 1, MPI_INT, 1, TAG, MPI_COMM_WORLD, &request[0]);
        MPI_Irecv(&number[1], 1, MPI_INT, 2, TAG, MPI_COMM_WORLD, &request[1]);
        MPI_Waitany(2, request, &first, MPI_STATUS_IGNORE);
        MPI_Waitany(2, request, &second, MPI_STATUS_IGNORE);
        trust(first, 0);
    }
}

static void rounds(void)
{
    for (int round = 1; round <= 2; round++) {
        if (rank != 0)
            send_to(0, round);
        if (rank == 2) {
            send_to(1, round);
            receive(1);
        } else if (rank == 1) {
            receive(2);
            send_to(2, round);
        }
        for (int i = 0; rank == 0 && i < 2; i++)
            trust(receive(MPI_ANY_SOURCE), round);
    }
}

int main(int argc, char **argv)
{
    int ranks;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    void (*run)(void) = argc != 2 || ranks != 3           ? NULL
                        : strcmp(argv[1], "barrier") == 0 ? barrier
                        : strcmp(argv[1], "waitany") == 0 ? wait_any
                        : strcmp(argv[1], "rounds") == 0  ? rounds
                                                          : NULL;
    if (run != NULL)
        run();
    else if (rank == 0)
        fprintf(stderr, "matching: three ranks, and one of: barrier waitany rounds\n");
    MPI_Finalize();
    return run != NULL ? EXIT_SUCCESS : EXIT_USAGE;
}
