/* Rank 2 dies by the plan in a call of its own. The others, once they are told, send it what a
 * library may keep for it and what it can not, and talk with each other all the same. Needs 3
 * ranks, and survivors. */
#include "faultline.h"
#include "faultline_lives.h"
#include "mpi/expect.h"

#include <mpi.h>

#define DIES 2
#define SMALL 200
#define LARGE (8 << 20)
#define TURNS 100

static char large[LARGE], sent[1 << 20], got[1 << 20];

/* Whether it is an error is open; it does not wait. */
static void begin_send(int bytes)
{
    MPI_Request request;
    if (MPI_Isend(large, bytes, MPI_BYTE, DIES, 0, MPI_COMM_WORLD, &request) == MPI_SUCCESS)
        MPI_Request_free(&request);
}

static void talk(int other)
{
    for (int turn = 0; turn < TURNS; turn++) {
        int bytes = turn % 2 == 0 ? 1 : (int)sizeof sent;
        sent[0] = sent[bytes - 1] = (char)turn;
        expect(MPI_Sendrecv(sent, bytes, MPI_BYTE, other, 1, got, bytes, MPI_BYTE, other, 1,
                            MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
        expect(got[0] == (char)turn && got[bytes - 1] == (char)turn);
    }
}

int main(int argc, char **argv)
{
    int rank, dead[2] = {-1, -1};
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    while (rank == DIES)
        MPI_Barrier(MPI_COMM_SELF);
    expect(faultline_await_death(0) == 1);
    expect(faultline_deaths(dead, 2) == 1 && dead[0] == DIES && dead[1] == -1);
    expect(faultline_deaths(NULL, 0) == 1);
    begin_send(LARGE);
    for (int i = 0; i < SMALL; i++)
        begin_send(4);
    talk(1 - rank);
    faultline_without(DIES);
    MPI_Finalize();
    return expect_end("lives_sends_to_dead", rank);
}
