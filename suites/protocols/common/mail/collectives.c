/* See collectives.h. All are linear, through their root or from each to each: the point is what a
 * line does to them, not their speed. */
#include "common/mail/collectives.h"

#include "common/mail/calls.h"

#include <stdlib.h>
#include <string.h>

/* One part of a call: data of one rank, in this process. */
static struct payload part(const void *buffer, int count, MPI_Datatype type)
{
    return (struct payload){(void *)buffer, count, type};
}

/* The i-th of several that lie `count` elements apart. */
static struct payload part_at(const void *buffer, MPI_Aint elements, int count, MPI_Datatype type)
{
    MPI_Aint low, extent;
    PMPI_Type_get_extent(type, &low, &extent);
    return part((const char *)buffer + elements * extent, count, type);
}

static void send_to(struct comm *comm, int to, struct payload payload)
{
    struct request *send = request_new(REQUEST_SEND, comm, to, 0, &payload);
    send->packet_kind = PACKET_COLLECTIVE;
    call_send(send);
    request_free(send);
}

static int receive_from(struct comm *comm, int from, struct payload payload)
{
    struct request *receive = request_new(REQUEST_RECEIVE, comm, from, 0, &payload);
    receive->packet_kind = PACKET_COLLECTIVE;
    call_receive(receive);
    call_finish(receive);
    int error = call_hand_over(receive, MPI_STATUS_IGNORE);
    request_free(receive);
    return error;
}

static void keep_first(int *error, int next)
{
    if (*error == MPI_SUCCESS)
        *error = next;
}

/* From one place of this process to another, whatever their types. */
static int move(struct payload from, struct payload to)
{
    uint64_t bytes = payload_bytes(&from), room = payload_bytes(&to);
    void *row = malloc(bytes ? bytes : 1);
    if (!row)
        mail_die("out of memory for a collective call of %llu bytes", (unsigned long long)bytes);
    int error = payload_pack(&from, row);
    if (error == MPI_SUCCESS)
        error = payload_unpack(&to, row, bytes < room ? bytes : room);
    free(row);
    return error == MPI_SUCCESS ? error : call_error(error);
}

void collective_exchange(struct comm *comm, const void *mine, size_t bytes, void *all)
{
    int count = (int)bytes;
    for (int i = 0; i < comm->size; i++)
        send_to(comm, i, part(mine, count, MPI_BYTE));
    for (int i = 0; i < comm->size; i++)
        receive_from(comm, i, part((char *)all + (size_t)i * bytes, count, MPI_BYTE));
}

static int check_root(const struct comm *comm, int root)
{
    return root >= 0 && root < comm->size ? MPI_SUCCESS : call_error(MPI_ERR_ROOT);
}

/* What a call needs to begin; NULL: *error says why not. */
static struct comm *begin(MPI_Comm user, int root, int *error)
{
    struct comm *comm = call_begin(user);
    *error = comm ? check_root(comm, root) : MPI_ERR_COMM;
    return *error == MPI_SUCCESS ? comm : NULL;
}

/* The library does it, below the channels: see mail_protocol.native_collectives. */
static bool is_native(MPI_Comm user)
{
    if (!mail_is_open() || !mail_native_collectives())
        return false;
    if (user != MPI_COMM_WORLD)
        mail_refuse("a collective call of the library on another communicator", "MPI_COMM_WORLD");
    return true;
}

/* --- one to all ------------------------------------------------------------------------------- */

static int broadcast(struct comm *comm, int root, struct payload payload)
{
    if (comm->rank != root)
        return receive_from(comm, root, payload);
    for (int i = 0; i < comm->size; i++)
        if (i != root)
            send_to(comm, i, payload);
    return MPI_SUCCESS;
}

MAIL_EXPORTED int MPI_Bcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
    int error;
    if (is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Bcast(buffer, count, datatype, root, comm);
    }
    struct comm *it = begin(comm, root, &error);
    return it ? broadcast(it, root, part(buffer, count, datatype)) : error;
}

/* --- all to one ------------------------------------------------------------------------------- */

/* Where the root puts what comes from each. counts NULL: `count` each. */
struct places {
    void *buffer;
    int count;
    const int *counts;
    const int *displacements;
    MPI_Datatype type;
};

static struct payload place_of(const struct places *places, int rank)
{
    if (places->counts)
        return part_at(places->buffer, places->displacements[rank], places->counts[rank],
                       places->type);
    return part_at(places->buffer, (MPI_Aint)rank * places->count, places->count, places->type);
}

static int gather(struct comm *comm, int root, const struct payload *mine,
                  const struct places *places)
{
    int error = MPI_SUCCESS;
    if (comm->rank != root) {
        send_to(comm, root, *mine);
        return MPI_SUCCESS;
    }
    for (int i = 0; i < comm->size; i++)
        if (i != root)
            keep_first(&error, receive_from(comm, i, place_of(places, i)));
        else if (mine->buffer != MPI_IN_PLACE)
            keep_first(&error, move(*mine, place_of(places, i)));
    return error;
}

MAIL_EXPORTED int MPI_Gather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                             MPI_Comm comm)
{
    int error;
    struct comm *it = begin(comm, root, &error);
    struct payload mine = part(sendbuf, sendcount, sendtype);
    struct places places = {recvbuf, recvcount, NULL, NULL, recvtype};
    return it ? gather(it, root, &mine, &places) : error;
}

MAIL_EXPORTED int MPI_Gatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, const int recvcounts[], const int displs[],
                              MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int error;
    struct comm *it = begin(comm, root, &error);
    struct payload mine = part(sendbuf, sendcount, sendtype);
    struct places places = {recvbuf, 0, recvcounts, displs, recvtype};
    return it ? gather(it, root, &mine, &places) : error;
}

static int scatter(struct comm *comm, int root, const struct places *places,
                   const struct payload *mine)
{
    if (comm->rank != root)
        return receive_from(comm, root, *mine);
    for (int i = 0; i < comm->size; i++)
        if (i != root)
            send_to(comm, i, place_of(places, i));
    return mine->buffer == MPI_IN_PLACE ? MPI_SUCCESS : move(place_of(places, root), *mine);
}

MAIL_EXPORTED int MPI_Scatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                              void *recvbuf, int recvcount, MPI_Datatype recvtype, int root,
                              MPI_Comm comm)
{
    int error;
    struct comm *it = begin(comm, root, &error);
    struct payload mine = part(recvbuf, recvcount, recvtype);
    struct places places = {(void *)sendbuf, sendcount, NULL, NULL, sendtype};
    return it ? scatter(it, root, &places, &mine) : error;
}

MAIL_EXPORTED int MPI_Scatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                               MPI_Datatype sendtype, void *recvbuf, int recvcount,
                               MPI_Datatype recvtype, int root, MPI_Comm comm)
{
    int error;
    struct comm *it = begin(comm, root, &error);
    struct payload mine = part(recvbuf, recvcount, recvtype);
    struct places places = {(void *)sendbuf, 0, sendcounts, displs, sendtype};
    return it ? scatter(it, root, &places, &mine) : error;
}

/* --- all to all ------------------------------------------------------------------------------- */

static int all_gather(struct comm *comm, struct payload mine, const struct places *places)
{
    int error = MPI_SUCCESS;
    if (mine.buffer == MPI_IN_PLACE)
        mine = place_of(places, comm->rank);
    for (int i = 0; i < comm->size; i++)
        send_to(comm, i, mine);
    for (int i = 0; i < comm->size; i++)
        keep_first(&error, receive_from(comm, i, place_of(places, i)));
    return error;
}

MAIL_EXPORTED int MPI_Allgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int error;
    struct places places = {recvbuf, recvcount, NULL, NULL, recvtype};
    if (is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Allgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, comm);
    }
    struct comm *it = begin(comm, 0, &error);
    return it ? all_gather(it, part(sendbuf, sendcount, sendtype), &places) : error;
}

MAIL_EXPORTED int MPI_Allgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                                 void *recvbuf, const int recvcounts[], const int displs[],
                                 MPI_Datatype recvtype, MPI_Comm comm)
{
    int error;
    struct places places = {recvbuf, 0, recvcounts, displs, recvtype};
    struct comm *it = begin(comm, 0, &error);
    return it ? all_gather(it, part(sendbuf, sendcount, sendtype), &places) : error;
}

/* All is sent, which copies it, before anything is received: so both may be in one place. */
static int all_to_all(struct comm *comm, const struct places *out, const struct places *in)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < comm->size; i++)
        send_to(comm, i, place_of(out->buffer == MPI_IN_PLACE ? in : out, i));
    for (int i = 0; i < comm->size; i++)
        keep_first(&error, receive_from(comm, i, place_of(in, i)));
    return error;
}

MAIL_EXPORTED int MPI_Alltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                               void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
    int error;
    struct places out = {(void *)sendbuf, sendcount, NULL, NULL, sendtype};
    struct places in = {recvbuf, recvcount, NULL, NULL, recvtype};
    struct comm *it = begin(comm, 0, &error);
    return it ? all_to_all(it, &out, &in) : error;
}

MAIL_EXPORTED int MPI_Alltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                                MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                                const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm)
{
    int error;
    struct places out = {(void *)sendbuf, 0, sendcounts, sdispls, sendtype};
    struct places in = {recvbuf, 0, recvcounts, rdispls, recvtype};
    struct comm *it = begin(comm, 0, &error);
    return it ? all_to_all(it, &out, &in) : error;
}

/* Everybody has come when the first member has heard of all. */
MAIL_EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    int error;
    if (is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Barrier(comm);
    }
    struct comm *it = begin(comm, 0, &error);
    if (!it)
        return error;
    const struct payload nothing = part(NULL, 0, MPI_BYTE);
    const struct places places = {NULL, 0, NULL, NULL, MPI_BYTE};
    gather(it, 0, &nothing, &places);
    return broadcast(it, 0, nothing);
}

/* --- reductions ------------------------------------------------------------------------------- */

/* Room for `count` elements of any type, and where element 0 lies in it. */
struct room {
    void *memory; /* owned */
    void *first;
};

static struct room room_for(int count, MPI_Datatype type)
{
    MPI_Aint low, extent, true_low, true_extent;
    struct room room;
    PMPI_Type_get_extent(type, &low, &extent);
    PMPI_Type_get_true_extent(type, &true_low, &true_extent);
    size_t bytes = (size_t)(true_extent + (count > 0 ? count - 1 : 0) * extent);
    room.memory = calloc(1, bytes ? bytes : 1);
    if (!room.memory)
        mail_die("out of memory for a reduction of %d elements", count);
    room.first = (char *)room.memory - true_low;
    return room;
}

/* What one rank gives. */
static int take_part(struct comm *comm, int rank, const struct payload *mine, struct room *room)
{
    *room = room_for(mine->count, mine->type);
    struct payload into = part(room->first, mine->count, mine->type);
    return rank == comm->rank ? move(*mine, into) : receive_from(comm, rank, into);
}

struct reduction {
    MPI_Op op;
    int count;
    MPI_Datatype type;
};

/* room[to] becomes room[at] op room[at + 1], which go. */
static void combine(const struct reduction *it, struct room *room, int at, int to)
{
    struct room left = room[at], right = room[at + 1];
    /* inoutvec becomes invec op inoutvec */
    PMPI_Reduce_local(left.first, right.first, it->count, it->type, it->op);
    free(left.memory);
    room[to] = right;
}

/* All into room[0], neighbours with neighbours, as recursive doubling does it: of a number of ranks
 * that is no power of 2 the first ones go together until there are as many as one. MPICH reduces
 * few elements so; then the program gets its rounding with this layer as without. */
static void combine_all(const struct reduction *it, struct room *room, int ranks)
{
    int power = 1, left = 0;
    while (power <= ranks / 2)
        power *= 2;
    int pairs = ranks - power;
    for (int i = 0; i < ranks; left++)
        if (i < 2 * pairs) {
            combine(it, room, i, left);
            i += 2;
        } else {
            room[left] = room[i++];
        }
    for (; left > 1; left /= 2)
        for (int i = 0; i < left / 2; i++)
            combine(it, room, 2 * i, i);
}

static int reduce(struct comm *comm, int root, struct payload mine, void *result, MPI_Op op)
{
    int error = MPI_SUCCESS;
    if (comm->rank != root) {
        send_to(comm, root, mine);
        return MPI_SUCCESS;
    }
    struct room *room = calloc((size_t)comm->size, sizeof *room);
    if (!room)
        mail_die("out of memory for a reduction over %d ranks", comm->size);
    for (int i = 0; i < comm->size; i++)
        keep_first(&error, take_part(comm, i, &mine, &room[i]));
    combine_all(&(struct reduction){op, mine.count, mine.type}, room, comm->size);
    keep_first(&error, move(part(room[0].first, mine.count, mine.type),
                            part(result, mine.count, mine.type)));
    free(room[0].memory);
    free(room);
    return error;
}

MAIL_EXPORTED int MPI_Reduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                             MPI_Op op, int root, MPI_Comm comm)
{
    int error;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    struct comm *it = begin(comm, root, &error);
    return it ? reduce(it, root, part(mine, count, datatype), recvbuf, op) : error;
}

MAIL_EXPORTED int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count,
                                MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
    int error;
    const void *mine = sendbuf == MPI_IN_PLACE ? recvbuf : sendbuf;
    if (is_native(comm)) {
        call_begin_anywhere();
        return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
    }
    struct comm *it = begin(comm, 0, &error);
    if (!it)
        return error;
    error = reduce(it, 0, part(mine, count, datatype), recvbuf, op);
    keep_first(&error, broadcast(it, 0, part(recvbuf, count, datatype)));
    return error;
}
