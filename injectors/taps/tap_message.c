/* Point-to-point calls that start a request, and probes: see tap_message.h. */
#include "injectors/taps/tap_message.h"

#include "injectors/rules/rules.h"

#include <faultline.h>

#include <stdlib.h>
#include <string.h>

void received_error(struct record *r, const struct communicator *c, const MPI_Status *status,
                    int class)
{
    r->flags |= FLAG_NO_HASH;
    r->peer = PEER_UNKNOWN;
    if (class != MPI_ERR_TRUNCATE)
        return;
    r->peer = communicator_peer(c, status->MPI_SOURCE);
    r->tag = recorded_tag(status->MPI_TAG);
    r->bytes = status_bytes(status);
}

void received_unseen(struct record *r, const struct request *request, const MPI_Status *status)
{
#ifdef MPICH_NUMVERSION
    (void)status;
    r->peer = communicator_peer(request->communicator, request->peer);
    if (r->peer == PEER_ANY)
        r->peer = PEER_UNKNOWN;
    r->tag = recorded_tag(request->tag);
    r->bytes = r->peer == PEER_NULL ? 0 : BYTES_UNKNOWN;
    r->flags |= FLAG_NO_HASH;
#else
    received(r, request->communicator, request->buffer, request->count, request->type, status);
#endif
}

/* --- non-blocking ----------------------------------------------------------------------------- */

struct record *isend_begin(enum level level, unsigned call, const void *buffer, MPI_Count count,
                           MPI_Datatype type, int destination, int tag, MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_SEND, call);
    send_fill(r, communicator_find(level, comm), buffer, count, type, destination, tag);
    r->request = request_number(level);
    record_publish(r);
    return r;
}

void isend_end(enum level level, struct record *r, const MPI_Request *request, int result)
{
    if (likely(result == MPI_SUCCESS && tap_ready)) {
        struct request *made =
            request_new(level, REQUEST_SEND, r->call, r->request, &communicator_world[level]);
        if (made)
            request_insert(made, HANDLE(*request), request);
    }
    call_end(r, result);
}

struct record *ireceive_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_RECV, call);
    receive_fill(r, communicator_find(level, comm), source, tag);
    r->request = request_number(level);
    record_publish(r);
    return r;
}

static struct request *receive_request(enum level level, unsigned call, uint32_t number,
                                       struct communicator *c, void *buffer, MPI_Count count,
                                       MPI_Datatype type)
{
    struct request *made = request_new(level, REQUEST_RECEIVE, call, number, c);
    if (!made)
        return NULL;
    made->buffer = buffer;
    made->count = count;
    made->type = type;
    return made;
}

void ireceive_end(enum level level, struct record *r, void *buffer, MPI_Count count,
                  MPI_Datatype type, MPI_Comm comm, const MPI_Request *request, int result)
{
    if (likely(result == MPI_SUCCESS && tap_ready)) {
        struct request *made = receive_request(level, r->call, r->request,
                                               communicator_find(level, comm), buffer, count, type);
        if (made) {
            made->from_nobody = r->want_peer == PEER_NULL;
            request_insert(made, HANDLE(*request), request);
        }
    }
    call_end(r, result);
}

struct record *isendreceive_begin(enum level level, unsigned call, const struct record *sent,
                                  int source, int tag, MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_RECV, call);
    receive_fill(r, communicator_find(level, comm), source, tag);
    r->request = sent->request;
    record_publish(r);
    return r;
}

void isendreceive_end(enum level level, struct record *sent, struct record *r, void *buffer,
                      MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      const MPI_Request *request, int result)
{
    struct request *made = NULL;
    if (result == MPI_SUCCESS && tap_ready)
        made = receive_request(level, r->call, r->request, communicator_find(level, comm), buffer,
                               count, type);
    if (made) {
        made->exchange = true;
        made->peer = source;
        made->tag = tag;
        request_insert(made, HANDLE(*request), request);
    }
    call_end(sent, result);
    call_end(r, result);
}

/* --- persistent ------------------------------------------------------------------------------- */

static void persistent_insert(struct request *made, int peer, int tag, const MPI_Request *request)
{
    made->persistent = true;
    made->active = false;
    made->peer = peer;
    made->tag = tag;
    request_insert(made, HANDLE(*request), request);
}

void send_init_end(enum level level, struct record *r, const void *buffer, MPI_Count count,
                   MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                   const MPI_Request *request, int result)
{
    struct request *made = NULL;
    if (result == MPI_SUCCESS && tap_ready)
        made = request_new(level, REQUEST_SEND, r->call, 0, communicator_find(level, comm));
    if (made) {
        made->buffer = buffer;
        made->count = count;
        made->type = type;
        persistent_insert(made, destination, tag, request);
    }
    call_end(r, result);
}

void receive_init_end(enum level level, struct record *r, void *buffer, MPI_Count count,
                      MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      const MPI_Request *request, int result)
{
    struct request *made = NULL;
    if (result == MPI_SUCCESS && tap_ready)
        made =
            receive_request(level, r->call, 0, communicator_find(level, comm), buffer, count, type);
    if (made)
        persistent_insert(made, source, tag, request);
    call_end(r, result);
}

/* The record of one persistent request that is being started; NULL if it is none we know. */
static struct record *start_one(enum level level, struct request *request)
{
    static const uint8_t kinds[] = {[REQUEST_SEND] = RECORD_SEND,
                                    [REQUEST_RECEIVE] = RECORD_RECV,
                                    [REQUEST_COLLECTIVE] = RECORD_COLLECTIVE};
    if (!request || !request->persistent || request->active)
        return NULL;
    struct record *r = record_begin(level, (enum record_kind)kinds[request->kind], request->call);
    r->flags = FLAG_PERSISTENT;
    if (request->kind == REQUEST_SEND)
        send_fill(r, request->communicator, request->buffer, request->count, request->type,
                  request->peer, request->tag);
    else if (request->kind == REQUEST_RECEIVE)
        receive_fill(r, request->communicator, request->peer, request->tag);
    else
        collective_fill(r, &request->collective);
    r->request = request->number = request_number(level);
    record_publish(r);
    return r;
}

/* Room for `count` records and requests; none is known when there is no memory. */
static void start_open(struct start *start, int count)
{
    start->count = count > 0 ? count : 0;
    start->record = start->few_records;
    start->request = start->few_requests;
    start->step = start->few_steps;
    if (start->count <= START_MANY)
        return;
    void *room =
        calloc((size_t)count, sizeof *start->record + sizeof *start->request + sizeof *start->step);
    start->count = room ? count : 0;
    start->record = room;
    start->request = (struct request **)(start->record + count);
    start->step = (uint32_t *)(start->request + count);
}

void start_begin(enum level level, unsigned call, struct start *start, int count,
                 const MPI_Request *requests)
{
    start_open(start, tap_ready && requests ? count : 0);
    start->call = NULL;
    bool any = false;
    for (int i = 0; i < start->count; i++) {
        start->request[i] = request_claim(level, HANDLE(requests[i]), &requests[i], false);
        start->record[i] = start_one(level, start->request[i]);
        start->step[i] = rules_take();
        any = any || start->record[i];
    }
    if (!any)
        start->call = call_begin(level, call, handles.COMM_NULL);
}

void start_end(struct start *start, int result)
{
    for (int i = 0; i < start->count; i++) {
        if (start->record[i]) {
            start->request[i]->active = result == MPI_SUCCESS;
            call_end(start->record[i], result);
        }
        request_unclaim(start->request[i]);
    }
    if (start->call)
        call_end(start->call, result);
    if (start->record != start->few_records)
        free(start->record);
}

/* --- probes ----------------------------------------------------------------------------------- */

struct record *probe_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_PROBE, call);
    receive_fill(r, communicator_find(level, comm), source, tag);
    record_publish(r);
    return r;
}

static void found(struct record *r, MPI_Comm comm, const MPI_Status *status)
{
    const struct communicator *c = communicator_find((enum level)r->level, comm);
    r->peer = communicator_peer(c, status->MPI_SOURCE);
    r->tag = recorded_tag(status->MPI_TAG);
    r->bytes = status_bytes(status);
}

void probe_end(struct record *r, MPI_Comm comm, const MPI_Status *status, int result)
{
    if (result == MPI_SUCCESS && tap_ready)
        found(r, comm, status);
    call_end(r, result);
}

struct record *iprobe_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm)
{
    struct record *r = record_poll_begin(level, tap_ready ? RECORD_PROBE : RECORD_CALL, call);
    receive_fill(r, communicator_find(level, comm), source, tag);
    record_publish(r);
    return r;
}

void iprobe_end(struct record *r, MPI_Comm comm, const int *flag, const MPI_Status *status,
                int result)
{
    if (result == MPI_SUCCESS && *flag)
        found(r, comm, status);
    else if (result == MPI_SUCCESS)
        r->flags |= FLAG_NEGATIVE;
    record_poll_end(r, error_class(result));
}

/* The message becomes known under its handle, and its number is in the record. */
static void message_found(enum level level, struct record *r, MPI_Comm comm,
                          const MPI_Message *message, const MPI_Status *status)
{
    if (*message == handles.MESSAGE_NO_PROC || *message == handles.MESSAGE_NULL)
        return;
    struct request *made = request_new(level, REQUEST_MESSAGE, r->call, request_number(level),
                                       communicator_find(level, comm));
    if (!made)
        return;
    made->peer = status->MPI_SOURCE;
    made->tag = status->MPI_TAG;
    r->request = made->number;
    request_insert(made, HANDLE(*message), message);
}

void mprobe_end(enum level level, struct record *r, MPI_Comm comm, const MPI_Message *message,
                const MPI_Status *status, int result)
{
    if (result == MPI_SUCCESS && tap_ready)
        message_found(level, r, comm, message, status);
    probe_end(r, comm, status, result);
}

void improbe_end(enum level level, struct record *r, MPI_Comm comm, const int *flag,
                 const MPI_Message *message, const MPI_Status *status, int result)
{
    if (result == MPI_SUCCESS && *flag)
        message_found(level, r, comm, message, status);
    iprobe_end(r, comm, flag, status, result);
}

struct record *matched_receive_begin(enum level level, unsigned call, const MPI_Message *message,
                                     struct request **found_message)
{
    *found_message = NULL;
    if (unlikely(!tap_ready))
        return call_begin(level, call, handles.COMM_NULL);
    struct record *r = record_begin(level, RECORD_RECV, call);
    struct request *known = request_claim(level, HANDLE(*message), message, true);
    r->flags = FLAG_MATCHED;
    r->want_peer = PEER_UNKNOWN;
    if (*message == handles.MESSAGE_NO_PROC)
        r->want_peer = r->peer = PEER_NULL;
    if (known) {
        receive_fill(r, known->communicator, known->peer, known->tag);
        r->request = known->number;
    }
    record_publish(r);
    *found_message = known;
    return r;
}

/* A call that failed before it took the message leaves it to be received. */
static void message_taken(struct request *message, int result, bool gone)
{
    if (message && (result == MPI_SUCCESS || gone))
        request_remove(message);
    else
        request_unclaim(message);
}

void matched_receive_end(struct record *r, const void *buffer, MPI_Count count, MPI_Datatype type,
                         struct request *found_message, const MPI_Message *message,
                         const MPI_Status *status, int result)
{
    int class = error_class(result);
    const struct communicator *c =
        found_message ? found_message->communicator : &communicator_world[r->level];
    if (class == 0 && tap_ready)
        received(r, c, buffer, count, type, status);
    else
        received_error(r, c, status, class);
    message_taken(found_message, result, *message == handles.MESSAGE_NULL);
    record_end(r, class);
}

void matched_ireceive_end(struct record *r, void *buffer, MPI_Count count, MPI_Datatype type,
                          struct request *found_message, const MPI_Message *message,
                          const MPI_Request *request, int result)
{
    struct request *made = NULL;
    if (result == MPI_SUCCESS && found_message)
        made = receive_request((enum level)r->level, r->call, r->request,
                               found_message->communicator, buffer, count, type);
    if (made)
        request_insert(made, HANDLE(*request), request);
    message_taken(found_message, result, *message == handles.MESSAGE_NULL);
    call_end(r, result);
}

/* --- faultline_message ------------------------------------------------------------------------ */

void tap_message_noted(struct record *note, uint64_t comm, int peer, const void *data, size_t bytes)
{
    /* Where a rank is reached, and what a protocol carries calls out with, is said of a
     * communicator that the application need not know. */
    bool of_library = note->tag == NOTE_ADDRESS || note->tag == NOTE_CARRIES ||
                      note->tag == NOTE_RECORDED_CARRIED;
    enum level level = of_library ? LEVEL_WIRE : LEVEL_APP;
    const struct communicator *c = communicator_find(level, (MPI_Comm)comm);
    struct communicator *held = NULL;
    bool hashed = false;
    if (c->id == 0 && level == LEVEL_APP)
        held = communicator_ahead((MPI_Comm)comm);
    if (!held && level == LEVEL_APP)
        held = communicator_freed((MPI_Comm)comm);
    if (held)
        c = held;
    note->comm = c->id;
    note->peer = note->tag == NOTE_CARRIES ? PEER_ANY : communicator_peer(c, peer);
    note->hash = payload_hash_packed(data, bytes, &hashed);
    if (!hashed)
        note->flags = FLAG_NO_HASH;
    if (held)
        communicator_drop(held);
}

void tap_number_noted(struct record *note, const struct faultline_number *number)
{
    if (number->identity != 0)
        note->comm = communicator_of_identity(number->identity);
    else if (number->comm != 0)
        note->comm = communicator_find(LEVEL_APP, (MPI_Comm)number->comm)->id;
    note->peer = number->sender;
    note->request = (uint32_t)number->receiver;
    note->bytes = number->ssn;
    note->hash = number->rsn;
}
