/* The functions that ask for properties of a communicator, and those that free it. */
#include "engine/communicators/parts.h"

/* Raises MPI_ERR_COMM if there is no view, MPI_ERR_ARG if there is no place for the answer. */
static int check(const struct comm_view *view, MPI_Comm comm, const void *answer)
{
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    return answer ? MPI_SUCCESS : communicator_raise(comm, MPI_ERR_ARG);
}

static int comm_size(MPI_Comm comm, int *size)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, size);
    if (result == MPI_SUCCESS)
        *size = view->local_count;
    return result;
}

static int comm_rank(MPI_Comm comm, int *rank)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, rank);
    if (result == MPI_SUCCESS)
        *rank = view->rank;
    return result;
}

static int comm_test_inter(MPI_Comm comm, int *flag)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, flag);
    if (result == MPI_SUCCESS)
        *flag = view->inter;
    return result;
}

static int comm_remote_size(MPI_Comm comm, int *size)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, size);
    if (result == MPI_SUCCESS && !view->inter)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (result == MPI_SUCCESS)
        *size = view->peers_count;
    return result;
}

static int comm_group(MPI_Comm comm, MPI_Group *group)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, group);
    if (result == MPI_SUCCESS)
        *group = group_handle(view_members(view, false));
    return result;
}

static int comm_remote_group(MPI_Comm comm, MPI_Group *group)
{
    const struct comm_view *view = communicator_view(comm);
    int result = check(view, comm, group);
    if (result == MPI_SUCCESS && !view->inter)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (result == MPI_SUCCESS)
        *group = group_handle(view_members(view, true));
    return result;
}

static enum members_likeness compare_sides(const struct comm_view *a, const struct comm_view *b,
                                           bool other)
{
    struct members *of_a = view_members(a, other), *of_b = view_members(b, other);
    if (!of_a || !of_b)
        engine_abort(MPI_ERR_NO_MEM);
    enum members_likeness found = members_compare(of_a, of_b);
    members_drop(of_a);
    members_drop(of_b);
    return found;
}

static int comm_compare(MPI_Comm comm1, MPI_Comm comm2, int *result)
{
    const struct comm_view *a = communicator_view(comm1), *b = communicator_view(comm2);
    int checked = check(a, comm1, result);
    if (checked == MPI_SUCCESS)
        checked = check(b, comm2, result);
    if (checked != MPI_SUCCESS)
        return checked;
    enum members_likeness near = compare_sides(a, b, false), far = compare_sides(a, b, true);
    if (a == b)
        *result = MPI_IDENT;
    else if (a->inter != b->inter || near == MEMBERS_DIFFERENT || far == MEMBERS_DIFFERENT)
        *result = MPI_UNEQUAL;
    else
        *result = near == MEMBERS_SAME && far == MEMBERS_SAME ? MPI_CONGRUENT : MPI_SIMILAR;
    return MPI_SUCCESS;
}

/* --- the end ---------------------------------------------------------------------------------- */

/* MPI_SUCCESS: the handle may be freed. */
static int check_freeable(const MPI_Comm *comm)
{
    if (!comm)
        return communicator_raise(MPI_COMM_WORLD, MPI_ERR_ARG);
    bool own = *comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF && communicator_view(*comm);
    return own ? MPI_SUCCESS : communicator_raise(*comm, MPI_ERR_COMM);
}

/* The library calls what was registered for the attributes, and does not free if that refuses. */
static int free_handle(MPI_Comm *comm)
{
    struct comm_view *view = communicator_view(*comm);
    MPI_Comm handle = *comm;
    int result = local.Comm_free(&handle);
    if (result != MPI_SUCCESS)
        return result;
    view_close(view);
    *comm = MPI_COMM_NULL;
    return MPI_SUCCESS;
}

static int comm_free(MPI_Comm *comm)
{
    int result = check_freeable(comm);
    return result == MPI_SUCCESS ? free_handle(comm) : result;
}

static int comm_disconnect(MPI_Comm *comm)
{
    int result = check_freeable(comm);
    if (result != MPI_SUCCESS)
        return result;
    struct comm_view *view = communicator_view(*comm);
    result = meeting_enter(view);
    if (result != MPI_SUCCESS)
        return communicator_raise(*comm, result);
    struct meeting_key key = {.kind = MEETING_COLLECTIVE};
    struct meeting *meeting = meeting_of_all(view, &key, "MPI_Comm_disconnect", deposit_none());
    result = meeting_await(view, meeting, meeting_is_full, meeting);
    meeting_leave(meeting);
    return result == MPI_SUCCESS ? free_handle(comm) : communicator_raise(*comm, result);
}

/* --- error handlers --------------------------------------------------------------------------- */

static int comm_set_errhandler(MPI_Comm comm, MPI_Errhandler errhandler)
{
    int result = local.Comm_set_errhandler(comm, errhandler);
    struct comm_view *view = communicator_view(comm);
    if (view && result == MPI_SUCCESS)
        view->has_handler = true;
    return result;
}

void inquiry_fill(struct library *table)
{
    table->Comm_size = comm_size;
    table->Comm_rank = comm_rank;
    table->Comm_test_inter = comm_test_inter;
    table->Comm_remote_size = comm_remote_size;
    table->Comm_group = comm_group;
    table->Comm_remote_group = comm_remote_group;
    table->Comm_compare = comm_compare;
    table->Comm_set_errhandler = comm_set_errhandler;
    table->Errhandler_set = comm_set_errhandler;
    table->Comm_free = comm_free;
    table->Comm_disconnect = comm_disconnect;
}
