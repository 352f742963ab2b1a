/* Collectives as requests: see collective.h. */
#include "engine/collectives/collective.h"

#include "engine/requests/request.h"

#include <stdlib.h>

/* --- what is meant by in place ---------------------------------------------------------------- */

/* This rank's block of the receiving side is what it sends. */
static void send_own_block(struct collective *c)
{
    struct blocks *send = &c->call.send, *receive = &c->call.receive;
    int rank = c->view->rank;
    *send = (struct blocks){.buffer = blocks_address(receive, rank),
                            .count = blocks_count(receive, rank),
                            .type = blocks_type(receive, rank)};
    c->skip_own = true;
}

static void resolve_in_place(struct collective *c)
{
    struct call *call = &c->call;
    if (call->operation == COLLECTIVE_BCAST) {
        call->receive = call->send;
    } else if (call->send.buffer == MPI_IN_PLACE && c->traits->rooted && !c->traits->reduces) {
        c->skip_own = true;
    } else if (call->send.buffer == MPI_IN_PLACE && (c->traits->reduces || c->traits->per_peer)) {
        call->send = call->receive;
    } else if (call->send.buffer == MPI_IN_PLACE) {
        send_own_block(c);
    } else if (call->receive.buffer == MPI_IN_PLACE) {
        c->skip_own = true;
    }
}

/* All elements are sent, of which each member gets a part. */
static void add_up(struct collective *c)
{
    struct call *call = &c->call;
    int members = c->view->local_count;
    if (call->operation == COLLECTIVE_REDUCE_SCATTER_BLOCK)
        c->total = members * call->receive.count;
    else
        for (int i = 0; i < members; i++)
            c->total += blocks_count(&call->receive, i);
    call->send.counts = NULL;
    call->send.count = c->total;
}

void collective_prepare(struct collective *c)
{
    const struct comm_view *view = c->view;
    enum operation operation = c->call.operation;
    c->peers = view->peers_count;
    if (c->traits->rooted) {
        c->is_root = view->inter ? c->call.root == MPI_ROOT : c->call.root == view->rank;
        c->idle = view->inter && c->call.root == MPI_PROC_NULL;
    }
    if (c->traits->neighbours &&
        !neighbours_of(view->topology, view->rank, MPI_PROC_NULL, &c->neighbours))
        engine_abort(MPI_ERR_NO_MEM);
    if (!c->idle)
        resolve_in_place(c);
    if (operation == COLLECTIVE_REDUCE_SCATTER || operation == COLLECTIVE_REDUCE_SCATTER_BLOCK)
        add_up(c);
}

/* --- who is needed ---------------------------------------------------------------------------- */

static bool has_come(const struct collective *c, int peer)
{
    return c->meeting->deposit[collective_place(c, peer)] != NULL;
}

static bool have_come(const struct collective *c, int peers)
{
    for (int i = 0; i < peers; i++)
        if (!has_come(c, i))
            return false;
    return true;
}

static bool sources_have_come(const struct collective *c)
{
    const struct neighbours *mine = &c->neighbours;
    for (int i = 0; i < mine->sources_count; i++)
        if (mine->sources[i] != MPI_PROC_NULL && !has_come(c, mine->sources[i]))
            return false;
    return true;
}

static bool needs_are_met(void *data)
{
    const struct collective *c = data;
    if (c->waits_for_all)
        return meeting_is_full(c->meeting);
    switch (c->traits->need) {
    case NEED_ROOT:
        return c->is_root || c->idle || has_come(c, c->call.root);
    case NEED_LOWER:
        return have_come(c, c->view->rank);
    case NEED_SOURCES:
        return sources_have_come(c);
    default:
        return c->idle || (c->traits->rooted && !c->is_root) || have_come(c, c->peers);
    }
}

/* --- as a request ----------------------------------------------------------------------------- */

/* Joins the meeting with this rank's deposit. Returns an error class. */
static int start(void *data)
{
    struct collective *c = data;
    int result = meeting_enter(c->view);
    if (result != MPI_SUCCESS)
        return result;
    struct deposit *brought = blocks_pack(c);
    bool may_leave = c->traits->rooted || c->traits->need != NEED_ALL;
    bool is_awaited = may_leave && brought->start[brought->parts] > ENGINE_EAGER_BYTES;
    c->waits_for_all = is_awaited && engine_decide(DECIDE_LEAVE, 2) == 1;
    c->meeting = meeting_of_all(c->view, &c->key, c->traits->name, brought);
    return MPI_SUCCESS;
}

static bool ready(void *data)
{
    struct collective *c = data;
    return meeting_settled(c->view, c->meeting, needs_are_met, c);
}

/* Ends the call by what came of the meeting, an error class. */
static int take(struct collective *c, int result)
{
    if (result == MPI_SUCCESS)
        result = c->traits->reduces ? reduce_take(c) : blocks_unpack(c);
    meeting_leave(c->meeting);
    c->meeting = NULL;
    return result;
}

static int finish(void *data, MPI_Status *status)
{
    struct collective *c = data;
    (void)status;
    return take(c, meeting_outcome(c->view, c->meeting, needs_are_met, c, false));
}

static void release(void *data)
{
    struct collective *c = data;
    if (c->traits->reduces)
        operation_drop(c->call.op);
    types_drop(c);
    neighbours_release(&c->neighbours);
    view_drop(c->view);
    free(c);
}

static const struct request_kind kind = {
    .name = "a collective", .ready = ready, .finish = finish, .start = start, .release = release};

/* The view of a call without errors, or NULL and the class in *result. */
static struct comm_view *look_at(const struct call *call, int *result)
{
    struct comm_view *view = communicator_view(call->comm);
    *result = view ? arguments_check(call, view) : MPI_ERR_COMM;
    return *result == MPI_SUCCESS ? view : NULL;
}

static struct collective *collective_new(const struct call *call, struct comm_view *view)
{
    struct collective *c = calloc(1, sizeof *c);
    if (!c)
        engine_abort(MPI_ERR_NO_MEM);
    c->call = *call;
    c->traits = &traits_of[call->operation];
    c->view = view_hold(view);
    c->key.kind = MEETING_COLLECTIVE;
    if (c->traits->reduces)
        operation_hold(call->op);
    collective_prepare(c);
    return c;
}

/* --- the forms -------------------------------------------------------------------------------- */

int collective_run(const struct call *call)
{
    int result;
    struct comm_view *view = look_at(call, &result);
    if (!view)
        return communicator_raise(call->comm, result);
    struct collective *c = collective_new(call, view);
    result = start(c);
    if (result == MPI_SUCCESS)
        result = take(c, meeting_await(c->view, c->meeting, needs_are_met, c));
    release(c);
    return communicator_raise(call->comm, result);
}

/* For a request: the program may free its types and its operation while that is pending. Returns
 * the class of what is wrong with the call. */
static int prepare(const struct call *call, const MPI_Request *request, struct collective **made)
{
    int result;
    struct comm_view *view = look_at(call, &result);
    if (view && !request)
        result = MPI_ERR_ARG;
    if (result != MPI_SUCCESS)
        return result;
    *made = collective_new(call, view);
    types_keep(*made);
    return MPI_SUCCESS;
}

int collective_join(const struct call *call, MPI_Request *request)
{
    struct collective *c;
    int result = prepare(call, request, &c);
    if (result != MPI_SUCCESS)
        return communicator_raise(call->comm, result);
    result = start(c);
    if (result == MPI_SUCCESS)
        *request = request_make(&kind, c, false, call->comm);
    else
        release(c);
    return communicator_raise(call->comm, result);
}

int collective_init(const struct call *call, MPI_Request *request)
{
    struct collective *c;
    int result = prepare(call, request, &c);
    if (result != MPI_SUCCESS)
        return communicator_raise(call->comm, result);
    c->key = (struct meeting_key){.kind = MEETING_PERSISTENT, .tag = c->view->persistent++};
    *request = request_make(&kind, c, true, call->comm);
    return MPI_SUCCESS;
}
