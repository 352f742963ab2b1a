/* The functions of the table: of each collective the blocking, the nonblocking and the persistent
 * form, with counts of both widths. The macros below say once per collective what its parameters
 * are, and what they mean; C and D are the types of counts and displacements. */
#include "engine/collectives/collective.h"

#define IS_WIDE(C) (sizeof(C) == sizeof(MPI_Count))

/* --- parameters ------------------------------------------------------------------------------- */

#define BARRIER_PARAMETERS(C, D) MPI_Comm comm
#define BARRIER_MEANS(C) .root = 0

#define BCAST_PARAMETERS(C, D) void *buffer, C count, MPI_Datatype type, int root, MPI_Comm comm
#define BCAST_MEANS(C)                                                                             \
    .send = {.buffer = buffer, .count = count, .type = type},                                      \
    .receive = {.buffer = buffer, .count = count, .type = type}, .root = root

#define SEND(C) const void *sendbuf, C sendcount, MPI_Datatype sendtype
#define SENDS(C, D)                                                                                \
    const void *sendbuf, const C sendcounts[], const D sdispls[], MPI_Datatype sendtype
#define SENDS_TYPES(C, D)                                                                          \
    const void *sendbuf, const C sendcounts[], const D sdispls[], const MPI_Datatype sendtypes[]
#define RECEIVE(C) void *recvbuf, C recvcount, MPI_Datatype recvtype
#define RECEIVES(C, D) void *recvbuf, const C recvcounts[], const D rdispls[], MPI_Datatype recvtype
#define RECEIVES_TYPES(C, D)                                                                       \
    void *recvbuf, const C recvcounts[], const D rdispls[], const MPI_Datatype recvtypes[]

#define SEND_MEANS .send = {.buffer = sendbuf, .count = sendcount, .type = sendtype}
#define SENDS_MEANS(C)                                                                             \
    .send = {.buffer = sendbuf,                                                                    \
             .counts = sendcounts,                                                                 \
             .displacements = sdispls,                                                             \
             .type = sendtype,                                                                     \
             .wide = IS_WIDE(C)}
#define SENDS_TYPES_MEANS(C, is_aint)                                                              \
    .send = {.buffer = sendbuf,                                                                    \
             .counts = sendcounts,                                                                 \
             .displacements = sdispls,                                                             \
             .types = sendtypes,                                                                   \
             .wide = IS_WIDE(C),                                                                   \
             .aints = is_aint}
#define RECEIVE_MEANS .receive = {.buffer = recvbuf, .count = recvcount, .type = recvtype}
#define RECEIVES_MEANS(C)                                                                          \
    .receive = {.buffer = recvbuf,                                                                 \
                .counts = recvcounts,                                                              \
                .displacements = rdispls,                                                          \
                .type = recvtype,                                                                  \
                .wide = IS_WIDE(C)}
#define RECEIVES_TYPES_MEANS(C, is_aint)                                                           \
    .receive = {.buffer = recvbuf,                                                                 \
                .counts = recvcounts,                                                              \
                .displacements = rdispls,                                                          \
                .types = recvtypes,                                                                \
                .wide = IS_WIDE(C),                                                                \
                .aints = is_aint}

#define GATHER_PARAMETERS(C, D) SEND(C), RECEIVE(C), int root, MPI_Comm comm
#define GATHER_MEANS(C) SEND_MEANS, RECEIVE_MEANS, .root = root
#define GATHERV_PARAMETERS(C, D) SEND(C), RECEIVES(C, D), int root, MPI_Comm comm
#define GATHERV_MEANS(C) SEND_MEANS, RECEIVES_MEANS(C), .root = root
#define SCATTERV_PARAMETERS(C, D) SENDS(C, D), RECEIVE(C), int root, MPI_Comm comm
#define SCATTERV_MEANS(C) SENDS_MEANS(C), RECEIVE_MEANS, .root = root
#define ALLGATHER_PARAMETERS(C, D) SEND(C), RECEIVE(C), MPI_Comm comm
#define ALLGATHER_MEANS(C) SEND_MEANS, RECEIVE_MEANS
#define ALLGATHERV_PARAMETERS(C, D) SEND(C), RECEIVES(C, D), MPI_Comm comm
#define ALLGATHERV_MEANS(C) SEND_MEANS, RECEIVES_MEANS(C)
#define ALLTOALLV_PARAMETERS(C, D) SENDS(C, D), RECEIVES(C, D), MPI_Comm comm
#define ALLTOALLV_MEANS(C) SENDS_MEANS(C), RECEIVES_MEANS(C)
#define ALLTOALLW_PARAMETERS(C, D) SENDS_TYPES(C, D), RECEIVES_TYPES(C, D), MPI_Comm comm
#define ALLTOALLW_MEANS(C) SENDS_TYPES_MEANS(C, false), RECEIVES_TYPES_MEANS(C, false)
#define NEIGHBOR_ALLTOALLW_PARAMETERS(C, D)                                                        \
    SENDS_TYPES(C, MPI_Aint), RECEIVES_TYPES(C, MPI_Aint), MPI_Comm comm
#define NEIGHBOR_ALLTOALLW_MEANS(C) SENDS_TYPES_MEANS(C, true), RECEIVES_TYPES_MEANS(C, true)

#define REDUCED(number)                                                                            \
    .send = {.buffer = sendbuf, .count = number, .type = type},                                    \
    .receive = {.buffer = recvbuf, .count = number, .type = type}, .op = op
#define ALLREDUCE_PARAMETERS(C, D)                                                                 \
    const void *sendbuf, void *recvbuf, C count, MPI_Datatype type, MPI_Op op, MPI_Comm comm
#define ALLREDUCE_MEANS(C) REDUCED(count)
#define REDUCE_PARAMETERS(C, D)                                                                    \
    const void *sendbuf, void *recvbuf, C count, MPI_Datatype type, MPI_Op op, int root,           \
        MPI_Comm comm
#define REDUCE_MEANS(C) REDUCED(count), .root = root
#define REDUCE_SCATTER_PARAMETERS(C, D)                                                            \
    const void *sendbuf, void *recvbuf, const C recvcounts[], MPI_Datatype type, MPI_Op op,        \
        MPI_Comm comm
#define REDUCE_SCATTER_MEANS(C)                                                                    \
    .send = {.buffer = sendbuf, .type = type},                                                     \
    .receive = {.buffer = recvbuf, .counts = recvcounts, .type = type, .wide = IS_WIDE(C)},        \
    .op = op

/* --- functions -------------------------------------------------------------------------------- */

#define CALL(which, C, MEANS) ((struct call){.operation = which, .comm = comm, MEANS(C)})

#define FORMS(name, which, C, D, PARAMETERS, MEANS)                                                \
    static int name(PARAMETERS(C, D))                                                              \
    {                                                                                              \
        struct call call = CALL(which, C, MEANS);                                                  \
        return collective_run(&call);                                                              \
    }                                                                                              \
    static int name##_begin(PARAMETERS(C, D), MPI_Request *request)                                \
    {                                                                                              \
        struct call call = CALL(which, C, MEANS);                                                  \
        return collective_join(&call, request);                                                    \
    }                                                                                              \
    static int name##_persistent(PARAMETERS(C, D), MPI_Info info, MPI_Request *request)            \
    {                                                                                              \
        struct call call = CALL(which, C, MEANS);                                                  \
        (void)info;                                                                                \
        return collective_init(&call, request);                                                    \
    }

#define BOTH_WIDTHS(name, which, PARAMETERS, MEANS)                                                \
    FORMS(name, which, int, int, PARAMETERS, MEANS)                                                \
    FORMS(name##_c, which, MPI_Count, MPI_Aint, PARAMETERS, MEANS)

/* name of our functions, of the table's members (blocking and nonblocking), operation, parameters,
 * meaning */
#define COLLECTIVES(X)                                                                             \
    X(bcast, Bcast, Ibcast, BCAST, BCAST_PARAMETERS, BCAST_MEANS)                                  \
    X(gather, Gather, Igather, GATHER, GATHER_PARAMETERS, GATHER_MEANS)                            \
    X(gatherv, Gatherv, Igatherv, GATHERV, GATHERV_PARAMETERS, GATHERV_MEANS)                      \
    X(scatter, Scatter, Iscatter, SCATTER, GATHER_PARAMETERS, GATHER_MEANS)                        \
    X(scatterv, Scatterv, Iscatterv, SCATTERV, SCATTERV_PARAMETERS, SCATTERV_MEANS)                \
    X(allgather, Allgather, Iallgather, ALLGATHER, ALLGATHER_PARAMETERS, ALLGATHER_MEANS)          \
    X(allgatherv, Allgatherv, Iallgatherv, ALLGATHERV, ALLGATHERV_PARAMETERS, ALLGATHERV_MEANS)    \
    X(alltoall, Alltoall, Ialltoall, ALLTOALL, ALLGATHER_PARAMETERS, ALLGATHER_MEANS)              \
    X(alltoallv, Alltoallv, Ialltoallv, ALLTOALLV, ALLTOALLV_PARAMETERS, ALLTOALLV_MEANS)          \
    X(alltoallw, Alltoallw, Ialltoallw, ALLTOALLW, ALLTOALLW_PARAMETERS, ALLTOALLW_MEANS)          \
    X(reduce, Reduce, Ireduce, REDUCE, REDUCE_PARAMETERS, REDUCE_MEANS)                            \
    X(allreduce, Allreduce, Iallreduce, ALLREDUCE, ALLREDUCE_PARAMETERS, ALLREDUCE_MEANS)          \
    X(reduce_scatter, Reduce_scatter, Ireduce_scatter, REDUCE_SCATTER, REDUCE_SCATTER_PARAMETERS,  \
      REDUCE_SCATTER_MEANS)                                                                        \
    X(reduce_scatter_block, Reduce_scatter_block, Ireduce_scatter_block, REDUCE_SCATTER_BLOCK,     \
      ALLREDUCE_PARAMETERS, ALLREDUCE_MEANS)                                                       \
    X(scan, Scan, Iscan, SCAN, ALLREDUCE_PARAMETERS, ALLREDUCE_MEANS)                              \
    X(exscan, Exscan, Iexscan, EXSCAN, ALLREDUCE_PARAMETERS, ALLREDUCE_MEANS)                      \
    X(neighbor_allgather, Neighbor_allgather, Ineighbor_allgather, NEIGHBOR_ALLGATHER,             \
      ALLGATHER_PARAMETERS, ALLGATHER_MEANS)                                                       \
    X(neighbor_allgatherv, Neighbor_allgatherv, Ineighbor_allgatherv, NEIGHBOR_ALLGATHERV,         \
      ALLGATHERV_PARAMETERS, ALLGATHERV_MEANS)                                                     \
    X(neighbor_alltoall, Neighbor_alltoall, Ineighbor_alltoall, NEIGHBOR_ALLTOALL,                 \
      ALLGATHER_PARAMETERS, ALLGATHER_MEANS)                                                       \
    X(neighbor_alltoallv, Neighbor_alltoallv, Ineighbor_alltoallv, NEIGHBOR_ALLTOALLV,             \
      ALLTOALLV_PARAMETERS, ALLTOALLV_MEANS)                                                       \
    X(neighbor_alltoallw, Neighbor_alltoallw, Ineighbor_alltoallw, NEIGHBOR_ALLTOALLW,             \
      NEIGHBOR_ALLTOALLW_PARAMETERS, NEIGHBOR_ALLTOALLW_MEANS)

#define DEFINE(name, blocking, nonblocking, which, PARAMETERS, MEANS)                              \
    BOTH_WIDTHS(name, COLLECTIVE_##which, PARAMETERS, MEANS)
COLLECTIVES(DEFINE)
FORMS(barrier, COLLECTIVE_BARRIER, int, int, BARRIER_PARAMETERS, BARRIER_MEANS)

void collectives_fill(struct library *table)
{
#define SET(name, blocking, nonblocking, which, PARAMETERS, MEANS)                                 \
    table->blocking = name;                                                                        \
    table->blocking##_c = name##_c;                                                                \
    table->nonblocking = name##_begin;                                                             \
    table->nonblocking##_c = name##_c_begin;                                                       \
    table->blocking##_init = name##_persistent;                                                    \
    table->blocking##_init_c = name##_c_persistent;
    COLLECTIVES(SET)
#undef SET
    table->Barrier = barrier;
    table->Ibarrier = barrier_begin;
    table->Barrier_init = barrier_persistent;
    operations_fill(table);
}
