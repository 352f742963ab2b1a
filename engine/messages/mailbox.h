/* Messages on their way, arrived ones, and receives that wait for them: in the mapping, one mailbox
 * per process. A message arrives as a step of its own (engine_network), in the order in which it
 * was sent where it has the same source and communicator; it is matched there and then. Must not
 * know: datatypes, buffers, requests. */
#ifndef ENGINE_MESSAGES_MAILBOX_H
#define ENGINE_MESSAGES_MAILBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* References: the receiving side's, and the sender's while it waits for the match. */
struct message {
    struct message *next;
    int32_t references;
    int32_t from, to; /* processes */
    int32_t source;   /* as the receiver numbers it: what MPI_SOURCE will be */
    int32_t tag;
    uint32_t context; /* of the communicator */
    uint64_t number;  /* how many-th that `from` has sent */
    uint64_t begun;   /* object_name of the receive that has got it; 0: none */
    uint32_t arrival; /* transition in which it arrived */
    bool arrived;
    bool matched; /* a receive has it, or a matched probe */
    bool awaited; /* the sender waits for the match */
    bool cancelled;
    size_t bytes;
    char payload[];
};

/* A receive that was begun. */
struct posted {
    struct posted *next;
    int32_t owner;
    int32_t source; /* or MPI_ANY_SOURCE */
    int32_t tag;    /* or MPI_ANY_TAG */
    uint32_t context;
    uint64_t number;         /* how many-th receive of the owner */
    struct message *message; /* what it got; NULL: it still waits, in the mailbox */
};

/* What is sent now: with two references if it is awaited, else one. payload: to be filled. */
struct message *mailbox_message(int to, size_t bytes, bool awaited);
void mailbox_send(struct message *message);
void mailbox_drop(struct message *message);

/* Takes a message back that nothing has matched. False: it is too late. */
bool mailbox_take_back(struct message *message);

/* Begins a receive of this process; takes the first message that has arrived and matches. */
struct posted *mailbox_post(uint32_t context, int source, int tag);
/* Ends it: *message (may be NULL: it was taken out before it got one) is the caller's reference. */
struct message *mailbox_unpost(struct posted *posted);

/* The first arrived message that a receive of this process could get now; NULL: none. */
struct message *mailbox_find(uint32_t context, int source, int tag);
/* Takes it out for a matched receive: the reference is the caller's. */
void mailbox_take(struct message *message);

/* A message from this process, by number, is on its way or has arrived and could match. */
bool mailbox_expects(uint32_t context, int source, int tag);

/* What is touched when a process sees whether a message has been matched, a receive has got one, or
 * a message is there (transition.h). */
void mailbox_see_matched(const struct message *message);
void mailbox_see_posted(const struct posted *posted);
void mailbox_see_arrived(const struct message *message);
/* The same where one was found that fits, or none was, or none is waited for any more; source and
 * tag may be MPI_ANY_SOURCE and MPI_ANY_TAG. */
void mailbox_see_found(const struct message *message, int source, int tag);
void mailbox_see_none(uint32_t context, int source, int tag);

/* The network, to be known to engine_network in every process. */
void mailbox_open(void);

#endif
