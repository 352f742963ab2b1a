/* Rank 1 waits for what never comes, and is killed. Rank 0 sends to it until a send fails, at most
 * MOST times. MPI_Sendrecv must fail then, too, although its receive has a message. Needs 2 ranks,
 * and survivors. */
#include "faultline.h"

#include <mpi.h>

#define MOST 1000

static int exchange_with_the_dead(void)
{
    int got, one = 1;
    MPI_Request request;
    MPI_Isend(&one, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, &request);
    int result = MPI_Sendrecv(&one, 1, MPI_INT, 1, 0, &got, 1, MPI_INT, 0, 2, MPI_COMM_WORLD,
                              MPI_STATUS_IGNORE);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    return result;
}

int main(int argc, char **argv)
{
    int rank, got, class, class_of_exchange, result = MPI_SUCCESS;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == 1)
        MPI_Recv(&got, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < MOST && result == MPI_SUCCESS; i++)
        result = MPI_Send(&i, 1, MPI_INT, 1, 0, MPI_COMM_WORLD);
    faultline_without(1);
    MPI_Error_class(result, &class);
    MPI_Error_class(exchange_with_the_dead(), &class_of_exchange);
    MPI_Finalize();
    return class == MPIX_ERR_PROC_FAILED && class_of_exchange == MPIX_ERR_PROC_FAILED ? 0 : 1;
}
