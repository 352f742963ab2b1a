/* The calls of a program: one that fails does not return. Others need none of this, for a program
 * that has left out a death comes to one of these. */
#include "checkpoint_on_failure.h"

#define OR_LEAVE(call)                                                                             \
    if ((call) != MPI_SUCCESS)                                                                     \
        job_failed();                                                                              \
    return MPI_SUCCESS

EXPORTED int MPI_Send(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                      MPI_Comm comm)
{
    OR_LEAVE(PMPI_Send(buffer, count, type, to, tag, comm));
}

EXPORTED int MPI_Recv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                      MPI_Status *status)
{
    OR_LEAVE(PMPI_Recv(buffer, count, type, from, tag, comm, status));
}

EXPORTED int MPI_Isend(const void *buffer, int count, MPI_Datatype type, int to, int tag,
                       MPI_Comm comm, MPI_Request *request)
{
    OR_LEAVE(PMPI_Isend(buffer, count, type, to, tag, comm, request));
}

EXPORTED int MPI_Irecv(void *buffer, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm,
                       MPI_Request *request)
{
    OR_LEAVE(PMPI_Irecv(buffer, count, type, from, tag, comm, request));
}

EXPORTED int MPI_Wait(MPI_Request *request, MPI_Status *status)
{
    OR_LEAVE(PMPI_Wait(request, status));
}

EXPORTED int MPI_Waitany(int count, MPI_Request *requests, int *which, MPI_Status *status)
{
    OR_LEAVE(PMPI_Waitany(count, requests, which, status));
}

EXPORTED int MPI_Waitall(int count, MPI_Request *requests, MPI_Status *statuses)
{
    OR_LEAVE(PMPI_Waitall(count, requests, statuses));
}

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    OR_LEAVE(PMPI_Barrier(comm));
}

EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm)
{
    OR_LEAVE(PMPI_Bcast(buffer, count, type, root, comm));
}

EXPORTED int MPI_Reduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                        int root, MPI_Comm comm)
{
    OR_LEAVE(PMPI_Reduce(from, to, count, type, op, root, comm));
}

EXPORTED int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op,
                           MPI_Comm comm)
{
    OR_LEAVE(PMPI_Allreduce(from, to, count, type, op, comm));
}

EXPORTED int MPI_Allgather(const void *from, int count, MPI_Datatype type, void *to, int to_count,
                           MPI_Datatype to_type, MPI_Comm comm)
{
    OR_LEAVE(PMPI_Allgather(from, count, type, to, to_count, to_type, comm));
}

EXPORTED int MPI_Allgatherv(const void *from, int count, MPI_Datatype type, void *to,
                            const int *counts, const int *places, MPI_Datatype to_type,
                            MPI_Comm comm)
{
    OR_LEAVE(PMPI_Allgatherv(from, count, type, to, counts, places, to_type, comm));
}
