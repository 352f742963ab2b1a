/* A protocol that sends something of its own, on a communicator of its own, ahead of each message
 * of MPI_Send, to the same rank and with the same tag; and asks twice whether a request is
 * complete, so that the program may hear yes where the first answer was no. */
#include <mpi.h>

#include <stdlib.h>

static MPI_Comm own;
static int ranks, *heads; /* sent, by rank */

int MPI_Init(int *argc, char ***argv)
{
    int result = PMPI_Init(argc, argv);
    PMPI_Comm_dup(MPI_COMM_WORLD, &own);
    PMPI_Comm_size(own, &ranks);
    heads = calloc((size_t)ranks, sizeof *heads);
    return result;
}

int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm)
{
    int head = 1;
    if (to >= 0 && comm == MPI_COMM_WORLD) {
        PMPI_Send(&head, 1, MPI_INT, to, tag, own);
        heads[to]++;
    }
    return PMPI_Send(buffer, count, type, to, tag, comm);
}

int MPI_Test(MPI_Request *request, int *flag, MPI_Status *status)
{
    int result = PMPI_Test(request, flag, status);
    return result != MPI_SUCCESS || *flag ? result : PMPI_Test(request, flag, status);
}

int MPI_Finalize(void)
{
    int *coming = calloc((size_t)ranks, sizeof *coming), head;
    PMPI_Alltoall(heads, 1, MPI_INT, coming, 1, MPI_INT, own);
    for (int rank = 0; rank < ranks; rank++)
        for (; coming[rank] > 0; coming[rank]--)
            PMPI_Recv(&head, 1, MPI_INT, rank, MPI_ANY_TAG, own, MPI_STATUS_IGNORE);
    PMPI_Comm_free(&own);
    free(coming);
    free(heads);
    return PMPI_Finalize();
}
