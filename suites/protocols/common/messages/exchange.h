/* One collective call under way: all that a member sends goes when the call begins, all that it
 * gets comes in receives that are posted then, and what is left to be done is done when the call is
 * complete. So a call that does not block is the same as one that does. Every pair of ranks is a
 * FIFO channel and all make their calls in the same order, so the packets, of a kind of their own,
 * need no tags. Must not know: which call it is. */
#ifndef COMMON_MESSAGES_EXCHANGE_H
#define COMMON_MESSAGES_EXCHANGE_H

#include "common/messages/requests.h"

struct exchange {
    struct comm *comm;     /* held by `whole` */
    struct request *whole; /* done when all parts are; owns this */
    /* When all parts are in place: frees what it has made. Returns an MPI error code. NULL: nothing
     * is left to be done. */
    int (*finish)(struct exchange *exchange);
    /* When all parts have come, in whichever call: NULL, or once. It may hand them over. */
    void (*then)(struct exchange *exchange);
    void *context; /* of both */
    int parts;
    struct request *part[]; /* receives; room for two of each member */
};

/* A step, and the call begins. NULL: *error says why not, the error handler has been called. */
struct exchange *exchange_begin(MPI_Comm user, int root, int *error);

/* The same within a call that has begun. */
struct exchange *exchange_within(struct comm *comm);

/* Between exchange_begin and exchange_end; the data are copied at once, or come to their place when
 * the call is complete. Members by their rank in the communicator; this one is as any other. */
void exchange_send(struct exchange *exchange, int to, struct payload payload);
void exchange_receive(struct exchange *exchange, int from, struct payload payload);
/* Likewise, of a packet of that kind with that tag. */
void exchange_receive_tagged(struct exchange *exchange, int from, struct payload payload,
                             uint32_t packet_kind, int tag);

/* All parts have come: their data come to their place now. Returns an MPI error code. */
int exchange_hand_over_parts(struct exchange *exchange);

/* Waits until it is complete if `handle` is NULL, else gives the program a request. Returns an MPI
 * error code. */
int exchange_end(struct exchange *exchange, MPI_Request *handle);

/* A part is done: see struct request. */
void exchange_part_done(struct request *whole);

/* The data come to their place; frees what belongs to the call, but for `whole`. */
int exchange_hand_over(struct request *whole);

#endif
