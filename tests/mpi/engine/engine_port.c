/* Rank 1 waits at a port and dies there, by the plan. When rank 0 knows, it waits at the port in
 * its place, and rank 2 comes to it and tells it a number. Needs 3 ranks, and survivors. */
#include "faultline.h"
#include "mpi/expect.h"

#include <mpi.h>

static int wait_at(const char *port)
{
    int got = 0;
    MPI_Comm other;
    MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Recv(&got, 1, MPI_INT, 0, 0, other, MPI_STATUS_IGNORE);
    MPI_Comm_disconnect(&other);
    return got;
}

static void take_the_place(void)
{
    char port[MPI_MAX_PORT_NAME];
    int nothing = 0;
    MPI_Open_port(MPI_INFO_NULL, port);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 1, 0, MPI_COMM_WORLD);
    expect(MPI_Recv(&nothing, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS);
    faultline_without(1);
    MPI_Send(port, MPI_MAX_PORT_NAME, MPI_CHAR, 2, 0, MPI_COMM_WORLD);
    expect(wait_at(port) == 42);
    MPI_Close_port(port);
}

static void come_to_the_port(const char *port)
{
    const int number = 42;
    MPI_Comm other;
    MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_SELF, &other);
    MPI_Send(&number, 1, MPI_INT, 0, 0, other);
    MPI_Comm_disconnect(&other);
}

int main(int argc, char **argv)
{
    char port[MPI_MAX_PORT_NAME];
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank > 0)
        MPI_Recv(port, MPI_MAX_PORT_NAME, MPI_CHAR, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (rank == 0)
        take_the_place();
    else if (rank == 1)
        (void)wait_at(port);
    else
        come_to_the_port(port);
    MPI_Finalize();
    return expect_end("engine_port", rank);
}
