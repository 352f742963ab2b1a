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
 * logging, this rank stops before it hands over b (ahead_before). The same holds for a receive
 * that could have taken the message of a, and so on: all these are *ahead* of b's message. The list
 * of pending receives is gone through for each message that arrives while logging. Must not know:
 * the log. */
#include "c3/line.h"
#include "c3/transfer.h"

/* It is open which message it takes. Not if it is bound to one, or has its outcome from the log. */
static bool is_open(const struct request *receive)
{
    return (receive->peer == MPI_ANY_SOURCE || receive->tag == MPI_ANY_TAG || receive->cancel) &&
           receive->kind == REQUEST_RECEIVE && !receive->bound && !receive->outcome;
}

static bool could_take(const struct request *earlier, const struct handle *communicator, int source,
                       int tag)
{
    return is_open(earlier) && earlier->communicator == communicator &&
           (earlier->peer == MPI_ANY_SOURCE || earlier->peer == source) &&
           (earlier->tag == MPI_ANY_TAG || earlier->tag == tag);
}

static bool could_take_message_of(const struct request *earlier, const struct request *later)
{
    return later->done && !transfer_is_cancelled(later) &&
           could_take(earlier, later->communicator, later->status.MPI_SOURCE,
                      later->status.MPI_TAG);
}

static bool is_ahead_of_one_ahead(const struct request *earlier, uint64_t place)
{
    if (!is_open(earlier))
        return false;
    for (const struct request *one = earlier->after; one && one->place < place; one = one->after)
        if (one->ahead && could_take_message_of(earlier, one))
            return true;
    return false;
}

bool ahead_is_over(const struct handle *communicator, int source, int tag, uint64_t place)
{
    bool over = true;
    if (!self.logging)
        return true;
    for (struct request *one = requests_pending_last(); one; one = one->before) {
        one->ahead = one->place < place && (could_take(one, communicator, source, tag) ||
                                            is_ahead_of_one_ahead(one, place));
        if (one->ahead && !transfer_is_in(one))
            over = false;
    }
    return over;
}

void ahead_before(const struct handle *communicator, int source, int tag, uint64_t place)
{
    ahead_is_over(communicator, source, tag, place);
    for (struct request *one = requests_pending(); one && one->place < place; one = one->after)
        if (one->ahead && one->done && transfer_sender_stopped(one))
            line_stop_logging();
}

bool ahead_are_logged(const struct request *request)
{
    for (struct request *one = requests_pending(); one != request; one = one->after)
        if (!one->logged && could_take_message_of(one, request))
            return false;
    return true;
}
