/* Requests: one struct for every send and receive of the program, blocking ones too, for every
 * message that a matched probe has found, and for every non-blocking collective call. The program's
 * handles are numbers of this module's, so that they can mean the same after a restart. Must not
 * know: what Wait and Test promise. */
#ifndef C3_REQUESTS_H
#define C3_REQUESTS_H

#include "c3/log.h"
#include "c3/piggyback.h"
#include "common/base/numbered.h"
#include "common/communicators/handles.h"
#include "common/communicators/payload.h"
#include "common/job/status.h"

/* A payload of at most COPY_BYTES is copied after its header and sent as one row of bytes: up to
 * there the copy costs less than what a longer one costs, which is sent from where it is: a
 * datatype per message. A receive has room for SMALL_BYTES even where the program asks for less, so
 * that it gets all of a message that is too long. */
#define SMALL_BYTES 1024
#define COPY_BYTES 16384

enum request_kind { REQUEST_SEND, REQUEST_RECEIVE, REQUEST_MESSAGE, REQUEST_COLLECTIVE };
enum send_mode { SEND_STANDARD, SEND_SYNCHRONOUS, SEND_BUFFERED };

struct request {
    struct request *before; /* in one of the lists below */
    struct request *after;
    int number; /* of the program's handle; 0: has none */
    enum request_kind kind;
    enum send_mode mode;
    bool persistent;
    bool active;      /* started and not handed over */
    bool holds;       /* communicator, which the program may free meanwhile */
    bool cancel;      /* MPI_Cancel was called */
    bool bound;       /* in recovery: it takes in what the log says, and cannot be cancelled */
    bool ahead;       /* of the message that was asked about last: see ahead.c */
    bool logged;      /* what it took is in the log, and the program has not seen it */
    bool done;        /* wire is over; status and error say how */
    bool own_type;    /* payload.type was built at recovery */
    bool lost_buffer; /* a restored persistent one whose buffer cannot be known */
    bool framed;      /* the payload goes to its place itself; in row there is only the header */

    struct payload payload;
    int peer;
    int tag;
    struct handle *communicator;

    uint64_t place;                  /* of a receive, in matching order */
    const struct log_entry *outcome; /* in recovery, what the log says of it, or NULL */
    const char *outcome_data;

    struct started *collective; /* REQUEST_COLLECTIVE under way: owned, see nonblocking.c */
    struct kept *kept;          /* a persistent one: owned, see kept.c */

    MPI_Request wire;
    MPI_Message message; /* REQUEST_MESSAGE, if the library still has it */
    MPI_Status status;
    int error;
    /* The two below stay when the request is used again. */
    char *row;          /* header and payload; owned */
    uint64_t row_bytes; /* room in row, SMALL_BYTES of payload at least */
};

/* An active one. payload, peer, tag and so on are the caller's to fill in. */
struct request *request_new(enum request_kind kind);

/* World rank of a rank of its communicator. */
static inline int world_rank(const struct handle *communicator, int rank)
{
    return communicator->world[rank];
}

/* Gone, with its handle. */
void request_free(struct request *request);

/* Gives it a number, so that the program can have a handle. Returns the handle. */
MPI_Request request_handle(struct request *request);

/* That it has already. */
static inline MPI_Request request_handle_of(const struct request *request)
{
    return NUMBERED(MPI_Request, NUMBERED_REQUESTS, request->number);
}

/* Keeps its communicator until it is freed. */
void request_hold(struct request *request);

/* The program's handle is gone, the request is not. */
void request_forget_number(struct request *request);

/* NULL: not one of ours. */
struct request *request_of(MPI_Request handle);

/* In order of their places: every receive that is active, and every message found by a matched
 * probe. */
struct request *requests_pending(void);
struct request *requests_pending_last(void);
void request_is_pending(struct request *request);
void request_is_not_pending(struct request *request);

/* NULL: nobody has this number. */
struct request *request_by_number(int number);

/* All that have a number, in order of numbers: the next after `number`, NULL if there is none. */
struct request *request_after(int number);

/* Makes room for header and `bytes` of payload in row; what was in it may be lost. */
void request_row(struct request *request, uint64_t bytes);

/* The program is about to stop logging: for each receive that was open (a wildcard, or the program
 * asked to cancel it), that the library has completed and the program has not seen, the log says
 * what it took in, or that it was cancelled. */
void requests_log_matched(void);

/* Gives `request` this very number: for requests that are restored. */
void request_renumber(struct request *request, int number);

#endif
