/* Persistent requests: what a call describes is kept and each start is a send or receive of its
 * own, with an id and a place of its own; of collective ones see kept.h. */
#include "c3/buffered.h"
#include "c3/calls.h"
#include "c3/collectives/kept.h"
#include "common/base/sends.h"

#include <stdlib.h>

static int keep(struct request *request, MPI_Request *handle)
{
    request->persistent = true;
    request->active = false;
    *handle = request_handle(request);
    return MPI_SUCCESS;
}

static int send_init(const void *buffer, int count, MPI_Datatype type, int peer, int tag,
                     MPI_Comm comm, enum send_mode mode, MPI_Request *handle)
{
    struct arguments arguments = {(void *)buffer, count, type, peer, tag, call_begin(comm)};
    int error = call_check(&arguments);
    return error == MPI_SUCCESS ? keep(call_send(&arguments, mode), handle) : error;
}

REQUESTS_SEND(EXPORTED, MPI_Send_init, send_init, SEND_STANDARD)
REQUESTS_SEND(EXPORTED, MPI_Ssend_init, send_init, SEND_SYNCHRONOUS)
REQUESTS_SEND(EXPORTED, MPI_Bsend_init, send_init, SEND_BUFFERED)
REQUESTS_SEND(EXPORTED, MPI_Rsend_init, send_init, SEND_STANDARD)

EXPORTED int MPI_Recv_init(void *buf, int count, MPI_Datatype datatype, int source, int tag,
                           MPI_Comm comm, MPI_Request *request)
{
    struct arguments arguments = {buf, count, datatype, source, tag, call_begin(comm)};
    int error = call_check(&arguments);
    return error == MPI_SUCCESS ? keep(call_receive(&arguments), request) : error;
}

/* As a new request but for what the program said of it. */
static void renew(struct request *request)
{
    request->active = true;
    request->cancel = request->bound = request->done = false;
    request->framed = false;
    request->outcome = NULL;
    request->error = MPI_SUCCESS;
    request->wire = MPI_REQUEST_NULL;
}

static int start(MPI_Request handle)
{
    struct request *request = request_of(handle);
    if (!request || !request->persistent || request->active)
        return call_error(handles_of(MPI_COMM_WORLD), MPI_ERR_REQUEST);
    if (request->lost_buffer)
        refuse("a persistent request from before the restart whose buffer is not in registered "
               "state",
               "registered buffers, or requests that are made before checkpoint_restore");
    renew(request);
    int error = request->kind == REQUEST_COLLECTIVE ? kept_start(request)
                : request->kind == REQUEST_RECEIVE  ? transfer_receive(request)
                : request->mode == SEND_BUFFERED    ? buffered_isend(request)
                                                    : transfer_send(request);
    request->active = error == MPI_SUCCESS;
    return error;
}

EXPORTED int MPI_Start(MPI_Request *request)
{
    call_begin_anywhere();
    return start(*request);
}

EXPORTED int MPI_Startall(int count, MPI_Request array_of_requests[])
{
    int error = MPI_SUCCESS;
    call_begin_anywhere();
    for (int i = 0; i < count && error == MPI_SUCCESS; i++)
        error = start(array_of_requests[i]);
    return error;
}
