/* A protocol between the taps, for their tests. It sends each message in two: first its length, on
 * a tag of its own, then the message; it counts with a collective of its own in MPI_Barrier; and it
 * hands out communicators of its own making. Built twice: calling the library as PMPI_X, or with
 * -DNEXT(name)=MPI_##name as MPI_X, which must come to the same. */
#include <mpi.h>

#include <faultline.h>

#ifndef NEXT
#define NEXT(name) PMPI_##name
#endif

#define LENGTH_TAG 999
#define OWN_COMM 0x5a5a0001 /* no handle of the library's */

static MPI_Comm after = MPI_COMM_NULL;

static MPI_Comm real(MPI_Comm comm)
{
    return comm == (MPI_Comm)OWN_COMM ? after : comm;
}

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
    MPI_Comm world = real(comm);
    PMPI_Send(&count, 1, MPI_INT, dest, LENGTH_TAG, world);
#ifdef CALLS_MPI
    /* within our own MPI_Send: not the application's */
    MPI_Request request;
    MPI_Isend(buf, count, datatype, dest, tag, world, &request);
    return MPI_Wait(&request, MPI_STATUS_IGNORE);
#else
    return PMPI_Send(buf, count, datatype, dest, tag, world);
#endif
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm,
             MPI_Status *status)
{
    int length;
    NEXT(Sendrecv)
    (&count, 0, MPI_INT, MPI_PROC_NULL, 0, &length, 1, MPI_INT, source, LENGTH_TAG, real(comm),
     MPI_STATUS_IGNORE);
    return PMPI_Recv(buf, length < count ? length : count, datatype, source, tag, real(comm),
                     status);
}

int MPI_Comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    int code = PMPI_Comm_dup(real(comm), &after);
    *newcomm = (MPI_Comm)OWN_COMM;
    faultline_stands_for(FAULTLINE_COMM, (uint64_t)*newcomm, (uint64_t)after);
    return code;
}

int MPI_Comm_free(MPI_Comm *comm)
{
    faultline_stands_for(FAULTLINE_COMM, (uint64_t)*comm, 0);
    *comm = MPI_COMM_NULL;
    return PMPI_Comm_free(&after);
}

int MPI_Barrier(MPI_Comm comm)
{
    int one = 1, all = 0;
    NEXT(Allreduce)(&one, &all, 1, MPI_INT, MPI_SUM, real(comm));
    return PMPI_Barrier(real(comm));
}
