/* See transfer.h: sending. */
#include "c3/transfer.h"

#include "c3/replay.h"
#include "faultline.h"

#include <stdlib.h>

static struct request *detached;

/* Everything of it is in its row from now on. */
static int pack_row(struct request *request, uint64_t bytes)
{
    request_row(request, bytes);
    return payload_pack(&request->payload, request->row + piggyback_bytes());
}

/* In recovery: the receiver has the message already [C3, section 2.3]. */
static void suppress(struct request *request, uint64_t bytes)
{
    request->done = true;
    if (!faultline_present())
        return;
    pack_row(request, bytes);
    faultline_suppressed(self.epoch, (uint64_t)request->communicator->user, request->peer,
                         request->tag, request->row + piggyback_bytes(), bytes);
}

static int to_wire(struct request *request, const void *buffer, int count, MPI_Datatype type)
{
    MPI_Comm comm = request->communicator->real;
    if (request->mode == SEND_SYNCHRONOUS)
        return PMPI_Issend(buffer, count, type, request->peer, request->tag, comm, &request->wire);
    return PMPI_Isend(buffer, count, type, request->peer, request->tag, comm, &request->wire);
}

static int send_row(struct request *request, uint64_t bytes)
{
    int error = pack_row(request, bytes);
    if (error != MPI_SUCCESS)
        return error;
    piggyback_write(request->row, self.next_id);
    return to_wire(request, request->row, (int)(piggyback_bytes() + bytes), MPI_BYTE);
}

static int send_framed(struct request *request)
{
    MPI_Datatype type;
    int error = payload_framed(&request->payload, request->row, piggyback_bytes(), &type);
    if (error != MPI_SUCCESS)
        return error;
    piggyback_write(request->row, self.next_id);
    error = to_wire(request, MPI_BOTTOM, 1, type);
    PMPI_Type_free(&type);
    return error;
}

/* The library refuses the send. In recovery it must not pass for a send that is to be suppressed.
 */
static bool is_refused(const struct request *request)
{
    static int *most; /* tag */
    int found;
    if (!most)
        PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    return request->peer < 0 || request->peer >= request->communicator->size || request->tag < 0 ||
           request->tag > *most;
}

int transfer_send(struct request *request)
{
    if (request->peer == MPI_PROC_NULL) {
        request->done = true;
        return MPI_SUCCESS;
    }
    if (is_refused(request))
        return to_wire(request, NULL, 0, MPI_BYTE); /* raises the error */
    uint64_t bytes = payload_bytes(&request->payload);
    int error = MPI_SUCCESS;
    if (replay_suppresses(self.next_id))
        suppress(request, bytes);
    else if (bytes <= COPY_BYTES || (request->mode == SEND_BUFFERED && bytes < INT32_MAX))
        error = send_row(request, bytes);
    else
        error = send_framed(request);
    if (error == MPI_SUCCESS) {
        self.next_id++;
        self.sent[world_rank(request->communicator, request->peer)]++;
    }
    return error;
}

/* --- sends that nobody waits for -------------------------------------------------------------- */

void detached_add(struct request *request)
{
    request_hold(request);
    request->before = NULL;
    request->after = detached;
    if (detached)
        detached->before = request;
    detached = request;
}

static void detached_remove(struct request *request)
{
    *(request->before ? &request->before->after : &detached) = request->after;
    if (request->after)
        request->after->before = request->before;
}

void detached_poll(void)
{
    for (struct request *one = detached, *after; one; one = after) {
        after = one->after;
        if (transfer_poll(one)) {
            detached_remove(one);
            request_free(one);
        }
    }
}

void detached_finish(void)
{
    while (detached) {
        transfer_finish(detached);
        detached_poll();
    }
}

bool detached_empty(void)
{
    return !detached;
}
