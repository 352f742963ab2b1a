/* Inter-communicators: MPI_Intercomm_create, MPI_Intercomm_merge. The side of the leader with the
 * lower process number is side 0. */
#include "engine/communicators/parts.h"

#include "base/mix.h"

#include <stdlib.h>

/* --- out of two intra-communicators ----------------------------------------------------------- */

/* MPI_Intercomm_create, of one rank. */
struct creating {
    struct joining joining; /* first, so that the one leads to the other */
    struct comm_view *peer_view;
    int remote_leader, tag;
};

static bool disjoint(const struct members *a, const struct members *b)
{
    struct members *common = members_intersection(a, b);
    bool none = common && common->count == 0;
    members_drop(common);
    return none;
}

static struct members *list_of(struct meeting *meeting, int leader)
{
    struct deposit *deposit = meeting->deposit[leader];
    struct members *made =
        members_of(deposit_part(deposit, 0), (int)(deposit_bytes(deposit, 0) / sizeof(int32_t)));
    if (!made)
        engine_abort(MPI_ERR_NO_MEM);
    return made;
}

/* Of two leaders, the members of both; nothing if they have one in common. */
void inter_decide(struct meeting *meeting)
{
    struct members *first = list_of(meeting, 0), *second = list_of(meeting, 1);
    if (disjoint(first, second))
        making_give_all(meeting, shared_make(first, second));
    members_drop(first);
    members_drop(second);
}

static struct shared_communicator *meet_leader(struct joining *joining, int *side)
{
    const struct creating *creating = (const struct creating *)joining;
    struct comm_view *peer = creating->peer_view, *mine = joining->view;
    int32_t other = peer->peers[creating->remote_leader];
    int32_t pair[2] = {engine_self < other ? engine_self : other,
                       engine_self < other ? other : engine_self};
    struct meeting_key key = {MEETING_LEADERS, creating->tag,
                              mix_two(mix((uint64_t)pair[0]), (uint64_t)pair[1])};
    struct members *both = members_of(pair, 2);
    if (!both)
        engine_abort(MPI_ERR_NO_MEM);
    *side = engine_self == pair[1];
    struct meeting *meeting =
        meeting_join(peer->shared, &key, "MPI_Intercomm_create", both, *side,
                     deposit_of(mine->local, (size_t)mine->local_count * sizeof mine->local[0]));
    members_drop(both);
    struct shared_communicator *made = NULL;
    joining->result = meeting_await(peer, meeting, meeting_is_full, meeting);
    if (joining->result == MPI_SUCCESS) {
        making_decide_once(meeting, inter_decide);
        made = meeting->made[*side];
        if (!made)
            joining->result = MPI_ERR_COMM;
    }
    if (made)
        shared_hold(made);
    meeting_leave(meeting);
    return made;
}

/* What the leader passes on to the others of its side. */
struct outcome {
    int side, result;
};

static struct meeting *meet_side(struct joining *joining)
{
    struct comm_view *view = joining->view;
    struct meeting_key key = {.kind = MEETING_COLLECTIVE};
    struct outcome outcome = {0, MPI_SUCCESS};
    struct shared_communicator *made = NULL;
    bool leads = view->rank == joining->leader;
    if (leads) {
        made = joining->meet(joining, &outcome.side);
        outcome.result = joining->result;
    }
    struct meeting *meeting =
        meeting_of_all(view, &key, joining->name, deposit_of(&outcome, sizeof outcome));
    if (leads) {
        meeting->made = engine_allocate((size_t)meeting->size * sizeof made);
        making_give_all(meeting, made);
        for (int i = 0; made && i < meeting->size; i++)
            shared_hold(made);
        meeting->decided = true;
        if (made)
            shared_drop(made);
    }
    return meeting;
}

static bool is_decided(void *meeting)
{
    return ((struct meeting *)meeting)->decided;
}

static int join(struct joining *joining, MPI_Comm handle, MPI_Comm *made)
{
    struct comm_view *view = joining->view;
    struct meeting *meeting = meet_side(joining);
    int result = meeting_await(view, meeting, is_decided, meeting);
    *made = MPI_COMM_NULL;
    if (result == MPI_SUCCESS) {
        const struct outcome *said = deposit_part(meeting->deposit[joining->leader], 0);
        result = said->result;
        if (result == MPI_SUCCESS) {
            view_open(meeting->made[view->rank], said->side, handle)->has_handler =
                view->has_handler;
            *made = handle;
        }
    }
    meeting_leave(meeting);
    return result;
}

int inter_join(struct joining *joining, MPI_Comm *made)
{
    MPI_Comm handle, comm = joining->view->handle;
    int result = local.Comm_split(comm, 0, 0, &handle);
    if (result != MPI_SUCCESS)
        return result;
    result = meeting_enter(joining->view);
    if (result == MPI_SUCCESS)
        result = join(joining, handle, made);
    if (result != MPI_SUCCESS)
        local.Comm_free(&handle);
    return communicator_raise(comm, result);
}

/* The error class of the leader's own arguments. */
static int check_leader(const struct creating *creating)
{
    const struct comm_view *peer = creating->peer_view;
    if (!peer)
        return MPI_ERR_COMM;
    if (creating->remote_leader < 0 || creating->remote_leader >= peer->peers_count ||
        peer->peers[creating->remote_leader] == engine_self)
        return MPI_ERR_RANK;
    return MPI_SUCCESS;
}

int inter_check(MPI_Comm comm, int leader, MPI_Comm *made, struct comm_view **view)
{
    int result = making_check_intra(comm, made, view);
    if (result != MPI_SUCCESS)
        return result;
    if (leader < 0 || leader >= (*view)->local_count)
        return communicator_raise(comm, MPI_ERR_RANK);
    return MPI_SUCCESS;
}

static int intercomm_create(MPI_Comm local_comm, int local_leader, MPI_Comm peer_comm,
                            int remote_leader, int tag, MPI_Comm *newintercomm)
{
    struct creating creating = {
        .joining = {.leader = local_leader, .name = "MPI_Intercomm_create", .meet = meet_leader},
        .peer_view = communicator_view(peer_comm),
        .remote_leader = remote_leader,
        .tag = tag};
    int result = inter_check(local_comm, local_leader, newintercomm, &creating.joining.view);
    if (result != MPI_SUCCESS)
        return result;
    if (tag < 0)
        return communicator_raise(local_comm, MPI_ERR_TAG);
    if (creating.joining.view->rank == local_leader)
        result = check_leader(&creating);
    if (result != MPI_SUCCESS)
        return communicator_raise(local_comm, result);
    return inter_join(&creating.joining, newintercomm);
}

/* --- back into one ---------------------------------------------------------------------------- */

static bool is_high(struct meeting *meeting, int participant)
{
    return *(const bool *)deposit_part(meeting->deposit[participant], 0);
}

/* Nothing if the members of a side do not say the same. */
static void decide_merge(struct meeting *meeting)
{
    const struct shared_communicator *of = meeting->of;
    bool high[2] = {is_high(meeting, 0), is_high(meeting, of->count[0])};
    for (int i = 0; i < meeting->size; i++)
        if (is_high(meeting, i) != high[i >= of->count[0]])
            return;
    int first = high[0] && !high[1];
    struct members *below = making_side(of, first), *above = making_side(of, !first);
    struct members *all = members_union(below, above);
    if (!all)
        engine_abort(MPI_ERR_NO_MEM);
    making_give_all(meeting, shared_make(all, NULL));
    members_drop(all);
    members_drop(below);
    members_drop(above);
}

static int intercomm_merge(MPI_Comm intercomm, int high, MPI_Comm *newintracomm)
{
    struct making making = {.decide = decide_merge};
    bool says = high != 0;
    int result = making_check(intercomm, newintracomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    if (!making.view->inter)
        return communicator_raise(intercomm, MPI_ERR_COMM);
    making_handle(&making);
    result =
        making_all(&making, "MPI_Intercomm_merge", deposit_of(&says, sizeof says), newintracomm);
    if (result == MPI_SUCCESS && !making.opened)
        return communicator_raise(intercomm, MPI_ERR_ARG);
    return result;
}

void inter_fill(struct library *table)
{
    table->Intercomm_create = intercomm_create;
    table->Intercomm_merge = intercomm_merge;
}
