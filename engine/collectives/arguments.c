/* The errors of arguments that MPI asks to be found, with the classes of the library. */
#include "engine/collectives/collective.h"
#include "engine/data/packing.h"

#define HANDLE_KIND(handle) ((uint32_t)(handle) >> 26 & 0xfu)
#define HANDLE_IS_MADE(handle) ((uint32_t)(handle) >> 30 != 0)
#define KIND_OF_TYPES 0x3u
#define KIND_OF_OPERATIONS 0x6u

static int check_type(MPI_Datatype type)
{
    bool is_type = HANDLE_IS_MADE(type) && HANDLE_KIND(type) == KIND_OF_TYPES;
    return is_type ? MPI_SUCCESS : MPI_ERR_TYPE;
}

/* A NULL buffer is allowed only with a type of absolute addresses. */
static int check_buffer(const void *buffer, MPI_Count count, MPI_Datatype type)
{
    MPI_Aint lower = 0, extent = 0;
    if (buffer == MPI_IN_PLACE)
        return MPI_ERR_BUFFER;
    if (buffer || count <= 0)
        return MPI_SUCCESS;
    local.Type_get_true_extent(type, &lower, &extent);
    return lower == 0 && extent > 0 ? MPI_ERR_BUFFER : MPI_SUCCESS;
}

/* `number` blocks. */
static int check_blocks(const struct blocks *blocks, int number)
{
    MPI_Count most = 0;
    if ((number > 0 && blocks->types && !blocks->counts))
        return MPI_ERR_ARG;
    for (int i = 0; i < number; i++) {
        MPI_Count count = blocks_count(blocks, i);
        int result = check_type(blocks_type(blocks, i));
        if (count < 0)
            return MPI_ERR_COUNT;
        if (result != MPI_SUCCESS)
            return result;
        if (count > most)
            most = count;
    }
    return number > 0 && !blocks->types ? check_buffer(blocks->buffer, most, blocks->type)
                                        : MPI_SUCCESS;
}

/* Built-in operations are for some types only: asked of the library, without its error handler. */
static int check_operation(MPI_Op op, MPI_Datatype type)
{
    if (op == MPI_OP_NULL || !HANDLE_IS_MADE(op) || HANDLE_KIND(op) != KIND_OF_OPERATIONS)
        return MPI_ERR_OP;
    if ((uint32_t)op >> 30 != 1)
        return MPI_SUCCESS;
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    int class = MPI_SUCCESS;
    char nothing[1];
    local.Comm_get_errhandler(MPI_COMM_WORLD, &handler);
    local.Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    int result = local.Reduce_local(nothing, nothing + 1, 0, type, op);
    local.Comm_set_errhandler(MPI_COMM_WORLD, handler);
    local.Errhandler_free(&handler);
    if (result != MPI_SUCCESS)
        local.Error_class(result, &class);
    return class;
}

static int check_root(const struct call *call, const struct comm_view *view)
{
    if (view->inter && (call->root == MPI_ROOT || call->root == MPI_PROC_NULL))
        return MPI_SUCCESS;
    return call->root < 0 || call->root >= view->peers_count ? MPI_ERR_ROOT : MPI_SUCCESS;
}

/* Blocks of each side that this rank uses. */
struct used {
    int sent, received;
};

static struct used blocks_used(const struct call *call, const struct comm_view *view)
{
    const struct traits *traits = &traits_of[call->operation];
    bool root = view->inter ? call->root == MPI_ROOT : call->root == view->rank;
    bool idle = view->inter && traits->rooted && call->root == MPI_PROC_NULL;
    int each = view->peers_count;
    if (idle || call->operation == COLLECTIVE_BARRIER)
        return (struct used){0, 0};
    if (call->operation == COLLECTIVE_BCAST)
        return (struct used){root, !root};
    if (call->operation == COLLECTIVE_REDUCE_SCATTER)
        return (struct used){1, view->local_count};
    if (traits->reduces)
        return (struct used){!root || !traits->rooted || !view->inter, !traits->rooted || root};
    if (!traits->rooted)
        return (struct used){traits->per_peer ? each : 1, each};
    if (traits->root_sends)
        return (struct used){root ? each : 0, !root || !view->inter};
    return (struct used){!root || !view->inter, root ? each : 0};
}

static struct used neighbours_used(const struct call *call, const struct comm_view *view)
{
    struct neighbours found;
    if (!neighbours_of(view->topology, view->rank, MPI_PROC_NULL, &found))
        engine_abort(MPI_ERR_NO_MEM);
    struct used used = {traits_of[call->operation].per_peer ? found.destinations_count : 1,
                        found.sources_count};
    neighbours_release(&found);
    return used;
}

/* Where MPI_IN_PLACE stands for a side it is allowed there; that side is not looked at. */
static bool is_in_place(const struct call *call, const struct comm_view *view, bool sending)
{
    const struct traits *traits = &traits_of[call->operation];
    const struct blocks *side = sending ? &call->send : &call->receive;
    if (side->buffer != MPI_IN_PLACE || view->inter || traits->neighbours ||
        call->operation == COLLECTIVE_BCAST)
        return false;
    if (!traits->rooted)
        return sending;
    return call->root == view->rank && sending != traits->root_sends;
}

/* No bytes on this side: its address does not matter. */
static bool is_empty(const struct blocks *blocks, int number)
{
    for (int i = 0; i < number; i++)
        if (packing_bytes(blocks_count(blocks, i), blocks_type(blocks, i)) > 0)
            return false;
    return true;
}

/* This rank's own block has the same place on both sides. */
static bool is_aliased(const struct call *call, const struct comm_view *view,
                       const struct used *used)
{
    const struct blocks *send = &call->send, *receive = &call->receive;
    int rank = view->rank;
    bool scatters = call->operation == COLLECTIVE_REDUCE_SCATTER;
    if (view->inter || used->sent == 0 || used->received == 0 || !send->buffer ||
        traits_of[call->operation].neighbours || is_empty(receive, used->received) ||
        (!scatters && is_empty(send, used->sent)))
        return false;
    if (traits_of[call->operation].reduces || traits_of[call->operation].per_peer)
        return send->buffer == receive->buffer;
    return send->buffer == blocks_address(receive, rank) && send->type == receive->type;
}

int arguments_check(const struct call *call, const struct comm_view *view)
{
    const struct traits *traits = &traits_of[call->operation];
    if (traits->rooted && check_root(call, view) != MPI_SUCCESS)
        return MPI_ERR_ROOT;
    if (traits->neighbours && !view->topology)
        return MPI_ERR_TOPOLOGY;
    if (view->inter && (traits->neighbours || traits->need == NEED_LOWER))
        return MPI_ERR_COMM;
    struct used used = traits->neighbours ? neighbours_used(call, view) : blocks_used(call, view);
    if (is_in_place(call, view, true))
        used.sent = 0;
    if (is_in_place(call, view, false))
        used.received = 0;
    struct blocks send = call->send;
    if (call->operation == COLLECTIVE_REDUCE_SCATTER)
        send.count = 0;
    int result = check_blocks(&send, used.sent);
    if (result == MPI_SUCCESS)
        result = check_blocks(&call->receive, used.received);
    if (result == MPI_SUCCESS && traits->reduces && (used.sent > 0 || used.received > 0))
        result = check_operation(call->op, call->receive.type);
    if (result == MPI_SUCCESS && is_aliased(call, view, &used))
        result = MPI_ERR_BUFFER;
    return result;
}
