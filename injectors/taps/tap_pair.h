/* The short way of a blocking send or receive through both taps at once: no protocol lies between,
 * no step of the plan is being watched for, and both levels know the communicator alike. Then what
 * the two levels record differs in the level (and the communicator's id) alone: two records are
 * reserved, filled and finished together, and the library is called straight away. What is recorded
 * is what the long way through tap_message.h records; a pair that cannot be begun takes
 * that.
 *
 * Worth a file: the figure that Faultline is measured by is the time of an 8-byte message. */
#ifndef INJECTORS_TAPS_TAP_PAIR_H
#define INJECTORS_TAPS_TAP_PAIR_H

#include "injectors/taps/tap_message.h"

/* Records are written in order into memory that no cache holds yet: this many are asked for ahead.
 */
#define PAIR_PREFETCH_RECORDS 8

/* NULL: take the long way. Else the upper record; the lower one is after it. */
static inline struct record *pair_begin(enum record_kind kind, unsigned call, MPI_Comm comm)
{
    if (unlikely(runtime_watching || !tap_pairs || !thread_state.known))
        return NULL;
    const struct communicator *upper_view = communicator_find(LEVEL_APP, comm);
    const struct communicator *lower_view = communicator_find(LEVEL_WIRE, comm);
    if (unlikely(upper_view->peers != lower_view->peers))
        return NULL;
    struct record *r = trace_reserve(&runtime_trace, 2);
    if (unlikely(r == NULL))
        return NULL;
    __builtin_prefetch(r + PAIR_PREFETCH_RECORDS, 1);
    __builtin_prefetch(r + PAIR_PREFETCH_RECORDS + 1, 1);
    thread_state.recorded += 2;
    uint64_t ticks = clock_ticks();
    thread_state.ticks = ticks;
    r->level = LEVEL_APP;
    r->call = (uint16_t)call;
    r->error = (uint8_t)kind; /* waits here until it is published */
    r->thread = thread_state.number;
    r->enter = ticks;
    r->comm = upper_view->id;
    return r;
}

/* Makes the lower record from the upper one and publishes both. */
static inline void pair_publish(struct record *r, MPI_Comm comm)
{
    uint8_t kind = r->error;
    r->error = 0;
    r[1].level = LEVEL_WIRE;
    r[1].call = r->call;
    r[1].flags = r->flags;
    r[1].thread = r->thread;
    r[1].enter = r->enter;
    r[1].comm = communicator_find(LEVEL_WIRE, comm)->id;
    r[1].peer = r->peer;
    r[1].tag = r->tag;
    r[1].bytes = r->bytes;
    r[1].hash = r->hash;
    r[1].want_peer = r->want_peer;
    r[1].want_tag = r->want_tag;
    /* In this order, so that a rank that dies between the two leaves its hole at the end. */
    atomic_store_explicit(&r[0].kind, kind, memory_order_release);
    atomic_store_explicit(&r[1].kind, kind, memory_order_release);
}

static inline void pair_pass(const struct record *r, bool blocks)
{
    thread_state.wire_depth = 1; /* was 0 at both levels: this call is recorded */
    if (blocks)
        runtime_blocking(r + 1);
}

static inline void pair_return(bool blocks)
{
    if (blocks)
        runtime_unblocked();
    thread_state.wire_depth = 0;
}

/* `ticks`: when the library returned. */
static inline void pair_end(struct record *r, int class, uint64_t ticks)
{
    thread_state.ticks = ticks;
    r[1].error = r[0].error = record_error(class);
    atomic_store_explicit(&r[1].leave, ticks, memory_order_release);
    atomic_store_explicit(&r[0].leave, ticks, memory_order_release);
}

static inline struct record *send_pair_begin(unsigned call, MPI_Count count, MPI_Datatype type,
                                             int destination, int tag, MPI_Comm comm)
{
    struct record *r = pair_begin(RECORD_SEND, call, comm);
    if (unlikely(r == NULL))
        return NULL;
    send_fill_envelope(r, communicator_find(LEVEL_APP, comm), count, type, destination, tag);
    r->flags |= FLAG_NO_HASH;
    pair_publish(r, comm);
    return r;
}

/* The payload is hashed when it is on its way: the program may not touch it before we return. A
 * send that is in progress when its rank dies has FLAG_NO_HASH. */
static inline void send_pair_end(struct record *r, const void *buffer, MPI_Count count,
                                 MPI_Datatype type, int result)
{
    uint64_t ticks = clock_ticks();
    r->flags &= (uint8_t)~FLAG_NO_HASH;
    send_fill_hash(r, buffer, count, type);
    r[1].hash = r->hash;
    r[1].flags = r->flags;
    pair_end(r, error_class(result), ticks);
}

static inline struct record *receive_pair_begin(unsigned call, int source, int tag, MPI_Comm comm)
{
    struct record *r = pair_begin(RECORD_RECV, call, comm);
    if (unlikely(r == NULL))
        return NULL;
    receive_fill(r, communicator_find(LEVEL_APP, comm), source, tag);
    pair_publish(r, comm);
    return r;
}

static inline void receive_pair_end(struct record *r, const void *buffer, MPI_Count count,
                                    MPI_Datatype type, MPI_Comm comm, const MPI_Status *status,
                                    int result)
{
    uint64_t ticks = clock_ticks();
    int class = error_class(result);
    const struct communicator *c = communicator_find(LEVEL_APP, comm);
    if (likely(class == 0))
        received(r, c, buffer, count, type, status);
    else
        received_error(r, c, status, class);
    r[1].flags = r->flags;
    r[1].peer = r->peer;
    r[1].tag = r->tag;
    r[1].bytes = r->bytes;
    r[1].hash = r->hash;
    pair_end(r, class, ticks);
}

#endif
