/* Communicators of a group: MPI_Comm_create, MPI_Comm_create_group. */
#include "engine/communicators/parts.h"

#include "base/mix.h"

#include <string.h>

/* Every process of the group is on this rank's side of the communicator. */
static bool is_within(const struct members *group, const struct comm_view *view)
{
    struct members *all = view_members(view, false);
    bool within = all != NULL;
    for (int i = 0; within && i < group->count; i++)
        within = members_find(all, group->process[i]) >= 0;
    members_drop(all);
    return within;
}

static struct deposit *deposit_group(const struct members *group)
{
    return deposit_of(group->process, (size_t)group->count * sizeof group->process[0]);
}

static struct members *group_of(struct meeting *meeting, int participant)
{
    struct deposit *deposit = meeting->deposit[participant];
    int count = (int)(deposit_bytes(deposit, 0) / sizeof(int32_t));
    struct members *made = members_of(deposit_part(deposit, 0), count);
    if (!made)
        engine_abort(MPI_ERR_NO_MEM);
    return made;
}

/* The group of the first process of the other side that has one; NULL: nobody has. */
static struct members *group_beyond(struct meeting *meeting, int side)
{
    int first = side == 0 ? meeting->of->count[0] : 0;
    for (int i = first; i < first + meeting->of->count[!side]; i++)
        if (deposit_bytes(meeting->deposit[i], 0) > 0)
            return group_of(meeting, i);
    return NULL;
}

/* What the participant's group becomes, by itself or with the other side's. */
static struct shared_communicator *make_of(struct meeting *meeting, int participant)
{
    struct members *own = group_of(meeting, participant);
    struct shared_communicator *made = NULL;
    if (meeting->of->count[1] == 0) {
        made = shared_make(own, NULL);
    } else {
        int side = participant >= meeting->of->count[0];
        struct members *beyond = group_beyond(meeting, side);
        if (beyond)
            made = side == 0 ? shared_make(own, beyond) : shared_make(beyond, own);
        members_drop(beyond);
    }
    members_drop(own);
    return made;
}

static void give_members(struct meeting *meeting, struct shared_communicator *made)
{
    for (int i = 0; made && i < meeting->size; i++)
        for (int j = 0; j < made->count[0] + made->count[1]; j++)
            if (made->process[j] == meeting->process[i])
                meeting->made[i] = made;
}

static void decide_create(struct meeting *meeting)
{
    for (int i = 0; i < meeting->size; i++) {
        struct members *own = group_of(meeting, i);
        if (!meeting->made[i] && members_find(own, meeting->process[i]) >= 0)
            give_members(meeting, make_of(meeting, i));
        members_drop(own);
    }
}

static int comm_create(MPI_Comm comm, MPI_Group group, MPI_Comm *newcomm)
{
    struct making making = {.decide = decide_create};
    const struct members *members = group_members(group);
    int result = making_check(comm, newcomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    if (!members || !is_within(members, making.view))
        return communicator_raise(comm, MPI_ERR_GROUP);
    making_handle(&making);
    return making_all(&making, "MPI_Comm_create", deposit_group(members), newcomm);
}

/* --- by the group's members alone ------------------------------------------------------------- */

static void decide_group(struct meeting *meeting)
{
    struct members *all = members_of(meeting->process, meeting->size);
    if (!all)
        engine_abort(MPI_ERR_NO_MEM);
    making_give_all(meeting, shared_make(all, NULL));
    members_drop(all);
}

static uint64_t hash_of(const struct members *members)
{
    uint64_t hash = mix_two(0, (uint64_t)members->count);
    for (int i = 0; i < members->count; i++)
        hash = mix_two(hash, (uint64_t)members->process[i]);
    return hash;
}

static int create_group(struct making *making, const struct members *members, int tag,
                        MPI_Comm *newcomm)
{
    struct comm_view *view = making->view;
    int result = meeting_enter(view);
    if (result != MPI_SUCCESS)
        return communicator_raise(view->handle, result);
    making_handle(making);
    struct meeting_key key = {MEETING_GROUP, tag, hash_of(members)};
    making->mine = members_find(members, engine_self);
    making->meeting = meeting_join(view->shared, &key, "MPI_Comm_create_group", members,
                                   making->mine, deposit_none());
    if (making->failed != MPI_SUCCESS)
        making->meeting->failed = making->failed;
    return making_finish(making, newcomm);
}

static int comm_create_group(MPI_Comm comm, MPI_Group group, int tag, MPI_Comm *newcomm)
{
    struct making making = {.decide = decide_group};
    const struct members *members = group_members(group);
    int result = making_check_intra(comm, newcomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    if (!members || !is_within(members, making.view))
        return communicator_raise(comm, MPI_ERR_GROUP);
    if (tag < 0)
        return communicator_raise(comm, MPI_ERR_TAG);
    *newcomm = MPI_COMM_NULL;
    if (members_find(members, engine_self) < 0)
        return MPI_SUCCESS;
    return create_group(&making, members, tag, newcomm);
}

void creating_fill(struct library *table)
{
    table->Comm_create = comm_create;
    table->Comm_create_group = comm_create_group;
}
