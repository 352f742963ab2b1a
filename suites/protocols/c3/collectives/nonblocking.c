/* See nonblocking.h.
 *
 * Data and control bits go by a non-blocking call of the library each, both started at once: so a
 * rank that does something else meanwhile holds nobody up. Where everybody stood is looked at when
 * the call is complete. Ranks do not wait for each other as in a blocking call, so a part that is
 * still to be taken in must keep its receiver from being ready to stop logging: each pair of ranks
 * that data flows between is a message in mySendCount, as in section 5.2 and 5.3 for blocking ones.
 */
#include "c3/collectives/nonblocking.h"

#include "c3/calls.h"
#include "c3/collectives/collective.h"
#include "c3/line.h"

#include <stdlib.h>

enum { WIRE_DATA, WIRE_BITS, WIRES };

/* A call under way. */
struct started {
    struct collective call; /* its bits are after this struct */
    struct described what;
    enum flow flow;
    bool to_wire;
    bool taken;          /* its category has had its way */
    struct parts result; /* of no pieces: this rank gets nothing */
    struct reexec reexec;
    MPI_Request wire[WIRES];
    bits own;
    int error;
};

static size_t pending;

size_t nonblocking_pending(void)
{
    return pending;
}

/* --- starting --------------------------------------------------------------------------------- */

static struct started *room_for_call(const struct collective *call, const struct described *what)
{
    struct started *one = memory(1, sizeof *one + (size_t)call->size);
    one->call = *call;
    one->call.bits = (bits *)(one + 1);
    one->what = *what;
    one->flow = described_flow(what);
    one->to_wire = true;
    one->wire[WIRE_DATA] = one->wire[WIRE_BITS] = MPI_REQUEST_NULL;
    return one;
}

/* Do the others take part in it, as far as can be seen? */
static bool counts(const struct started *one)
{
    return one->flow == FLOW_AMONG_ALL || collective_has_root(&one->call, one->what.root);
}

/* The next call on the communicator. */
static struct started *begin(struct handle *communicator, const struct described *what)
{
    struct collective call;
    collective_begin_on(&call, communicator);
    struct started *one = room_for_call(&call, what);
    if (!counts(one))
        return one;
    collective_number(&one->call);
    described_settle(&one->what, call.rank, call.size);
    one->result = described_result(&one->what, call.rank);
    bool is_root = call.rank == what->root;
    if (one->flow == FLOW_FROM_ROOT)
        one->reexec = (struct reexec){(enum reexec_kind)(REEXEC_IBCAST + (int)what->kind),
                                      communicator,
                                      what->root,
                                      one->what.got.length,
                                      one->what.got.type,
                                      reexec_next()};
    if (one->flow == FLOW_AMONG_ALL || (one->flow == FLOW_TO_ROOT) == is_root)
        one->to_wire = !collective_replayed(&one->call, &one->result);
    else if (one->flow == FLOW_TO_ROOT)
        one->to_wire = !collective_suppressed(&one->call, what->root);
    return one;
}

static int start_bits(struct started *one)
{
    const struct collective *call = &one->call;
    MPI_Comm comm = call->communicator->hidden;
    MPI_Request *wire = &one->wire[WIRE_BITS];
    int root = one->what.root;
    one->own = call->bits[call->rank] = bits_own();
    if (call->size == 1)
        return MPI_SUCCESS;
    switch (one->flow) {
    case FLOW_FROM_ROOT:
        return PMPI_Ibcast(&call->bits[root], 1, MPI_UNSIGNED_CHAR, root, comm, wire);
    case FLOW_TO_ROOT:
        return PMPI_Igather(&one->own, 1, MPI_UNSIGNED_CHAR, call->bits, 1, MPI_UNSIGNED_CHAR, root,
                            comm, wire);
    default:
        return PMPI_Iallgather(&one->own, 1, MPI_UNSIGNED_CHAR, call->bits, 1, MPI_UNSIGNED_CHAR,
                               comm, wire);
    }
}

/* What this rank gives is on its way, as a message is whose send has returned. */
static void count_as_sent(const struct started *one)
{
    bool is_root = one->flow != FLOW_AMONG_ALL && one->call.rank == one->what.root;
    if (one->flow == FLOW_AMONG_ALL || (one->flow == FLOW_FROM_ROOT && is_root))
        collective_was_sent(&one->call, MPI_SUCCESS);
    else if (one->flow == FLOW_TO_ROOT && !is_root)
        collective_was_sent_to_root(&one->call, one->what.root, MPI_SUCCESS);
}

int nonblocking_start(struct request *request, const struct described *what)
{
    struct started *one = begin(request->communicator, what);
    int error = MPI_SUCCESS;
    if (one->to_wire)
        error = described_start(&one->what, one->call.real, &one->wire[WIRE_DATA]);
    if (error != MPI_SUCCESS) {
        free(one);
        return error;
    }
    if (!counts(one))
        die("the library started a collective call with root %d of %d", what->root, one->call.size);
    if (one->to_wire) {
        if (start_bits(one) != MPI_SUCCESS)
            die("the control bits of a collective call cannot be sent");
        count_as_sent(one);
    }
    request->collective = one;
    pending++;
    return MPI_SUCCESS;
}

/* --- completion ------------------------------------------------------------------------------- */

static bool is_over(struct started *one)
{
    int over = 0;
    MPI_Status statuses[WIRES]; /* the compiler takes MPI_STATUSES_IGNORE for an array */
    one->error = PMPI_Testall(WIRES, one->wire, &over, statuses);
    return over || one->error != MPI_SUCCESS;
}

bool nonblocking_poll(struct request *request)
{
    if (!request->done)
        request->done = !request->collective->to_wire || is_over(request->collective);
    return request->done;
}

/* Nobody's part is suppressed or executed again without the others': those beyond the line have
 * the result in the log. */
static void count_as_received(const struct collective *call)
{
    for (int rank = 0; rank < call->size; rank++) {
        int world = world_rank(call->communicator, rank);
        if (rank == call->rank)
            continue;
        switch (bits_read(call->bits[rank]).crossing) {
        case CROSSING_LATE:
            self.previous[world]++;
            break;
        case CROSSING_EARLY:
            self.next[world]++;
            break;
        case CROSSING_INTRA:
            self.current[world]++;
            break;
        }
    }
}

void nonblocking_before(struct request *request)
{
    struct started *one = request->collective;
    bool is_root = one->call.rank == one->what.root;
    if (one->taken || !one->to_wire || one->error != MPI_SUCCESS)
        return;
    one->taken = true;
    if (one->flow == FLOW_AMONG_ALL) {
        count_as_received(&one->call);
        collective_was_exchanged(&one->call, &one->result, MPI_SUCCESS);
    } else if (one->flow == FLOW_FROM_ROOT && !is_root) {
        collective_came_from_root(&one->call, one->what.root, &one->result, &one->reexec,
                                  MPI_SUCCESS);
    } else if (one->flow == FLOW_TO_ROOT && is_root) {
        collective_came_from_all(&one->call, &one->result, MPI_SUCCESS);
    }
}

int nonblocking_hand_over(struct request *request)
{
    int error = request->collective->error;
    free(request->collective);
    request->collective = NULL;
    pending--;
    return error;
}

/* --- again ------------------------------------------------------------------------------------ */

/* A listed call that was started at recovery. */
struct repeated {
    struct repeated *next;
    struct started *started;
    char *buffer; /* owned */
};

static struct repeated *repeated;

void nonblocking_reexec(const struct reexec *reexec)
{
    struct collective call;
    struct repeated *one = memory(1, sizeof *one);
    struct described what = {
        .kind = (enum described_kind)(reexec->kind - REEXEC_IBCAST),
        .root = reexec->root,
        .got = one_part(room_for(reexec->count, reexec->type, &one->buffer), reexec->count,
                        reexec->type),
    };
    collective_begin_on(&call, reexec->communicator);
    described_settle(&what, call.rank, call.size);
    one->started = room_for_call(&call, &what);
    if (described_start(&what, call.real, &one->started->wire[WIRE_DATA]) != MPI_SUCCESS ||
        start_bits(one->started) != MPI_SUCCESS)
        die("a collective call of before the checkpoint cannot be done again");
    one->next = repeated;
    repeated = one;
}

void nonblocking_reexec_finish(void)
{
    while (repeated) {
        struct repeated *one = repeated;
        while (!is_over(one->started))
            line_progress();
        repeated = one->next;
        free(one->buffer);
        free(one->started);
        free(one);
    }
}
