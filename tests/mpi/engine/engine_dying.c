/* What rank 1 did before it died in its last call, by the plan, at a send of rank 2: what it had
 * sent is received, by who knows of its death, and its death keeps nobody from agreeing who has
 * acknowledged it. Needs 3 ranks, and survivors. */
#include "faultline.h"
#include "mpi/expect.h"

#include <mpi.h>

#define DIES 1
#define MESSAGES 200 /* to rank 0, the last of them still on their way; message i has tag i */
#define NEVER_SENT MESSAGES
#define OTHERS 600 /* of rank 2, while one of which rank 1 dies */

static void die(void)
{
    int flag = 5;
    for (int i = 0; i < MESSAGES; i++)
        MPI_Send(&i, 1, MPI_INT, 0, i, MPI_COMM_WORLD);
    MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

static void learn_of_death(void)
{
    int got, class;
    MPI_Error_class(MPI_Recv(&got, 1, MPI_INT, DIES, NEVER_SENT, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
                    &class);
    expect(class == MPIX_ERR_PROC_FAILED);
    MPIX_Comm_failure_ack(MPI_COMM_WORLD);
}

/* Whether what the dead rank brought counts is left open. */
static void live(int rank)
{
    int got = 0, flag = 7;
    for (int i = 0; rank == 2 && i < OTHERS; i++)
        MPI_Send(&i, 1, MPI_INT, 0, NEVER_SENT, MPI_COMM_WORLD);
    learn_of_death();
    for (int i = MESSAGES - 1; rank == 0 && i >= 0; i--)
        expect(MPI_Recv(&got, 1, MPI_INT, DIES, i, MPI_COMM_WORLD, MPI_STATUS_IGNORE) ==
                   MPI_SUCCESS &&
               got == i);
    expect(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
    expect(flag == 5 || flag == 7);
    printf("agreed on %d\n", flag);
    faultline_without(DIES);
}

int main(int argc, char **argv)
{
    int rank;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    if (rank == DIES)
        die();
    else
        live(rank);
    MPI_Finalize();
    return expect_end("engine_dying", rank);
}
