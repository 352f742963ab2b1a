/* A protocol that keeps rank 0 of the job for itself: the program never sees it come out of
 * MPI_Init, and its MPI_COMM_WORLD is of the others. Only what tests/library/plain.c calls. */
#include <mpi.h>

#include <stdlib.h>

static MPI_Comm rest; /* the program's world */

static MPI_Comm real(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? rest : comm;
}

/* Until a rank of the program comes to its end. */
static void help(void)
{
    int left;
    PMPI_Comm_size(MPI_COMM_WORLD, &left);
    while (--left > 0)
        PMPI_Recv(NULL, 0, MPI_BYTE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    PMPI_Comm_free(&rest);
    PMPI_Finalize();
    exit(0);
}

int MPI_Init(int *argc, char ***argv)
{
    int rank, result = PMPI_Init(argc, argv);
    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    PMPI_Comm_split(MPI_COMM_WORLD, rank == 0, rank, &rest);
    if (rank == 0)
        help();
    return result;
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    return PMPI_Comm_rank(real(comm), rank);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
    return PMPI_Comm_size(real(comm), size);
}

int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest, int sendtag,
                 void *recvbuf, int recvcount, MPI_Datatype recvtype, int source, int recvtag,
                 MPI_Comm comm, MPI_Status *status)
{
    return PMPI_Sendrecv(sendbuf, sendcount, sendtype, dest, sendtag, recvbuf, recvcount, recvtype,
                         source, recvtag, real(comm), status);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op,
                  MPI_Comm comm)
{
    return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, real(comm));
}

int MPI_Finalize(void)
{
    PMPI_Send(NULL, 0, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    PMPI_Comm_free(&rest);
    return PMPI_Finalize();
}
