/* The calls of a program on MPI_COMM_WORLD, made on the communicator that stands for it. Once one
 * has failed none is made, and the program computes with what it has until it comes to its next
 * potential checkpoint, where its state is put back. */
#include "common/world/world.h"

static MPI_Comm meant(MPI_Comm comm)
{
    return comm == MPI_COMM_WORLD ? here.comm : comm;
}

/* What a call on `comm` has returned. */
static int judge(MPI_Comm comm, int result)
{
    if (result != MPI_SUCCESS && comm == MPI_COMM_WORLD)
        world_failed();
    return result;
}

#define UNLESS_BROKEN(comm, call)                                                                  \
    (here.broken && (comm) == MPI_COMM_WORLD ? MPIX_ERR_REVOKED : judge(comm, call))

EXPORTED int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
    if (comm != MPI_COMM_WORLD)
        return PMPI_Comm_rank(comm, rank);
    *rank = here.rank;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Comm_size(MPI_Comm comm, int *size)
{
    if (comm != MPI_COMM_WORLD)
        return PMPI_Comm_size(comm, size);
    *size = here.ranks;
    return MPI_SUCCESS;
}

EXPORTED int MPI_Send(const void *buffer, int count, MPI_Datatype type, int destination, int tag,
                      MPI_Comm comm)
{
    return UNLESS_BROKEN(comm, PMPI_Send(buffer, count, type, destination, tag, meant(comm)));
}

/* Where it fails the program has got an empty message. */
EXPORTED int MPI_Recv(void *buffer, int count, MPI_Datatype type, int source, int tag,
                      MPI_Comm comm, MPI_Status *status)
{
    int result =
        UNLESS_BROKEN(comm, PMPI_Recv(buffer, count, type, source, tag, meant(comm), status));
    if (result != MPI_SUCCESS && status != MPI_STATUS_IGNORE)
        PMPI_Status_set_elements(status, type, 0);
    return result;
}

EXPORTED int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int destination, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return UNLESS_BROKEN(comm,
                         PMPI_Isend(buffer, count, type, destination, tag, meant(comm), request));
}

EXPORTED int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int source, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    *request = MPI_REQUEST_NULL;
    return UNLESS_BROKEN(comm, PMPI_Irecv(buffer, count, type, source, tag, meant(comm), request));
}

/* Those that are left when one has failed end with the communicator. */
EXPORTED int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    int result = PMPI_Waitall(count, requests, statuses);
    if (result == MPI_SUCCESS)
        return result;
    world_failed();
    for (int i = 0; i < count; i++)
        if (requests[i] != MPI_REQUEST_NULL)
            PMPI_Wait(&requests[i], MPI_STATUS_IGNORE);
    return result;
}

EXPORTED int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm)
{
    return UNLESS_BROKEN(comm, PMPI_Allreduce(from, to, count, type, op, meant(comm)));
}
