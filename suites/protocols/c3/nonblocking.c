/* See nonblocking.h, and the non-blocking forms of all collective calls.
 *
 * Data and control bits go by a non-blocking call of the library each, both started at once: so a
 * rank that does something else meanwhile holds nobody up. Where everybody stood is looked at when
 * the call is complete. Ranks do not wait for each other as in a blocking call, so a part that is
 * still to be taken in must keep its receiver from being ready to stop logging: each pair of ranks
 * that data flows between is a message in mySendCount, as in section 5.2 and 5.3 for blocking ones.
 */
#include "c3/nonblocking.h"

#include "c3/calls.h"
#include "c3/collective.h"
#include "c3/line.h"

#include <stdlib.h>

enum flow { FLOW_FROM_ROOT, FLOW_TO_ROOT, FLOW_AMONG_ALL };
enum { WIRE_DATA, WIRE_BITS, WIRES };

/* A call under way. */
struct started {
    struct collective call; /* its bits are behind this struct */
    enum flow flow;
    int root; /* of no use among all */
    bool to_wire;
    bool counts;         /* the others take part in it, as far as can be seen */
    bool taken;          /* its category has had its way */
    struct parts result; /* of no pieces: this rank gets nothing */
    struct again again;
    MPI_Request wire[WIRES];
    bits own;
    int error;
};

static size_t pending;

size_t nonblocking_pending(void)
{
    return pending;
}

/* --- starting --------------------------------------------------------------------------------- */

static struct started *room_for_call(const struct collective *call)
{
    struct started *one = memory(1, sizeof *one + (size_t)call->size);
    one->call = *call;
    one->call.bits = (bits *)(one + 1);
    one->to_wire = true;
    one->wire[WIRE_DATA] = one->wire[WIRE_BITS] = MPI_REQUEST_NULL;
    return one;
}

/* NULL: the communicator is bad, and the error is raised. */
static struct started *begin(MPI_Comm comm, enum flow flow, int root, const struct parts *result)
{
    struct collective call;
    if (!collective_begin(&call, comm))
        return NULL;
    struct started *one = room_for_call(&call);
    one->flow = flow;
    one->root = root;
    one->counts = flow == FLOW_AMONG_ALL || collective_has_root(&call, root);
    bool gets = flow == FLOW_AMONG_ALL || (flow == FLOW_TO_ROOT) == (call.rank == root);
    if (result && gets)
        one->result = *result;
    if (!one->counts)
        return one;
    if (gets)
        one->to_wire = !collective_replayed(&one->call, &one->result);
    else if (flow == FLOW_TO_ROOT)
        one->to_wire = !collective_suppressed(&one->call, root);
    return one;
}

/* The same for a result in as many pieces as there are ranks. */
static struct started *begin_pieces(MPI_Comm comm, enum flow flow, int root, struct parts *result)
{
    const struct handle *communicator = handles_of(comm);
    result->pieces = communicator ? communicator->size : 0;
    return begin(comm, flow, root, result);
}

static int start_bits(struct started *one)
{
    const struct collective *call = &one->call;
    MPI_Comm comm = call->communicator->hidden;
    MPI_Request *wire = &one->wire[WIRE_BITS];
    one->own = call->bits[call->rank] = bits_own();
    if (call->size == 1)
        return MPI_SUCCESS;
    switch (one->flow) {
    case FLOW_FROM_ROOT:
        return PMPI_Ibcast(&call->bits[one->root], 1, MPI_UNSIGNED_CHAR, one->root, comm, wire);
    case FLOW_TO_ROOT:
        return PMPI_Igather(&one->own, 1, MPI_UNSIGNED_CHAR, call->bits, 1, MPI_UNSIGNED_CHAR,
                            one->root, comm, wire);
    default:
        return PMPI_Iallgather(&one->own, 1, MPI_UNSIGNED_CHAR, call->bits, 1, MPI_UNSIGNED_CHAR,
                               comm, wire);
    }
}

/* What this rank gives is on its way, as a message is whose send has returned. */
static void count_as_sent(const struct started *one)
{
    bool is_root = one->flow != FLOW_AMONG_ALL && one->call.rank == one->root;
    if (one->flow == FLOW_AMONG_ALL || (one->flow == FLOW_FROM_ROOT && is_root))
        collective_was_sent(&one->call, MPI_SUCCESS);
    else if (one->flow == FLOW_TO_ROOT && !is_root)
        collective_was_sent_to_root(&one->call, one->root, MPI_SUCCESS);
}

/* The library has said `error` of the data. */
static int go_on(struct started *one, int error, MPI_Request *handle)
{
    if (error != MPI_SUCCESS || !one->counts) {
        if (error == MPI_SUCCESS)
            die("the library started a collective call with root %d of %d", one->root,
                one->call.size);
        free(one);
        return error;
    }
    if (one->to_wire) {
        if (start_bits(one) != MPI_SUCCESS)
            die("the control bits of a collective call cannot be sent");
        count_as_sent(one);
    }
    struct request *request = request_new(REQUEST_COLLECTIVE);
    request->communicator = one->call.communicator;
    request->collective = one;
    pending++;
    *handle = request_handle(request);
    return MPI_SUCCESS;
}

/* --- completion ------------------------------------------------------------------------------- */

static bool is_over(struct started *one)
{
    int over = 0;
    MPI_Status statuses[WIRES]; /* the compiler takes MPI_STATUSES_IGNORE for an array */
    one->error = PMPI_Testall(WIRES, one->wire, &over, statuses);
    return over || one->error != MPI_SUCCESS;
}

bool nonblocking_poll(struct request *request)
{
    if (!request->done)
        request->done = !request->collective->to_wire || is_over(request->collective);
    return request->done;
}

/* Nobody's part is suppressed or executed again without the others': those beyond the line have
 * the result in the log. */
static void count_as_received(const struct collective *call)
{
    for (int rank = 0; rank < call->size; rank++) {
        int world = world_rank(call->communicator, rank);
        if (rank == call->rank)
            continue;
        switch (bits_read(call->bits[rank]).crossing) {
        case CROSSING_LATE:
            self.previous[world]++;
            break;
        case CROSSING_EARLY:
            self.next[world]++;
            break;
        case CROSSING_INTRA:
            self.current[world]++;
            break;
        }
    }
}

void nonblocking_before(struct request *request)
{
    struct started *one = request->collective;
    bool is_root = one->call.rank == one->root;
    if (one->taken || !one->to_wire || one->error != MPI_SUCCESS)
        return;
    one->taken = true;
    if (one->flow == FLOW_AMONG_ALL) {
        count_as_received(&one->call);
        collective_was_exchanged(&one->call, &one->result, MPI_SUCCESS);
    } else if (one->flow == FLOW_FROM_ROOT && !is_root) {
        collective_came_from_root(&one->call, one->root, &one->result, &one->again, MPI_SUCCESS);
    } else if (one->flow == FLOW_TO_ROOT && is_root) {
        collective_came_from_all(&one->call, &one->result, MPI_SUCCESS);
    }
}

int nonblocking_hand_over(struct request *request)
{
    int error = request->collective->error;
    free(request->collective);
    request->collective = NULL;
    pending--;
    return error;
}

/* --- from the root to all --------------------------------------------------------------------- */

static struct again again_of(struct started *one, enum again_kind kind, int root, int count,
                             MPI_Datatype type)
{
    return (struct again){kind, one->call.communicator, root, count, type, again_next()};
}

EXPORTED int MPI_Ibcast(void *buffer, int count, MPI_Datatype datatype, int root, MPI_Comm comm,
                        MPI_Request *request)
{
    struct parts result = one_part(buffer, count, datatype);
    struct started *one = begin(comm, FLOW_FROM_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    one->again = again_of(one, AGAIN_IBCAST, root, count, datatype);
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ibcast(buffer, count, datatype, root, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Iscatter(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                          MPI_Request *request)
{
    struct parts result = one_part(recvbuf, recvcount, recvtype);
    struct started *one = begin(comm, FLOW_FROM_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    one->again = again_of(one, AGAIN_ISCATTER, root, recvcount, recvtype);
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iscatter(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                              one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Iscatterv(const void *sendbuf, const int sendcounts[], const int displs[],
                           MPI_Datatype sendtype, void *recvbuf, int recvcount,
                           MPI_Datatype recvtype, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = one_part(recvbuf, recvcount, recvtype);
    struct started *one = begin(comm, FLOW_FROM_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    one->again = again_of(one, AGAIN_ISCATTERV, root, recvcount, recvtype);
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iscatterv(sendbuf, sendcounts, displs, sendtype, recvbuf, recvcount, recvtype,
                               root, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

/* --- from all to the root --------------------------------------------------------------------- */

EXPORTED int MPI_Igather(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                         int recvcount, MPI_Datatype recvtype, int root, MPI_Comm comm,
                         MPI_Request *request)
{
    struct parts result = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_TO_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Igather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype, root,
                             one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Igatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                          const int recvcounts[], const int displs[], MPI_Datatype recvtype,
                          int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = displs, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_TO_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Igatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs, recvtype,
                              root, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ireduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, int root, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = one_part(recvbuf, count, datatype);
    struct started *one = begin(comm, FLOW_TO_ROOT, root, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ireduce(sendbuf, recvbuf, count, datatype, op, root, one->call.real,
                             &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

/* --- from all to all -------------------------------------------------------------------------- */

EXPORTED int MPI_Iallgather(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                            void *recvbuf, int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    struct parts result = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iallgather(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                                one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Iallgatherv(const void *sendbuf, int sendcount, MPI_Datatype sendtype,
                             void *recvbuf, const int recvcounts[], const int displs[],
                             MPI_Datatype recvtype, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = displs, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iallgatherv(sendbuf, sendcount, sendtype, recvbuf, recvcounts, displs,
                                 recvtype, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ialltoall(const void *sendbuf, int sendcount, MPI_Datatype sendtype, void *recvbuf,
                           int recvcount, MPI_Datatype recvtype, MPI_Comm comm,
                           MPI_Request *request)
{
    struct parts result = {.buffer = recvbuf, .length = recvcount, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ialltoall(sendbuf, sendcount, sendtype, recvbuf, recvcount, recvtype,
                               one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ialltoallv(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            MPI_Datatype sendtype, void *recvbuf, const int recvcounts[],
                            const int rdispls[], MPI_Datatype recvtype, MPI_Comm comm,
                            MPI_Request *request)
{
    struct parts result = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = rdispls, .type = recvtype};
    struct started *one = begin_pieces(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ialltoallv(sendbuf, sendcounts, sdispls, sendtype, recvbuf, recvcounts,
                                rdispls, recvtype, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ialltoallw(const void *sendbuf, const int sendcounts[], const int sdispls[],
                            const MPI_Datatype sendtypes[], void *recvbuf, const int recvcounts[],
                            const int rdispls[], const MPI_Datatype recvtypes[], MPI_Comm comm,
                            MPI_Request *request)
{
    struct parts result = {
        .buffer = recvbuf, .lengths = recvcounts, .offsets = rdispls, .types = recvtypes};
    struct started *one = begin_pieces(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ialltoallw(sendbuf, sendcounts, sdispls, sendtypes, recvbuf, recvcounts,
                                rdispls, recvtypes, one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Iallreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                            MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = one_part(recvbuf, count, datatype);
    struct started *one = begin(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iallreduce(sendbuf, recvbuf, count, datatype, op, one->call.real,
                                &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ireduce_scatter(const void *sendbuf, void *recvbuf, const int recvcounts[],
                                 MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                 MPI_Request *request)
{
    struct handle *communicator = handles_of(comm);
    struct parts result =
        one_part(recvbuf, communicator ? recvcounts[communicator->rank] : 0, datatype);
    struct started *one = begin(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ireduce_scatter(sendbuf, recvbuf, recvcounts, datatype, op, one->call.real,
                                     &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Ireduce_scatter_block(const void *sendbuf, void *recvbuf, int recvcount,
                                       MPI_Datatype datatype, MPI_Op op, MPI_Comm comm,
                                       MPI_Request *request)
{
    struct parts result = one_part(recvbuf, recvcount, datatype);
    struct started *one = begin(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Ireduce_scatter_block(sendbuf, recvbuf, recvcount, datatype, op,
                                           one->call.real, &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

EXPORTED int MPI_Iscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                       MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct parts result = one_part(recvbuf, count, datatype);
    struct started *one = begin(comm, FLOW_AMONG_ALL, 0, &result);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iscan(sendbuf, recvbuf, count, datatype, op, one->call.real,
                           &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

/* The lowest rank gets nothing. */
EXPORTED int MPI_Iexscan(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype,
                         MPI_Op op, MPI_Comm comm, MPI_Request *request)
{
    struct handle *communicator = handles_of(comm);
    struct parts result = one_part(recvbuf, count, datatype);
    bool gets = communicator && communicator->rank > 0;
    struct started *one = begin(comm, FLOW_AMONG_ALL, 0, gets ? &result : NULL);
    if (!one)
        return MPI_ERR_COMM;
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = PMPI_Iexscan(sendbuf, recvbuf, count, datatype, op, one->call.real,
                             &one->wire[WIRE_DATA]);
    return go_on(one, error, request);
}

/* A barrier is a potential checkpoint, for which a rank that does not wait cannot be held. */
EXPORTED int MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    (void)comm;
    (void)request;
    call_begin_anywhere();
    refuse("MPI_Ibarrier", "MPI_Barrier, and other collective calls that do not block");
}

/* --- again ------------------------------------------------------------------------------------ */

/* A listed call that was started at recovery. */
struct repeated {
    struct repeated *next;
    struct started *started;
    char *buffer; /* owned */
};

static struct repeated *repeated;

static int start_again(struct started *one, const struct again *again, void *buffer)
{
    MPI_Request *wire = &one->wire[WIRE_DATA];
    MPI_Comm comm = one->call.real;
    switch (again->kind) {
    case AGAIN_IBCAST:
        return PMPI_Ibcast(buffer, again->count, again->type, again->root, comm, wire);
    case AGAIN_ISCATTER:
        return PMPI_Iscatter(NULL, 0, MPI_BYTE, buffer, again->count, again->type, again->root,
                             comm, wire);
    default:
        return PMPI_Iscatterv(NULL, NULL, NULL, MPI_BYTE, buffer, again->count, again->type,
                              again->root, comm, wire);
    }
}

void nonblocking_again(const struct again *again)
{
    struct collective call;
    struct repeated *one = memory(1, sizeof *one);
    void *buffer = room_for(again->count, again->type, &one->buffer);
    collective_begin_again(&call, again->communicator);
    one->started = room_for_call(&call);
    one->started->flow = FLOW_FROM_ROOT;
    one->started->root = again->root;
    if (start_again(one->started, again, buffer) != MPI_SUCCESS ||
        start_bits(one->started) != MPI_SUCCESS)
        die("a collective call of before the checkpoint cannot be done again");
    one->next = repeated;
    repeated = one;
}

void nonblocking_again_finish(void)
{
    while (repeated) {
        struct repeated *one = repeated;
        while (!is_over(one->started))
            line_progress();
        repeated = one->next;
        free(one->buffer);
        free(one->started);
        free(one);
    }
}
