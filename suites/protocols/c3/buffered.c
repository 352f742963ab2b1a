/* See buffered.h. */
#include "c3/buffered.h"

#include "c3/calls.h"
#include "c3/transfer.h"

static struct {
    void *data; /* the program's */
    int bytes;
    uint64_t used;
} buffer;

/* What is still under way holds its part of the program's buffer. `needed` is asked for. */
static bool has_room(uint64_t needed)
{
    detached_poll();
    if (detached_empty())
        buffer.used = 0;
    return buffer.used + needed <= (uint64_t)buffer.bytes;
}

int buffered_send(struct request *request)
{
    if (request->peer != MPI_PROC_NULL) {
        uint64_t needed = payload_bytes(&request->payload) + MPI_BSEND_OVERHEAD;
        if (!has_room(needed))
            return call_error(request->communicator, MPI_ERR_BUFFER);
        buffer.used += needed;
    }
    int error = transfer_send(request);
    if (error == MPI_SUCCESS)
        detached_add(request);
    return error;
}

int buffered_isend(struct request *request)
{
    struct request *sent = request_new(REQUEST_SEND);
    sent->mode = SEND_BUFFERED;
    sent->payload = request->payload;
    sent->peer = request->peer;
    sent->tag = request->tag;
    sent->communicator = request->communicator;
    int error = buffered_send(sent);
    if (error == MPI_SUCCESS)
        request->done = true;
    else
        request_free(sent);
    return error;
}

EXPORTED int MPI_Buffer_attach(void *data, int size)
{
    if (buffer.data || size < 0)
        return call_error(handles_of(MPI_COMM_WORLD), size < 0 ? MPI_ERR_ARG : MPI_ERR_BUFFER);
    buffer.data = data;
    buffer.bytes = size;
    buffer.used = 0;
    return MPI_SUCCESS;
}

/* Returns when all that was buffered is sent, as MPI says. */
EXPORTED int MPI_Buffer_detach(void *buffer_addr, int *size)
{
    call_begin_anywhere();
    detached_finish();
    *(void **)buffer_addr = buffer.data;
    *size = buffer.bytes;
    buffer.data = NULL;
    buffer.bytes = 0;
    return MPI_SUCCESS;
}
