/* See exchange.h. */
#include "common/messages/exchange.h"

#include "common/messages/calls.h"

#include <stdlib.h>

#define PARTS_OF_MEMBER 2

struct exchange *exchange_within(struct comm *comm)
{
    size_t parts = PARTS_OF_MEMBER * (size_t)comm->size;
    struct exchange *made = memory(1, sizeof *made + parts * sizeof made->part[0]);
    made->comm = comm;
    made->whole = request_new(REQUEST_COLLECTIVE, comm, comm->rank, 0, NULL);
    made->whole->exchange = made;
    made->whole->waiting = 1; /* for exchange_end */
    return made;
}

struct exchange *exchange_begin(MPI_Comm user, int root, int *error)
{
    struct comm *comm = call_begin(user);
    *error = MPI_ERR_COMM;
    if (comm)
        *error = root >= 0 && root < comm->size ? MPI_SUCCESS : call_error(MPI_ERR_ROOT);
    return *error == MPI_SUCCESS ? exchange_within(comm) : NULL;
}

void exchange_send(struct exchange *exchange, int to, struct payload payload)
{
    struct request *send = request_new(REQUEST_SEND, exchange->comm, to, 0, &payload);
    send->packet_kind = PACKET_COLLECTIVE;
    call_send(send);
    request_free(send);
}

void exchange_receive_tagged(struct exchange *exchange, int from, struct payload payload,
                             uint32_t packet_kind, int tag)
{
    struct request *receive = request_new(REQUEST_RECEIVE, exchange->comm, from, tag, &payload);
    receive->packet_kind = packet_kind;
    receive->whole = exchange->whole;
    exchange->whole->waiting++;
    exchange->part[exchange->parts++] = receive;
    call_receive(receive);
}

void exchange_receive(struct exchange *exchange, int from, struct payload payload)
{
    exchange_receive_tagged(exchange, from, payload, PACKET_COLLECTIVE, 0);
}

void exchange_part_done(struct request *whole)
{
    struct exchange *exchange = whole->exchange;
    whole->done = --whole->waiting == 0;
    if (whole->done && exchange->then)
        exchange->then(exchange);
}

int exchange_hand_over_parts(struct exchange *exchange)
{
    int error = MPI_SUCCESS;
    for (int i = 0; i < exchange->parts; i++) {
        int next = call_hand_over(exchange->part[i], MPI_STATUS_IGNORE);
        request_free(exchange->part[i]);
        if (error == MPI_SUCCESS)
            error = next;
    }
    exchange->parts = 0;
    return error;
}

int exchange_hand_over(struct request *whole)
{
    struct exchange *exchange = whole->exchange;
    int error = exchange_hand_over_parts(exchange);
    if (exchange->finish) {
        int last = exchange->finish(exchange);
        if (error == MPI_SUCCESS)
            error = last;
    }
    free(exchange);
    whole->exchange = NULL;
    return error;
}

int exchange_end(struct exchange *exchange, MPI_Request *handle)
{
    struct request *whole = exchange->whole;
    exchange_part_done(whole);
    if (handle) {
        *handle = request_handle(whole);
        return MPI_SUCCESS;
    }
    call_finish(whole);
    int error = call_hand_over(whole, MPI_STATUS_IGNORE);
    request_free(whole);
    return error;
}
