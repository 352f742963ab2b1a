/* Requests: one struct for every send and receive of the program, blocking ones too, for every
 * collective call, and for every message that a matched probe has found. The program's handles are
 * numbers of this module's, so that they mean the same after a restart. Must not know: packets on
 * the wire, the past. */
#ifndef COMMON_MESSAGES_REQUESTS_H
#define COMMON_MESSAGES_REQUESTS_H

#include "common/base/numbered.h"
#include "common/communicators/payload.h"
#include "common/job/status.h"
#include "common/messages/comms.h"
#include "common/messages/packet.h"

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_MESSAGE, REQUEST_COLLECTIVE };
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED };

struct request {
    struct request *next; /* of all */
    struct request *posted_next;
    int number; /* of the program's handle; 0: has none */
    enum request_kind kind;
    enum send_mode mode;
    bool persistent;
    bool active;      /* started and not handed over */
    bool done;        /* what it waits for has come */
    bool cancelled;   /* before anything came */
    bool detached;    /* a send that the program has freed */
    bool own_type;    /* payload.type was built when a saved state was read */
    bool lost_buffer; /* of a saved state, and it is not known where its buffer is now */
    struct payload payload;
    struct comm *comm; /* held; NULL for MPI_PROC_NULL's and nobody's */
    int peer;
    int tag;
    uint32_t packet_kind;      /* PACKET_MESSAGE, or of a collective call */
    uint64_t sent_as;          /* of a synchronous send: number of its packet */
    struct packet *packet;     /* what a receive has got; held until it is handed over */
    struct request *whole;     /* the collective call that a receive is a part of; NULL: none */
    unsigned waiting;          /* of a collective call: parts that are not done */
    struct exchange *exchange; /* of a collective call; owned */
};

/* Active, and held in the list of all. Of nobody (MPI_PROC_NULL) with comm as well. */
struct request *request_new(enum request_kind kind, struct comm *comm, int peer, int tag,
                            const struct payload *payload);
void request_free(struct request *request);

/* Gives it the lowest number that is free. Returns the program's handle. */
MPI_Request request_handle(struct request *request);
/* That it has already. */
static inline MPI_Request request_handle_of(const struct request *request)
{
    return NUMBERED(MPI_Request, NUMBERED_REQUESTS, request->number);
}

/* The program has no handle any more; it goes when it is done. */
void request_detach(struct request *request);
struct request *request_of(MPI_Request handle); /* NULL: none of the program's */

/* Those that wait for a message, in the order of posting. */
void request_post(struct request *request);
void request_unpost(struct request *request);
struct request *requests_posted(void);

/* All requests, those without a handle too: linked by `next`; NULL: there are none. */
struct request *requests_all(void);

/* The synchronous send to rank `to` of the application whose packet has this number; NULL: none. */
struct request *request_sent_as(int to, uint64_t number);

/* As bytes in a saved state; buffers by their place in the pieces of layer_state. */
void requests_write(struct bytes *out);
/* All go; of persistent ones that the program made before checkpoint_restore the buffers are kept
 * in mind. Ahead of requests_read, and of comms_read. */
void requests_forget(void);
void requests_read(struct reader in);

#endif
