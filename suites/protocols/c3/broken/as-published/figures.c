/* Figures 5 to 8 of [C3] as they are printed, in place of this protocol's own handling of
 * collectives: their conditions, their order, their names. What a figure calls with its arguments
 * is called here; `comm` is the communicator's twin for the protocol's messages. All around it is
 * shared: wrappers, the ids of calls, log, replay, suppressList, reexecList.
 *
 * What the figures leave open is decided in their favour: calls are identified by communicator and
 * number; what a root beyond the line notes in its suppressList is saved with its log (section
 * 2.3); figure 5 serves all calls among all, scans too, 6 and 7 those to and from a root. Section
 * 3.3 has the suppressList saved with the checkpoint, which is taken by then:
 * C3_SUPPRESS_LIST=checkpoint. */
#include "c3/calls.h"
#include "c3/collectives/collective.h"
#include "c3/line.h"
#include "c3/suppress.h"

#include <stdlib.h>
#include <string.h>

/* In collective.c. */
void log_result(const struct collective *call, const struct parts *result);
void log_suppressed(const struct collective *call, int sender);

/* What this rank has learnt of the others in the control operations of the call under way. */
static int crosses_recovery_line, some_not_logging, root_is_logging;

static unsigned char color(void)
{
    return self.epoch & 1;
}

static int world_of(const struct collective *call, int rank)
{
    return call->communicator->world[rank];
}

/* --- figure 5 --------------------------------------------------------------------------------- */

int bits_allgather(struct handle *communicator, bits *all)
{
    int my_color = color(), not_logging = !self.logging;
    all[communicator->rank] = color();
    int error = PMPI_Allreduce(&my_color, &crosses_recovery_line, 1, MPI_INT, MPI_LXOR,
                               communicator->hidden);
    if (error == MPI_SUCCESS)
        error = PMPI_Allreduce(&not_logging, &some_not_logging, 1, MPI_INT, MPI_LOR,
                               communicator->hidden);
    return error;
}

int collective_was_exchanged(const struct collective *call, const struct parts *result, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    if (crosses_recovery_line && self.logging)
        log_result(call, result);
    else if (!crosses_recovery_line && self.logging && some_not_logging)
        line_stop_logging();
    return error;
}

/* --- figure 6 --------------------------------------------------------------------------------- */

int bits_gather(struct handle *communicator, int root, bits *all)
{
    unsigned char my_color = color();
    int not_logging = !self.logging;
    int error = PMPI_Gather(&my_color, 1, MPI_UNSIGNED_CHAR, all, 1, MPI_UNSIGNED_CHAR, root,
                            communicator->hidden);
    if (error == MPI_SUCCESS)
        error = PMPI_Reduce(&not_logging, &some_not_logging, 1, MPI_INT, MPI_LOR, root,
                            communicator->hidden);
    return error;
}

int collective_was_sent_to_root(const struct collective *call, int root, int error)
{
    (void)call;
    (void)root;
    return error;
}

/* Record early sends for suppression. */
static void suppress_early(const struct collective *call)
{
    for (int p = 0; p < call->size; p++)
        if (p != call->rank && call->bits[p] != color())
            suppress_add(world_of(call, p), call->id);
}

/* Record all sends that do not cross the recovery line for suppression. */
static void suppress_not_crossing(const struct collective *call)
{
    const char *saved_with = getenv("C3_SUPPRESS_LIST");
    bool with_checkpoint = saved_with && strcmp(saved_with, "checkpoint") == 0;
    for (int p = 0; p < call->size; p++) {
        if (p == call->rank || call->bits[p] != color())
            continue;
        if (with_checkpoint)
            suppress_add(world_of(call, p), call->id);
        else
            log_suppressed(call, world_of(call, p));
    }
}

int collective_came_from_all(const struct collective *call, const struct parts *result, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    const bits *colors = call->bits;
    bool crosses = false;
    for (int p = 0; p < call->size; p++)
        crosses |= p != call->rank && colors[p] != color();
    if (crosses && !self.logging) {
        suppress_early(call);
    } else if (crosses && self.logging) {
        log_result(call, result);
        suppress_not_crossing(call);
    } else if (!crosses && self.logging && some_not_logging) {
        line_stop_logging();
    }
    return error;
}

/* --- figure 7 --------------------------------------------------------------------------------- */

int bits_broadcast(struct handle *communicator, int root, bits *root_color)
{
    if (communicator->rank == root) {
        *root_color = color();
        root_is_logging = self.logging;
    }
    int error = PMPI_Bcast(root_color, 1, MPI_UNSIGNED_CHAR, root, communicator->hidden);
    if (error == MPI_SUCCESS)
        error = PMPI_Bcast(&root_is_logging, 1, MPI_INT, root, communicator->hidden);
    return error;
}

int collective_was_sent(const struct collective *call, int error)
{
    (void)call;
    return error;
}

int collective_came_from_root(const struct collective *call, int root, const struct parts *result,
                              const struct reexec *reexec, int error)
{
    if (error != MPI_SUCCESS)
        return error;
    bool crosses = color() != call->bits[root];
    if (crosses && self.logging)
        log_result(call, result);
    else if (crosses && !self.logging)
        reexec_add(reexec);
    else if (!crosses && self.logging && !root_is_logging)
        line_stop_logging();
    return error;
}

/* --- figure 8 --------------------------------------------------------------------------------- */

/* The figure has MPI_Reduce, without a root (rank 0 here); the text MPI_AllReduce, which is what
 * C3_FIGURE_8=text does. */
static int exchange_not_logging(struct handle *communicator)
{
    const char *way = getenv("C3_FIGURE_8");
    int not_logging = !self.logging;
    some_not_logging = 0;
    if (way && strcmp(way, "text") == 0)
        return PMPI_Allreduce(&not_logging, &some_not_logging, 1, MPI_INT, MPI_LOR,
                              communicator->hidden);
    return PMPI_Reduce(&not_logging, &some_not_logging, 1, MPI_INT, MPI_LOR, 0,
                       communicator->hidden);
}

static int exchange_states(struct collective *call)
{
    unsigned char my_color = color();
    int error = PMPI_Allgather(&my_color, 1, MPI_UNSIGNED_CHAR, call->bits, 1, MPI_UNSIGNED_CHAR,
                               call->communicator->hidden);
    return error == MPI_SUCCESS ? exchange_not_logging(call->communicator) : error;
}

EXPORTED int MPI_Barrier(MPI_Comm comm)
{
    struct collective call;
    struct handle *communicator = call_begin(comm);
    if (!communicator)
        return MPI_ERR_COMM;
    collective_begin_on(&call, communicator);
    int error = exchange_states(&call);
    if (error != MPI_SUCCESS)
        return error;
    bool somebody_checkpointed = false;
    for (int p = 0; p < call.size; p++)
        somebody_checkpointed |= p != call.rank && call.bits[p] != color();
    if (!self.logging && somebody_checkpointed)
        line_checkpoint_at_barrier();
    else if (self.logging && some_not_logging)
        line_stop_logging();
    return PMPI_Barrier(call.real);
}
