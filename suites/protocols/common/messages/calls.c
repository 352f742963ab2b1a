/* Sends and receives. A send is complete when its data are copied, a synchronous one when it was
 * matched; a receive's data go to their place when the program learns that it is complete. */
#include "common/messages/calls.h"

#include "common/base/sends.h"
#include "common/messages/exchange.h"

#include <limits.h>
#include <stdlib.h>

void call_begin_anywhere(void)
{
    if (!layer_is_open())
        die("an MPI call outside MPI_Init and MPI_Finalize");
    steps_poll();
}

int call_error(int error)
{
    PMPI_Comm_call_errhandler(LAYER_HAS_HANDLER, error);
    return error;
}

struct comm *call_begin(MPI_Comm user)
{
    call_begin_anywhere();
    struct comm *comm = comm_of(user);
    if (!comm)
        call_error(MPI_ERR_COMM);
    return comm;
}

int call_check(const struct comm *comm, int peer, int tag, const struct payload *payload,
               bool receives)
{
    if (payload->count < 0)
        return call_error(MPI_ERR_COUNT);
    if (payload->type == MPI_DATATYPE_NULL)
        return call_error(MPI_ERR_TYPE);
    bool any = receives && peer == MPI_ANY_SOURCE;
    if (peer != MPI_PROC_NULL && !any && (peer < 0 || peer >= comm->size))
        return call_error(MPI_ERR_RANK);
    if (tag < 0 && !(receives && tag == MPI_ANY_TAG))
        return call_error(MPI_ERR_TAG);
    return MPI_SUCCESS;
}

/* --- one request ------------------------------------------------------------------------------ */

void call_send(struct request *send)
{
    send->active = true;
    send->done = send->mode != SEND_SYNCHRONOUS || send->peer == MPI_PROC_NULL;
    if (send->peer == MPI_PROC_NULL)
        return;
    int to = send->comm->world[send->peer];
    struct packet *packet = packet_new(payload_bytes(&send->payload));
    packet->head.comm = send->comm->id;
    packet->head.source = send->comm->rank;
    packet->head.tag = send->tag;
    packet->head.kind = send->packet_kind;
    packet->head.synchronous = send->mode == SEND_SYNCHRONOUS;
    if (payload_pack(&send->payload, packet->data) != MPI_SUCCESS)
        die("a message to rank %d cannot be packed", send->peer);
    send->sent_as = steps_next_number(to);
    steps_send(packet, to);
}

void call_receive(struct request *receive)
{
    receive->active = true;
    receive->done = receive->peer == MPI_PROC_NULL;
    receive->cancelled = false;
    if (!receive->done)
        matching_post(receive);
}

static bool is_done(void *context)
{
    return ((struct request *)context)->done;
}

void call_finish(struct request *request)
{
    steps_wait(is_done, request);
}

void call_foretell(const struct request *request, MPI_Status *status)
{
    if (request->kind == REQUEST_SEND || request->kind == REQUEST_COLLECTIVE ||
        request->cancelled) {
        status_empty(status);
        if (request->cancelled && status != MPI_STATUS_IGNORE)
            PMPI_Status_set_cancelled(status, 1);
    } else if (request->peer == MPI_PROC_NULL) {
        status_fill(status, MPI_PROC_NULL, MPI_ANY_TAG, 0, false);
    } else {
        uint64_t room = payload_bytes(&request->payload), bytes = request->packet->head.bytes;
        status_fill(status, request->packet->head.source, request->packet->head.tag,
                    bytes < room ? bytes : room, false);
    }
}

static int put_in_place(struct request *request)
{
    struct packet *packet = request->packet;
    uint64_t room = payload_bytes(&request->payload), bytes = packet->head.bytes;
    if (request->lost_buffer)
        layer_refuse("a receive from before a potential checkpoint whose buffer is not in "
                     "registered state",
                     "buffers that lie in one registered piece");
    int error = payload_unpack(&request->payload, packet->data, bytes < room ? bytes : room);
    layer_handed_over(packet);
    packet_drop(packet);
    request->packet = NULL;
    if (error == MPI_SUCCESS && bytes > room)
        error = MPI_ERR_TRUNCATE;
    return error == MPI_SUCCESS ? error : call_error(error);
}

int call_hand_over(struct request *request, MPI_Status *status)
{
    call_foretell(request, status);
    request->active = false;
    if (request->exchange)
        return exchange_hand_over(request);
    return request->packet ? put_in_place(request) : MPI_SUCCESS;
}

/* --- sends ------------------------------------------------------------------------------------ */

static int start_send(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                      MPI_Comm user, enum send_mode mode, struct request **send)
{
    struct payload payload = {(void *)buffer, count, type};
    layer_begin_sending();
    struct comm *comm = call_begin(user);
    int error = comm ? call_check(comm, peer, tag, &payload, false) : MPI_ERR_COMM;
    if (error == MPI_SUCCESS) {
        *send = request_new(REQUEST_SEND, comm, peer, tag, &payload);
        (*send)->mode = mode;
        call_send(*send);
    }
    layer_end_sending();
    return error;
}

static int send_now(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, enum send_mode mode)
{
    struct request *send;
    int error = start_send(buffer, count, type, peer, tag, comm, mode, &send);
    if (error != MPI_SUCCESS)
        return error;
    call_finish(send);
    error = call_hand_over(send, MPI_STATUS_IGNORE);
    request_free(send);
    return error;
}

static int isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 enum send_mode mode, MPI_Request *handle)
{
    struct request *send;
    int error = start_send(buffer, count, type, peer, tag, comm, mode, &send);
    if (error == MPI_SUCCESS)
        *handle = request_handle(send);
    return error;
}

SENDS(LAYER_EXPORTED, MPI_Send, send_now, SEND_STANDARD)
SENDS(LAYER_EXPORTED, MPI_Ssend, send_now, SEND_SYNCHRONOUS)
SENDS(LAYER_EXPORTED, MPI_Bsend, send_now, SEND_BUFFERED)
/* A ready send may be a standard one. */
SENDS(LAYER_EXPORTED, MPI_Rsend, send_now, SEND_STANDARD)

REQUESTS_SEND(LAYER_EXPORTED, MPI_Isend, isend, SEND_STANDARD)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Issend, isend, SEND_SYNCHRONOUS)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Ibsend, isend, SEND_BUFFERED)
REQUESTS_SEND(LAYER_EXPORTED, MPI_Irsend, isend, SEND_STANDARD)

/* --- receives --------------------------------------------------------------------------------- */

static int start_receive(void *buffer, int count, MPI_Datatype type, int peer, int tag,
                         MPI_Comm user, struct request **receive)
{
    struct payload payload = {buffer, count, type};
    struct comm *comm = call_begin(user);
    int error = comm ? call_check(comm, peer, tag, &payload, true) : MPI_ERR_COMM;
    if (error != MPI_SUCCESS)
        return error;
    *receive = request_new(REQUEST_RECEIVE, comm, peer, tag, &payload);
    call_receive(*receive);
    return MPI_SUCCESS;
}

static int finish_and_free(struct request *request, MPI_Status *status)
{
    call_finish(request);
    int error = call_hand_over(request, status);
    request_free(request);
    return error;
}

LAYER_EXPORTED int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                            MPI_Comm comm, MPI_Status *status)
{
    struct request *receive;
    int error = start_receive(buf, count, datatype, source, tag, comm, &receive);
    return error == MPI_SUCCESS ? finish_and_free(receive, status) : error;
}

LAYER_EXPORTED int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                             MPI_Comm comm, MPI_Request *request)
{
    struct request *receive;
    int error = start_receive(buf, count, datatype, source, tag, comm, &receive);
    if (error == MPI_SUCCESS)
        *request = request_handle(receive);
    return error;
}

/* The send is started after the receive, and its data are copied then: so the buffers of
 * MPI_Sendrecv_replace may be one. */
LAYER_EXPORTED int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                                int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                                int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct payload out = {(void *)sendbuf, sendcount, sendtype};
    struct payload in = {recvbuf, recvcount, recvtype};
    struct request *receive = NULL;
    layer_begin_sending();
    struct comm *where = call_begin(comm);
    int error = where ? call_check(where, dest, sendtag, &out, false) : MPI_ERR_COMM;
    if (error == MPI_SUCCESS)
        error = call_check(where, source, recvtag, &in, true);
    if (error == MPI_SUCCESS) {
        receive = request_new(REQUEST_RECEIVE, where, source, recvtag, &in);
        struct request *send = request_new(REQUEST_SEND, where, dest, sendtag, &out);
        call_receive(receive);
        call_send(send);
        request_free(send);
    }
    layer_end_sending();
    return receive ? finish_and_free(receive, status) : error;
}

LAYER_EXPORTED int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest,
                                        int sendtag, int source, int recvtag, MPI_Comm comm,
                                        MPI_Status *status)
{
    return MPI_Sendrecv(buf, count, datatype, dest, sendtag, buf, count, datatype, source, recvtag,
                        comm, status);
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* Nothing is put into it: every send is copied. */
static struct {
    void *buffer;
    int bytes;
} attached;

LAYER_EXPORTED int MPI_Buffer_attach(void *buffer, int size)
{
    call_begin_anywhere();
    if (attached.buffer)
        return call_error(MPI_ERR_BUFFER);
    attached.buffer = buffer;
    attached.bytes = size;
    return MPI_SUCCESS;
}

LAYER_EXPORTED int MPI_Buffer_detach(void *buffer_addr, int *size)
{
    call_begin_anywhere();
    *(void **)buffer_addr = attached.buffer;
    *size = attached.bytes;
    attached.buffer = NULL;
    attached.bytes = 0;
    return MPI_SUCCESS;
}
