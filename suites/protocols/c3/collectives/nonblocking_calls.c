/* MPI's collective functions that do not block, and those that make persistent requests of them:
 * each describes its arguments, all else is nonblocking.c's and kept.c's. Must not know: what
 * becomes of a call. */
#include "c3/calls.h"
#include "c3/collectives/kept.h"
#include "c3/collectives/nonblocking.h"

static int begin(const struct described *call, MPI_Comm comm, MPI_Request *handle)
{
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct request *request = request_new(REQUEST_COLLECTIVE);
    request->communicator = communicator;
    int error = nonblocking_start(request, call);
    if (error == MPI_SUCCESS)
        *handle = request_handle(request);
    else
        request_free(request);
    return error;
}

/* Whole functions, two of each call: MPI_I<short name> and MPI_<name>_init. `parameters` in
 * parentheses are those ahead of the communicator, the rest describes the call. */
#define LIST(...) __VA_ARGS__
#define CALL(nonblocking, persistent, parameters, ...)                                             \
    EXPORTED int nonblocking(LIST parameters, MPI_Comm comm, MPI_Request *request)                 \
    {                                                                                              \
        const struct described call = {__VA_ARGS__};                                               \
        return begin(&call, comm, request);                                                        \
    }                                                                                              \
    EXPORTED int persistent(LIST parameters, MPI_Comm comm, MPI_Info info, MPI_Request *request)   \
    {                                                                                              \
        const struct described call = {__VA_ARGS__};                                               \
        (void)info;                                                                                \
        return kept_init(&call, comm, request);                                                    \
    }

/* A side of one piece, or of as many of one size as there are ranks; with lengths and offsets; and
 * with datatypes. */
#define SIDE(data, count, kind)                                                                    \
    {                                                                                              \
        .buffer = (void *)(data), .length = (count), .type = (kind)                                \
    }
#define VARYING(data, counts, displacements, kind)                                                 \
    {                                                                                              \
        .buffer = (void *)(data), .lengths = (counts), .offsets = (displacements), .type = (kind)  \
    }
#define TYPED(data, counts, displacements, kinds)                                                  \
    {                                                                                              \
        .buffer = (void *)(data), .lengths = (counts), .offsets = (displacements),                 \
        .type = MPI_BYTE, .types = (kinds)                                                         \
    }

/* --- with a root ------------------------------------------------------------------------------ */

CALL(MPI_Ibcast, MPI_Bcast_init, (void *buffer, int count, MPI_Datatype datatype, int root),
     .kind = DESCRIBED_BCAST, .root = root, .given = SIDE(NULL, 0, MPI_BYTE),
     .got = SIDE(buffer, count, datatype))

CALL(MPI_Iscatter, MPI_Scatter_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     .kind = DESCRIBED_SCATTER, .root = root, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = SIDE(recvbuf, recvcount, recvtype))

CALL(MPI_Iscatterv, MPI_Scatterv_init,
     (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root),
     .kind = DESCRIBED_SCATTERV, .root = root,
     .given = VARYING(sendbuf, sendcounts, displs, sendtype),
     .got = SIDE(recvbuf, recvcount, recvtype))

CALL(MPI_Igather, MPI_Gather_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     .kind = DESCRIBED_GATHER, .root = root, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = SIDE(recvbuf, recvcount, recvtype))

CALL(MPI_Igatherv, MPI_Gatherv_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root),
     .kind = DESCRIBED_GATHERV, .root = root, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = VARYING(recvbuf, recvcounts, displs, recvtype))

CALL(MPI_Ireduce, MPI_Reduce_init,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, int root),
     .kind = DESCRIBED_REDUCE, .root = root, .given = SIDE(sendbuf, count, datatype),
     .got = SIDE(recvbuf, count, datatype), .op = op)

/* --- among all -------------------------------------------------------------------------------- */

CALL(MPI_Iallgather, MPI_Allgather_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype),
     .kind = DESCRIBED_ALLGATHER, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = SIDE(recvbuf, recvcount, recvtype))

CALL(MPI_Iallgatherv, MPI_Allgatherv_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int recvcounts[], const int displs[], MPI_Datatype recvtype),
     .kind = DESCRIBED_ALLGATHERV, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = VARYING(recvbuf, recvcounts, displs, recvtype))

CALL(MPI_Ialltoall, MPI_Alltoall_init,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype),
     .kind = DESCRIBED_ALLTOALL, .given = SIDE(sendbuf, sendcount, sendtype),
     .got = SIDE(recvbuf, recvcount, recvtype))

CALL(MPI_Ialltoallv, MPI_Alltoallv_init,
     (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
      void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype),
     .kind = DESCRIBED_ALLTOALLV, .given = VARYING(sendbuf, sendcounts, sdispls, sendtype),
     .got = VARYING(recvbuf, recvcounts, rdispls, recvtype))

CALL(MPI_Ialltoallw, MPI_Alltoallw_init,
     (const void *sendbuf, const int sendcounts[], const int sdispls[],
      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
      const MPI_Datatype recvtypes[]),
     .kind = DESCRIBED_ALLTOALLW, .given = TYPED(sendbuf, sendcounts, sdispls, sendtypes),
     .got = TYPED(recvbuf, recvcounts, rdispls, recvtypes))

CALL(MPI_Iallreduce, MPI_Allreduce_init,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op),
     .kind = DESCRIBED_ALLREDUCE, .given = SIDE(sendbuf, count, datatype),
     .got = SIDE(recvbuf, count, datatype), .op = op)

/* How much this rank gets is known when the communicator is. */
CALL(MPI_Ireduce_scatter, MPI_Reduce_scatter_init,
     (const void *sendbuf, void *recvbuf, const int recvcounts[], MPI_Datatype datatype, MPI_Op op),
     .kind = DESCRIBED_REDUCE_SCATTER, .given = VARYING(sendbuf, recvcounts, NULL, datatype),
     .got = SIDE(recvbuf, 0, datatype), .op = op)

CALL(MPI_Ireduce_scatter_block, MPI_Reduce_scatter_block_init,
     (const void *sendbuf, void *recvbuf, int recvcount, MPI_Datatype datatype, MPI_Op op),
     .kind = DESCRIBED_REDUCE_SCATTER_BLOCK, .given = SIDE(sendbuf, recvcount, datatype),
     .got = SIDE(recvbuf, recvcount, datatype), .op = op)

CALL(MPI_Iscan, MPI_Scan_init,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op),
     .kind = DESCRIBED_SCAN, .given = SIDE(sendbuf, count, datatype),
     .got = SIDE(recvbuf, count, datatype), .op = op)

CALL(MPI_Iexscan, MPI_Exscan_init,
     (const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op),
     .kind = DESCRIBED_EXSCAN, .given = SIDE(sendbuf, count, datatype),
     .got = SIDE(recvbuf, count, datatype), .op = op)

/* --- barriers --------------------------------------------------------------------------------- */

/* No potential checkpoints as MPI_Barrier is [C3, section 5.4]: for that a rank would have to wait,
 * in a call that may not, until all others have said where they stand. */
static const struct described barrier = {
    .kind = DESCRIBED_BARRIER, .given = SIDE(NULL, 0, MPI_BYTE), .got = SIDE(NULL, 0, MPI_BYTE)};

EXPORTED int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return begin(&barrier, comm, request);
}

EXPORTED int MPI_Barrier_init(MPI_Comm comm, MPI_Info info, MPI_Request *request)
{
    (void)info;
    return kept_init(&barrier, comm, request);
}
