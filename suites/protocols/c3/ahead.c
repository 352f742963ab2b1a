/* See transfer.h: receives that were posted earlier. A message goes to the first posted receive
 * that matches it [MPI 3.1, section 3.5]. If a later receive gets a message that an earlier open
 * one (any source, any tag, or to be cancelled) could have taken, the earlier one must have taken
 * another:
 *
 *     a = Irecv(any source)   b = Irecv(source 1)   Wait(b): a message from 1
 *
 * The program now knows something about a, although a's outcome is logged only when a is handed
 * over. If the rank logs, the outcome of a must not come out differently in recovery. So b is
 * handed over only when a is in (ahead_is_over), and if the sender of a's message has stopped
 * logging, this rank stops before it hands over b (ahead_before). The list of pending receives is
 * gone through for each message that arrives while logging. Must not know: the log. */
#include "c3/line.h"
#include "c3/transfer.h"

/* It is open which message `earlier` takes, and it could be one of this source and tag. Not if it
 * is bound to a message, waits to be posted, or has its outcome from the log. */
static bool could_take(const struct request *earlier, const struct handle *communicator, int source,
                       int tag)
{
    bool open = earlier->peer == MPI_ANY_SOURCE || earlier->tag == MPI_ANY_TAG || earlier->cancel;
    return open && earlier->kind == REQUEST_RECEIVE && !earlier->bound && !earlier->waiting &&
           !earlier->outcome && earlier->communicator == communicator &&
           (earlier->peer == MPI_ANY_SOURCE || earlier->peer == source) &&
           (earlier->tag == MPI_ANY_TAG || earlier->tag == tag);
}

bool ahead_is_over(const struct handle *communicator, int source, int tag, uint64_t place)
{
    bool over = true;
    if (!self.logging)
        return true;
    for (struct request *one = requests_pending(); one && one->place < place; one = one->after)
        if (could_take(one, communicator, source, tag) && !transfer_is_in(one))
            over = false;
    return over;
}

void ahead_before(const struct handle *communicator, int source, int tag, uint64_t place)
{
    for (struct request *one = requests_pending(); one && one->place < place; one = one->after)
        if (one->done && could_take(one, communicator, source, tag) && transfer_sender_stopped(one))
            line_stop_logging();
}
