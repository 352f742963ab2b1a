/* See transfer.h: messages that were taken in for a probe. While this rank logs and others may have
 * stopped, a probe must look at the piggyback, so the message is received; a receive that matches
 * takes it from here. They are older than any message with the same source and tag that the library
 * still has. */
#include "c3/transfer.h"

static struct request *first, *last;

static bool matches(const struct request *message, const struct handle *communicator, int source,
                    int tag)
{
    return message->communicator == communicator &&
           (source == MPI_ANY_SOURCE || source == message->status.MPI_SOURCE) &&
           (tag == MPI_ANY_TAG || tag == message->status.MPI_TAG);
}

struct request *arrived_find(const struct handle *communicator, int source, int tag)
{
    struct request *one = first;
    while (one && !matches(one, communicator, source, tag))
        one = one->after;
    return one;
}

void arrived_add(struct request *message)
{
    request_hold(message);
    message->before = last;
    message->after = NULL;
    *(last ? &last->after : &first) = message;
    last = message;
}

void arrived_remove(struct request *message)
{
    *(message->before ? &message->before->after : &first) = message->after;
    *(message->after ? &message->after->before : &last) = message->before;
}
