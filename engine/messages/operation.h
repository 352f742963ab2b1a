/* One send or receive of this process, from its arguments to its end. */
#ifndef ENGINE_MESSAGES_OPERATION_H
#define ENGINE_MESSAGES_OPERATION_H

#include "engine/communicators/communicator.h"
#include "engine/messages/mailbox.h"
#include "engine/requests/request.h"

struct library;

enum send_mode { SEND_STANDARD, SEND_BUFFERED, SEND_SYNCHRONOUS, SEND_READY };

/* Where data is in this process. The type is the operation's own while `owned`. */
struct side {
    union {
        const void *from;
        void *into;
    };
    MPI_Count count;
    MPI_Datatype type;
    bool owned;
    int peer, tag;
};

struct operation {
    struct comm_view *view; /* held */
    struct side side;
    enum send_mode mode;
    struct message *message; /* of a send that waits for its match; of a receive of a found one */
    struct posted *posted;   /* of a receive that was begun */
    bool was_cancelled;
    int failed; /* error class with which it began; MPI_SUCCESS */
};

/* The class of what is wrong with the arguments, MPI_SUCCESS. `receives`: wildcards are allowed. */
int operation_check(const struct operation *operation, bool receives);

/* Sends, begins a receive: `side`, `mode`, `view` are filled. Return the error class. */
int send_begin(struct operation *send);
int receive_begin(struct operation *receive);

/* The class with which a receive that has got nothing must fail, and may by now; MPI_SUCCESS: it
 * goes on. */
int receive_hopeless(const struct operation *receive);
/* In a run that is explored: there is a message for it; touches what could have ended it before. */
void receive_see_alternatives(const struct operation *receive);

extern const struct request_kind send_kind, receive_kind;

/* Gives the token away until it is ready, and completes it. */
int operation_complete(const struct request_kind *kind, struct operation *operation,
                       MPI_Status *status);

/* A copy on the heap, with its view held and its type kept; NULL without memory. */
struct operation *operation_keep(const struct operation *operation);

/* The bytes that `count` of `type` are when packed; -1: no such type. */
MPI_Count packed_bytes(MPI_Count count, MPI_Datatype type);

void sends_fill(struct library *table);
void receives_fill(struct library *table);
void exchanges_fill(struct library *table);

#endif
