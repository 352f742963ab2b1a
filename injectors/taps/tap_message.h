/* Point-to-point: sends, receives, probes, and the starting of requests for them. Inline where a
 * message of a few bytes would feel a function call. */
#ifndef INJECTORS_TAPS_TAP_MESSAGE_H
#define INJECTORS_TAPS_TAP_MESSAGE_H

#include "injectors/record/payload.h"
#include "injectors/taps/tap.h"
#include "injectors/taps/tap_communicator.h"
#include "injectors/taps/tap_request.h"

/* Bytes of the message that a status describes. MPICH's status is part of its binary interface, and
 * this is asked once per message received. */
static inline uint64_t status_bytes(const MPI_Status *status)
{
#ifdef MPICH_NUMVERSION
    uint64_t high = (uint32_t)status->count_hi_and_cancelled >> 1;
    return high << 32 | (uint32_t)status->count_lo;
#else
    MPI_Count count = 0;
    library_begin();
    library.Get_elements_x(status, handles.BYTE, &count);
    library_end();
    return count > 0 ? (uint64_t)count : 0;
#endif
}

static inline int32_t recorded_tag(int tag)
{
    return tag == MPI_ANY_TAG ? TAG_ANY : tag;
}

/* comm, peer, tag, bytes of a SEND record. */
static inline void send_fill_envelope(struct record *r, const struct communicator *c,
                                      MPI_Count count, MPI_Datatype type, int destination, int tag)
{
    r->comm = c->id;
    if (unlikely(c->remote))
        r->flags |= FLAG_INTER;
    r->peer = communicator_peer(c, destination);
    r->tag = tag;
    r->bytes = payload_bytes(count, type);
}

/* For tap_payload_peek: what the record being filled says of its payload. */
static inline void payload_shown(const struct record *r, const void *buffer, MPI_Count count,
                                 MPI_Datatype type)
{
    if (unlikely(runtime_watching))
        payload_show(r, r->enter, buffer, count, type);
}

/* Its hash. Nothing of the buffer is read for MPI_PROC_NULL. */
static inline void send_fill_hash(struct record *r, const void *buffer, MPI_Count count,
                                  MPI_Datatype type)
{
    bool hashed = false;
    payload_shown(r, buffer, count, type);
    if (likely(r->peer != PEER_NULL))
        r->hash = payload_hash(buffer, count, type, &hashed);
    if (unlikely(!hashed))
        r->flags |= FLAG_NO_HASH;
}

/* Fills in a SEND record: the envelope, and the hash of the payload. */
static inline void send_fill(struct record *r, const struct communicator *c, const void *buffer,
                             MPI_Count count, MPI_Datatype type, int destination, int tag)
{
    send_fill_envelope(r, c, count, type, destination, tag);
    send_fill_hash(r, buffer, count, type);
}

/* Around a blocking send, receive, or both in one call: the record is published by _begin, and has
 * its end and what was received from _end. Before MPI_Init is over only the call is recorded. */
static inline struct record *send_begin(enum level level, unsigned call, const void *buffer,
                                        MPI_Count count, MPI_Datatype type, int destination,
                                        int tag, MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_SEND, call);
    send_fill(r, communicator_find(level, comm), buffer, count, type, destination, tag);
    record_publish(r);
    return r;
}

static inline void send_end(struct record *r, int result)
{
    call_end(r, result);
}

/* What a receive of (count, type) got, from its status: peer, tag, bytes, hash. Always inline: it
 * is all that stands between the arrival of a message and the program. */
static inline __attribute__((always_inline)) void
received(struct record *r, const struct communicator *c, const void *buffer, MPI_Count count,
         MPI_Datatype type, const MPI_Status *status)
{
    bool hashed = false;
    uint64_t bytes = status_bytes(status);
    r->peer = communicator_peer(c, status->MPI_SOURCE);
    r->tag = recorded_tag(status->MPI_TAG);
    r->bytes = bytes;
    if (unlikely(payload_bytes(count, type) != bytes)) {
        uint64_t element = payload_bytes(1, type);
        count = element > 0 && bytes % element == 0 ? (MPI_Count)(bytes / element) : -1;
    }
    payload_shown(r, buffer, count, type);
    if (likely(count >= 0) && likely(r->peer != PEER_NULL))
        r->hash = payload_result_hash(buffer, count, type, &hashed);
    if (unlikely(!hashed))
        r->flags |= FLAG_NO_HASH;
}

/* The same for MPI_Isendrecv, whose status MPICH leaves unfilled (seen in 4.0.2): then what was
 * asked for is what is known. */
void received_unseen(struct record *r, const struct request *request, const MPI_Status *status);

/* The same for a call that failed: a message that was too long is described by its status. */
void received_error(struct record *r, const struct communicator *c, const MPI_Status *status,
                    int class);

/* Fills in what a RECV record asks for. */
static inline void receive_fill(struct record *r, const struct communicator *c, int source, int tag)
{
    r->comm = c->id;
    if (unlikely(c->remote))
        r->flags |= FLAG_INTER;
    r->want_peer = communicator_peer(c, source);
    r->want_tag = recorded_tag(tag);
}

static inline struct record *receive_begin(enum level level, unsigned call, int source, int tag,
                                           MPI_Comm comm)
{
    if (unlikely(!tap_ready))
        return call_begin(level, call, comm);
    struct record *r = record_begin(level, RECORD_RECV, call);
    receive_fill(r, communicator_find(level, comm), source, tag);
    record_publish(r);
    return r;
}

static inline void receive_end(struct record *r, const void *buffer, MPI_Count count,
                               MPI_Datatype type, MPI_Comm comm, const MPI_Status *status,
                               int result)
{
    int class = error_class(result);
    const struct communicator *c = communicator_find((enum level)r->level, comm);
    if (likely(class == 0 && tap_ready))
        received(r, c, buffer, count, type, status);
    else
        received_error(r, c, status, class);
    record_end(r, class);
}

static inline void sendreceive_end(struct record *sent, struct record *r, const void *buffer,
                                   MPI_Count count, MPI_Datatype type, MPI_Comm comm,
                                   const MPI_Status *status, int result)
{
    call_end(sent, result);
    receive_end(r, buffer, count, type, comm, status, result);
}

/* Non-blocking. */
struct record *isend_begin(enum level level, unsigned call, const void *buffer, MPI_Count count,
                           MPI_Datatype type, int destination, int tag, MPI_Comm comm);
void isend_end(enum level level, struct record *r, const MPI_Request *request, int result);
struct record *ireceive_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm);
void ireceive_end(enum level level, struct record *r, void *buffer, MPI_Count count,
                  MPI_Datatype type, MPI_Comm comm, const MPI_Request *request, int result);
struct record *isendreceive_begin(enum level level, unsigned call, const struct record *sent,
                                  int source, int tag, MPI_Comm comm);
void isendreceive_end(enum level level, struct record *sent, struct record *r, void *buffer,
                      MPI_Count count, MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      const MPI_Request *request, int result);

/* Persistent: the Init calls, and what MPI_Start[all] starts. A started request is recorded as what
 * it is (SEND, RECV or COLLECTIVE, with FLAG_PERSISTENT, a new number and the Init call). */
#define START_MANY 32
struct start {
    int count;
    struct record **record; /* one per request; NULL: one that Faultline does not know */
    struct request **request;
    uint32_t *step;      /* what rules_take gave after each record */
    struct record *call; /* of MPI_Start itself, when nothing is known */
    struct record *few_records[START_MANY];
    struct request *few_requests[START_MANY];
    uint32_t few_steps[START_MANY];
};

/* Of the calls that make persistent requests, the end: they are CALL records. Around MPI_Start and
 * MPI_Startall: start_begin fills *start, start_end releases it. */
void send_init_end(enum level level, struct record *r, const void *buffer, MPI_Count count,
                   MPI_Datatype type, int destination, int tag, MPI_Comm comm,
                   const MPI_Request *request, int result);
void receive_init_end(enum level level, struct record *r, void *buffer, MPI_Count count,
                      MPI_Datatype type, int source, int tag, MPI_Comm comm,
                      const MPI_Request *request, int result);
void start_begin(enum level level, unsigned call, struct start *start, int count,
                 const MPI_Request *requests);
void start_end(struct start *start, int result);

/* Probes. */
struct record *probe_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm);
void probe_end(struct record *r, MPI_Comm comm, const MPI_Status *status, int result);
struct record *iprobe_begin(enum level level, unsigned call, int source, int tag, MPI_Comm comm);
void iprobe_end(struct record *r, MPI_Comm comm, const int *flag, const MPI_Status *status,
                int result);
void mprobe_end(enum level level, struct record *r, MPI_Comm comm, const MPI_Message *message,
                const MPI_Status *status, int result);
void improbe_end(enum level level, struct record *r, MPI_Comm comm, const int *flag,
                 const MPI_Message *message, const MPI_Status *status, int result);

/* Receives of a message that was found; *found is what is known of it, claimed, or NULL. */
struct record *matched_receive_begin(enum level level, unsigned call, const MPI_Message *message,
                                     struct request **found);
void matched_receive_end(struct record *r, const void *buffer, MPI_Count count, MPI_Datatype type,
                         struct request *found, const MPI_Message *message,
                         const MPI_Status *status, int result);
void matched_ireceive_end(struct record *r, void *buffer, MPI_Count count, MPI_Datatype type,
                          struct request *found, const MPI_Message *message,
                          const MPI_Request *request, int result);

/* Fills the note of faultline_message: the id of the application's communicator `comm`, the world
 * rank of `peer` in it (0 and PEER_UNKNOWN where it is not known), the hash of the packed data. */
void tap_message_noted(struct record *note, uint64_t comm, int peer, const void *data,
                       size_t bytes);

/* Fills the note of faultline_numbered. */
struct faultline_number;
void tap_number_noted(struct record *note, const struct faultline_number *number);

#endif
