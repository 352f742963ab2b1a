/* MPI_Barrier [C3, section 5.4]: a potential checkpoint of its own, so that no barrier is before
 * the recovery line on one rank and beyond it on another. What the program has registered must be
 * enough to go on from the call. Must not know: the log. */
#include "c3/calls.h"
#include "c3/collectives/collective.h"
#include "c3/collectives/nonblocking.h"
#include "c3/line.h"

/* Nobody goes on into the barrier before all have said where they stand: whoever is before the line
 * takes its checkpoint here, ahead of it. */
static void come_to_line(const struct collective *call)
{
    bool before = false, stopped = false;
    for (int rank = 0; rank < call->size; rank++) {
        struct bits_stand stand = bits_read(call->bits[rank]);
        before |= stand.crossing == CROSSING_EARLY;
        stopped |= stand.stopped;
    }
    if (before)
        line_checkpoint_at_barrier();
    else if (stopped)
        line_stop_logging();
}

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    struct collective call;
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    if (nonblocking_pending() > 0)
        refuse("MPI_Barrier while a non-blocking collective call is under way", "MPI_Wait first");
    collective_begin_on(&call, communicator);
    int error = bits_allgather(communicator, call.bits);
    if (error != MPI_SUCCESS)
        return error;
    come_to_line(&call);
    return PMPI_Barrier(call.real);
}
