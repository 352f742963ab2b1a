/* See transfer.h: receives that were posted earlier. A message goes to the first of them that
 * matches [MPI 3.1, section 3.5], so who is given one from behind an open receive knows that this
 * has taken another. While this rank logs, that must come out the same in recovery, or be beyond
 * the stop-log line. Must not know: the log. */
#include "c3/line.h"
#include "c3/transfer.h"

/* Is it open which message it takes, and could it have been one of this source and tag? */
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
