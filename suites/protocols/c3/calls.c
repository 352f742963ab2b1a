/* See calls.h; and the blocking and non-blocking sends and receives. */
#include "c3/calls.h"

#include "c3/buffered.h"
#include "c3/line.h"
#include "common/base/sends.h"

#include <stdlib.h>

struct handle *call_begin(MPI_Comm comm)
{
    call_begin_anywhere();
    struct handle *communicator = handles_of(comm);
    if (!communicator)
        PMPI_Comm_call_errhandler(MPI_COMM_WORLD, MPI_ERR_COMM);
    return communicator;
}

void call_begin_anywhere(void)
{
    if (!self.started)
        die("an MPI call outside MPI_Init and MPI_Finalize");
    line_progress();
    detached_poll();
}

int call_error(const struct handle *communicator, int error)
{
    PMPI_Comm_call_errhandler(communicator->real, error);
    return error;
}

int call_check(const struct arguments *arguments)
{
    if (!arguments->communicator)
        return MPI_ERR_COMM;
    if (arguments->count < 0)
        return call_error(arguments->communicator, MPI_ERR_COUNT);
    if (arguments->type == MPI_DATATYPE_NULL)
        return call_error(arguments->communicator, MPI_ERR_TYPE);
    return MPI_SUCCESS;
}

int call_check_sought(const struct handle *communicator, int source, int tag)
{
    if (source != MPI_ANY_SOURCE && (source < 0 || source >= communicator->size))
        return call_error(communicator, MPI_ERR_RANK);
    if (tag != MPI_ANY_TAG && tag < 0)
        return call_error(communicator, MPI_ERR_TAG);
    return MPI_SUCCESS;
}

static struct request *make(const struct arguments *arguments, enum request_kind kind)
{
    struct request *request = request_new(kind);
    request->payload = (struct payload){arguments->buffer, arguments->count, arguments->type};
    request->peer = arguments->peer;
    request->tag = arguments->tag;
    request->communicator = arguments->communicator;
    return request;
}

struct request *call_send(const struct arguments *arguments, enum send_mode mode)
{
    struct request *request = make(arguments, REQUEST_SEND);
    request->mode = mode;
    return request;
}

struct request *call_receive(const struct arguments *arguments)
{
    return make(arguments, REQUEST_RECEIVE);
}

int call_complete(struct request *request, MPI_Status *status)
{
    transfer_finish(request);
    transfer_before(request);
    int error = transfer_hand_over(request, status);
    request_free(request);
    return error;
}

/* --- blocking --------------------------------------------------------------------------------- */

static int send_now(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                    MPI_Comm comm, enum send_mode mode)
{
    struct arguments arguments = {(void *)buffer, count, type, peer, tag, call_begin(comm)};
    int error = call_check(&arguments);
    if (error != MPI_SUCCESS)
        return error;
    struct request *request = call_send(&arguments, mode);
    error = mode == SEND_BUFFERED ? buffered_send(request) : transfer_send(request);
    if (error == MPI_SUCCESS && mode == SEND_BUFFERED)
        return MPI_SUCCESS;
    if (error == MPI_SUCCESS) {
        self.in_send = true;
        error = call_complete(request, MPI_STATUS_IGNORE);
        self.in_send = false;
        return error;
    }
    request_free(request);
    return error;
}

SENDS(EXPORTED, MPI_Send, send_now, SEND_STANDARD)
SENDS(EXPORTED, MPI_Ssend, send_now, SEND_SYNCHRONOUS)
SENDS(EXPORTED, MPI_Bsend, send_now, SEND_BUFFERED)
/* A ready send may be a standard one. In recovery it has to be: a receive may be posted later. */
SENDS(EXPORTED, MPI_Rsend, send_now, SEND_STANDARD)

EXPORTED int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                      MPI_Comm comm, MPI_Status *status)
{
    struct arguments arguments = {buf, count, datatype, source, tag, call_begin(comm)};
    int error = call_check(&arguments);
    if (error != MPI_SUCCESS)
        return error;
    struct request *request = call_receive(&arguments);
    error = transfer_receive(request);
    if (error == MPI_SUCCESS)
        return call_complete(request, status);
    request_free(request);
    return error;
}

/* Both halves are under way before one is waited for. */
static int exchange(struct request *send, struct request *receive, MPI_Status *status)
{
    int error = transfer_receive(receive);
    if (error != MPI_SUCCESS) {
        request_free(receive);
        request_free(send);
        return error;
    }
    error = transfer_send(send);
    if (error != MPI_SUCCESS) {
        request_free(send);
        transfer_cancel(receive);
        call_complete(receive, MPI_STATUS_IGNORE);
        return error;
    }
    self.in_send = true;
    transfer_finish(receive);
    transfer_finish(send);
    self.in_send = false;
    error = call_complete(receive, status);
    int send_error = call_complete(send, MPI_STATUS_IGNORE);
    return error != MPI_SUCCESS ? error : send_error;
}

EXPORTED int MPI_Sendrecv(const void *sendbuf, int sendcount, MPI_Datatype sendtype, int dest,
                          int sendtag, void *recvbuf, int recvcount, MPI_Datatype recvtype,
                          int source, int recvtag, MPI_Comm comm, MPI_Status *status)
{
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct arguments out = {(void *)sendbuf, sendcount, sendtype, dest, sendtag, communicator};
    struct arguments in = {recvbuf, recvcount, recvtype, source, recvtag, communicator};
    int error = call_check(&out);
    if (error == MPI_SUCCESS)
        error = call_check(&in);
    if (error != MPI_SUCCESS)
        return error;
    return exchange(call_send(&out, SEND_STANDARD), call_receive(&in), status);
}

EXPORTED int MPI_Sendrecv_replace(void *buf, int count, MPI_Datatype datatype, int dest,
                                  int sendtag, int source, int recvtag, MPI_Comm comm,
                                  MPI_Status *status)
{
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    struct arguments in = {buf, count, datatype, source, recvtag, communicator};
    int error = call_check(&in);
    if (error != MPI_SUCCESS)
        return error;
    uint64_t bytes = payload_bytes(&(struct payload){buf, count, datatype});
    if (bytes > INT32_MAX)
        refuse("MPI_Sendrecv_replace of more than 2 GiB", "MPI_Sendrecv");
    void *copy = memory(1, bytes);
    error = payload_pack(&(struct payload){buf, count, datatype}, copy);
    struct arguments out = {copy, (int)bytes, MPI_BYTE, dest, sendtag, communicator};
    if (error == MPI_SUCCESS)
        error = exchange(call_send(&out, SEND_STANDARD), call_receive(&in), status);
    free(copy);
    return error;
}

/* --- non-blocking ----------------------------------------------------------------------------- */

static int isend(const void *buffer, int count, MPI_Datatype type, int peer, int tag, MPI_Comm comm,
                 enum send_mode mode, MPI_Request *handle)
{
    struct arguments arguments = {(void *)buffer, count, type, peer, tag, call_begin(comm)};
    int error = call_check(&arguments);
    if (error != MPI_SUCCESS)
        return error;
    struct request *request = call_send(&arguments, mode);
    error = mode == SEND_BUFFERED ? buffered_isend(request) : transfer_send(request);
    if (error == MPI_SUCCESS)
        *handle = request_handle(request);
    else
        request_free(request);
    return error;
}

REQUESTS_SEND(EXPORTED, MPI_Isend, isend, SEND_STANDARD)
REQUESTS_SEND(EXPORTED, MPI_Issend, isend, SEND_SYNCHRONOUS)
REQUESTS_SEND(EXPORTED, MPI_Ibsend, isend, SEND_BUFFERED)
REQUESTS_SEND(EXPORTED, MPI_Irsend, isend, SEND_STANDARD)

EXPORTED int MPI_Irecv(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                       MPI_Comm comm, MPI_Request *handle)
{
    struct arguments arguments = {buf, count, datatype, source, tag, call_begin(comm)};
    int error = call_check(&arguments);
    if (error != MPI_SUCCESS)
        return error;
    struct request *request = call_receive(&arguments);
    error = transfer_receive(request);
    if (error == MPI_SUCCESS)
        *handle = request_handle(request);
    else
        request_free(request);
    return error;
}
