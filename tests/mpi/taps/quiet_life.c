/* A job that is never at rest: ranks 0 and 1 play ball, and rank 1 looks now and then for a word of
 * rank 2, which ends the game. quiet_life [for-ever]: it looks, and plays on. */
#include <mpi.h>

#include <stdbool.h>
#include <string.h>
#include <time.h>

#include "mpi/expect.h"

enum { TAG_BALL = 1, TAG_WORD = 2 };

static MPI_Comm world = MPI_COMM_WORLD;

static bool word_has_come(void)
{
    int there = 0, word = 0;
    MPI_Iprobe(2, TAG_WORD, world, &there, MPI_STATUS_IGNORE);
    if (there)
        MPI_Recv(&word, 1, MPI_INT, 2, TAG_WORD, world, MPI_STATUS_IGNORE);
    return there;
}

#define BALL_NS 1000000 /* in the air: the trace stays short */

/* The ball says whether the game goes on. */
static void play(int rank, bool for_ever)
{
    for (int ball = 1; ball != 0;) {
        if (rank == 0)
            MPI_Send(&ball, 1, MPI_INT, 1, TAG_BALL, world);
        MPI_Recv(&ball, 1, MPI_INT, 1 - rank, TAG_BALL, world, MPI_STATUS_IGNORE);
        if (rank == 1) {
            nanosleep(&(struct timespec){0, BALL_NS}, NULL);
            ball = !word_has_come() || for_ever;
            MPI_Send(&ball, 1, MPI_INT, 0, TAG_BALL, world);
        }
    }
}

int main(int argc, char **argv)
{
    int rank, size, word = 7;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(world, &rank);
    MPI_Comm_size(world, &size);
    expect(size == 3);
    if (rank == 2)
        MPI_Send(&word, 1, MPI_INT, 1, TAG_WORD, world);
    else
        play(rank, argc > 1 && strcmp(argv[1], "for-ever") == 0);
    MPI_Finalize();
    return expect_end("quiet_life", rank);
}
