/* Collective calls that move data, blocking and not: see collectives.h. All are linear, through
 * their root or from each to each: the point is what a line does to them, not their speed. What a
 * rank gives itself is a packet too, so that data and places of different types may overlap. */
#include "common/messages/collectives.h"

#include "common/messages/calls.h"
#include "common/messages/exchange.h"
#include "common/messages/parts.h"
#include "common/messages/tree_calls.h"

#include <stdlib.h>

struct payload collective_part(const void *buffer, int count, MPI_Datatype type)
{
    return (struct payload){(void *)buffer, count, type};
}

struct payload collective_part_at(const void *buffer, MPI_Aint elements, int count,
                                  MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return collective_part((const char *)buffer + elements * extent, count, type);
}

bool collective_is_native(MPI_Comm user)
{
    if (!layer_is_open() || !layer_native_collectives())
        return false;
    if (user != MPI_COMM_WORLD)
        layer_refuse("a collective call of the library on another communicator", "MPI_COMM_WORLD");
    return true;
}

/* Where one rank has what goes to each, or comes from each. */
struct places {
    void *buffer;
    int count;         /* of each; where there are no counts */
    const int *counts; /* by rank; NULL */
    const int *displacements;
    MPI_Datatype type;
    const MPI_Datatype *types; /* by rank, the displacements in bytes then; NULL */
};

/* The same of each. */
static struct places equal(const void *buffer, int count, MPI_Datatype type)
{
    return (struct places){.buffer = (void *)buffer, .count = count, .type = type};
}

static struct places varying(const void *buffer, const int *counts, const int *displs,
                             MPI_Datatype type, const MPI_Datatype *types)
{
    return (struct places){.buffer = (void *)buffer,
                           .counts = counts,
                           .displacements = displs,
                           .type = type,
                           .types = types};
}

static struct payload place_of(const struct places *places, int rank)
{
    if (places->types)
        return collective_part((const char *)places->buffer + places->displacements[rank],
                               places->counts[rank], places->types[rank]);
    if (places->counts)
        return collective_part_at(places->buffer, places->displacements[rank], places->counts[rank],
                                  places->type);
    return collective_part_at(places->buffer, (MPI_Aint)rank * places->count, places->count,
                              places->type);
}

/* --- one to all ------------------------------------------------------------------------------- */

static int broadcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm user,
                     MPI_Request *request)
{
    int error;
    struct payload payload = collective_part(buffer, count, type);
    struct exchange *call = exchange_begin(user, root, &error);
    if (!call)
        return error;
    if (layer_has_trees()) {
        tree_multicast(call, root, payload);
        return exchange_end(call, request);
    }
    if (call->comm->rank != root)
        exchange_receive(call, root, payload);
    for (int i = 0; call->comm->rank == root && i < call->comm->size; i++)
        if (i != root)
            exchange_send(call, i, payload);
    return exchange_end(call, request);
}

LAYER_EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root,
                             MPI_Comm comm)
{
    if (collective_is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Bcast(buffer, count, datatype, root, comm);
    }
    return broadcast(buffer, count, datatype, root, comm, NULL);
}

LAYER_EXPORTED int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root,
                              MPI_Comm comm, MPI_Request *request)
{
    return broadcast(buffer, count, datatype, root, comm, request);
}

static int scatter(struct places places, struct payload mine, int root, MPI_Comm user,
                   MPI_Request *request)
{
    int error;
    struct exchange *call = exchange_begin(user, root, &error);
    if (!call)
        return error;
    bool stays = mine.buffer == MPI_IN_PLACE;
    for (int i = 0; call->comm->rank == root && i < call->comm->size; i++)
        if (i != root || !stays)
            exchange_send(call, i, place_of(&places, i));
    if (!stays)
        exchange_receive(call, root, mine);
    return exchange_end(call, request);
}

CALL(MPI_Scatter, MPI_Iscatter,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     scatter(equal(sendbuf, sendcount, sendtype), collective_part(recvbuf, recvcount, recvtype),
             root, comm, request))

CALL(MPI_Scatterv, MPI_Iscatterv,
     (const void *sendbuf, const int sendcounts[], const int displs[], MPI_Datatype sendtype,
      void *recvbuf, int recvcount, MPI_Datatype recvtype, int root),
     scatter(varying(sendbuf, sendcounts, displs, sendtype, NULL),
             collective_part(recvbuf, recvcount, recvtype), root, comm, request))

/* --- along trees ------------------------------------------------------------------------------ */

/* Everybody's data one after the other: a reduction, and where all get them a multicast. */
static int bring_together(struct exchange *call, int root, bool to_all, struct payload mine,
                          const struct places *in, MPI_Request *request)
{
    const struct layer_combining together = {.op = MPI_OP_NULL, .type = MPI_BYTE};
    struct comm *comm = call->comm;
    struct payload *place = NULL;
    int places = comm->rank == root || to_all ? comm->size : 0;
    if (places > 0)
        place = memory((size_t)places, sizeof *place);
    for (int i = 0; i < places; i++)
        place[i] = place_of(in, i);
    if (mine.buffer == MPI_IN_PLACE)
        mine = place[comm->rank];
    tree_reduce(call, root, to_all, mine, &together, place, places);
    return exchange_end(call, request);
}

/* --- all to one ------------------------------------------------------------------------------- */

static int gather(struct payload mine, struct places places, int root, MPI_Comm user,
                  MPI_Request *request)
{
    int error;
    struct exchange *call = exchange_begin(user, root, &error);
    if (!call)
        return error;
    if (layer_has_trees())
        return bring_together(call, root, false, mine, &places, request);
    bool stays = mine.buffer == MPI_IN_PLACE;
    if (!stays)
        exchange_send(call, root, mine);
    for (int i = 0; call->comm->rank == root && i < call->comm->size; i++)
        if (i != root || !stays)
            exchange_receive(call, i, place_of(&places, i));
    return exchange_end(call, request);
}

CALL(MPI_Gather, MPI_Igather,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype, int root),
     gather(collective_part(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype),
            root, comm, request))

CALL(MPI_Gatherv, MPI_Igatherv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int recvcounts[], const int displs[], MPI_Datatype recvtype, int root),
     gather(collective_part(sendbuf, sendcount, sendtype),
            varying(recvbuf, recvcounts, displs, recvtype, NULL), root, comm, request))

/* --- all to all ------------------------------------------------------------------------------- */

/* `mine`: what everybody gets; NULL: each has its own in `out`. All is sent, which copies it,
 * before anything is received: so both may be in one place. */
static int all_to_all(const struct payload *mine, struct places out, struct places in,
                      MPI_Comm user, MPI_Request *request)
{
    int error;
    struct exchange *call = exchange_begin(user, 0, &error);
    if (!call)
        return error;
    if (mine && layer_has_trees())
        return bring_together(call, 0, true, *mine, &in, request);
    if (!mine && out.buffer == MPI_IN_PLACE)
        out = in;
    struct payload same = mine ? *mine : collective_part(NULL, 0, MPI_BYTE);
    if (mine && same.buffer == MPI_IN_PLACE)
        same = place_of(&in, call->comm->rank);
    for (int i = 0; i < call->comm->size; i++)
        exchange_send(call, i, mine ? same : place_of(&out, i));
    for (int i = 0; i < call->comm->size; i++)
        exchange_receive(call, i, place_of(&in, i));
    return exchange_end(call, request);
}

static int all_gather(struct payload mine, struct places in, MPI_Comm user, MPI_Request *request)
{
    return all_to_all(&mine, in, in, user, request);
}

LAYER_EXPORTED int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    if (collective_is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    }
    return all_gather(collective_part(sendbuf, sendcount, sendtype),
                      equal(recvbuf, recvcount, recvtype), comm, NULL);
}

LAYER_EXPORTED int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                  void *recvbuf, int recvcount, MPI_Datatype recvtype,
                                  MPI_Comm comm, MPI_Request *request)
{
    return all_gather(collective_part(sendbuf, sendcount, sendtype),
                      equal(recvbuf, recvcount, recvtype), comm, request);
}

CALL(MPI_Allgatherv, MPI_Iallgatherv,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
      const int recvcounts[], const int displs[], MPI_Datatype recvtype),
     all_gather(collective_part(sendbuf, sendcount, sendtype),
                varying(recvbuf, recvcounts, displs, recvtype, NULL), comm, request))

CALL(MPI_Alltoall, MPI_Ialltoall,
     (const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf, int recvcount,
      MPI_Datatype recvtype),
     all_to_all(NULL, equal(sendbuf, sendcount, sendtype), equal(recvbuf, recvcount, recvtype),
                comm, request))

CALL(MPI_Alltoallv, MPI_Ialltoallv,
     (const void *sendbuf, const int sendcounts[], const int sdispls[], MPI_Datatype sendtype,
      void *recvbuf, const int recvcounts[], const int rdispls[], MPI_Datatype recvtype),
     all_to_all(NULL, varying(sendbuf, sendcounts, sdispls, sendtype, NULL),
                varying(recvbuf, recvcounts, rdispls, recvtype, NULL), comm, request))

CALL(MPI_Alltoallw, MPI_Ialltoallw,
     (const void *sendbuf, const int sendcounts[], const int sdispls[],
      const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[], const int rdispls[],
      const MPI_Datatype recvtypes[]),
     all_to_all(NULL, varying(sendbuf, sendcounts, sdispls, MPI_BYTE, sendtypes),
                varying(recvbuf, recvcounts, rdispls, MPI_BYTE, recvtypes), comm, request))

/* Every rank sends to every other, or learns along a tree that all have come. */
static int barrier(MPI_Comm comm, MPI_Request *request)
{
    struct places nothing = equal(NULL, 0, MPI_BYTE);
    struct payload mine = collective_part(NULL, 0, MPI_BYTE);
    return all_to_all(&mine, nothing, nothing, comm, request);
}

LAYER_EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    if (collective_is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Barrier(comm);
    }
    return barrier(comm, NULL);
}

LAYER_EXPORTED int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    return barrier(comm, request);
}

/* --- for the layer itself --------------------------------------------------------------------- */

void collective_exchange(struct comm *comm, const void *mine, size_t bytes, void *all)
{
    struct payload given = collective_part(mine, (int)bytes, MPI_BYTE);
    struct exchange *call = exchange_within(comm);
    for (int i = 0; i < comm->size; i++)
        exchange_send(call, i, given);
    for (int i = 0; i < comm->size; i++)
        exchange_receive(call, i,
                         collective_part((char *)all + (size_t)i * bytes, (int)bytes, MPI_BYTE));
    exchange_end(call, NULL);
}
