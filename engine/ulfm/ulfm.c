/* User-level failure mitigation (ULFM), under the library's names MPIX_Comm_*: revoke, shrink,
 * agree, and the acknowledgement of failures. Shrink and agree are meetings beside those of the
 * collectives: they end when each member has come or is dead, whatever is revoked, and what comes
 * out is worked out once for all. */
#include "engine/communicators/meeting.h"
#include "engine/communicators/members.h"
#include "engine/communicators/parts.h"
#include "engine/core/transition.h"
#include "engine/library.h"

/* --- revoke ----------------------------------------------------------------------------------- */

static int comm_revoke(MPI_Comm comm)
{
    struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (!engine->goes_on)
        engine_not_explored("MPIX_Comm_revoke where a death ends the job");
    engine_turn();
    view->revoked = true;
    shared_revoke(view->shared);
    return MPI_SUCCESS;
}

/* --- acknowledgement -------------------------------------------------------------------------- */

/* Members of both sides whose death this rank knows of, in their order. */
static struct members *known_failures(const struct comm_view *view)
{
    const struct shared_communicator *shared = view->shared;
    int all = shared->count[0] + shared->count[1];
    struct members *known = members_new(all);
    if (!known)
        engine_abort(MPI_ERR_NO_MEM);
    known->count = 0;
    for (int i = 0; i < all; i++)
        if (engine_knows_dead(shared->process[i]))
            known->process[known->count++] = shared->process[i];
    return known;
}

static int comm_failure_ack(MPI_Comm comm)
{
    struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    engine_turn();
    members_drop(view->acked);
    view->acked = known_failures(view);
    return MPI_SUCCESS;
}

static int comm_failure_get_acked(MPI_Comm comm, MPI_Group *failedgrp)
{
    struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (!failedgrp)
        return communicator_raise(comm, MPI_ERR_ARG);
    *failedgrp = view->acked ? group_handle(members_hold(view->acked)) : MPI_GROUP_EMPTY;
    return MPI_SUCCESS;
}

/* --- what shrink and agree have in common ----------------------------------------------------- */

static bool has_failed(const struct meeting *meeting, int participant)
{
    return engine_is_dead(meeting->process[participant]);
}

/* What comes out depends on who is dead when the first of them goes on. Each may be the first. */
static void see_deaths(struct meeting *meeting)
{
    for (int i = 0; i < meeting->size; i++) {
        if (meeting->deposit[i])
            meeting_see_joined(meeting, i);
        if (!meeting->deposit[i])
            engine_touch_seen(engine_death_of(meeting->process[i]));
        else
            engine_touch(TOUCH_LOOK, engine_death_of(meeting->process[i]));
    }
}

static bool is_complete(void *data)
{
    struct meeting *meeting = data;
    bool complete = true;
    for (int i = 0; i < meeting->size; i++)
        complete &= meeting->deposit[i] || has_failed(meeting, i);
    if (complete)
        see_deaths(meeting);
    return complete || meeting->decided;
}

static struct meeting *meet(struct comm_view *view, enum meeting_kind kind, const char *name,
                            struct deposit *deposit)
{
    struct meeting_key key = {.kind = kind};
    engine_turn();
    struct meeting *meeting = meeting_of_all(view, &key, name, deposit);
    engine_wait(is_complete, meeting);
    return meeting;
}

/* The participants of an agreement learn of the deaths that it found. */
static void learn_of_deaths(const struct meeting *meeting)
{
    engine->process[engine_self].deaths_known = engine->deaths;
    for (int i = 0; i < meeting->size; i++)
        if (has_failed(meeting, i))
            engine_learn(engine_death_of(meeting->process[i]));
}

/* --- agree ------------------------------------------------------------------------------------ */

/* A deposit's parts: the flag, and the failures that its rank has acknowledged. */
enum { PART_FLAG, PART_ACKED, AGREE_PARTS };

static struct deposit *contribution(const struct comm_view *view, int flag)
{
    int acked = view->acked ? view->acked->count : 0;
    size_t bytes[AGREE_PARTS] = {sizeof flag, (size_t)acked * sizeof(int32_t)};
    struct deposit *made = deposit_new(AGREE_PARTS, bytes);
    *(int *)deposit_part(made, PART_FLAG) = flag;
    for (int i = 0; i < acked; i++)
        ((int32_t *)deposit_part(made, PART_ACKED))[i] = view->acked->process[i];
    return made;
}

static bool has_acked(struct deposit *deposit, int32_t process)
{
    const int32_t *acked = deposit_part(deposit, PART_ACKED);
    size_t count = deposit_bytes(deposit, PART_ACKED) / sizeof *acked;
    for (size_t i = 0; i < count; i++)
        if (acked[i] == process)
            return true;
    return false;
}

static bool all_have_acked(const struct meeting *meeting, int32_t process)
{
    for (int i = 0; i < meeting->size; i++)
        if (meeting->deposit[i] && !has_failed(meeting, i) &&
            !has_acked(meeting->deposit[i], process))
            return false;
    return true;
}

/* A participant that contributed and died before the end: whether its contribution counts is a
 * decision. */
static void decide_agreement(struct meeting *meeting)
{
    meeting->decided = true;
    meeting->answer = ~0;
    for (int i = 0; i < meeting->size; i++) {
        bool counts = meeting->deposit[i] != NULL;
        if (counts && has_failed(meeting, i))
            counts = engine_decide(DECIDE_RAISE, 2) == 0;
        if (counts)
            meeting->answer &= *(const int *)deposit_part(meeting->deposit[i], PART_FLAG);
        else if (!all_have_acked(meeting, meeting->process[i]))
            meeting->failed = MPIX_ERR_PROC_FAILED;
    }
}

static int comm_agree(MPI_Comm comm, int *flag)
{
    struct comm_view *view = communicator_view(comm);
    if (!view)
        return communicator_raise(comm, MPI_ERR_COMM);
    if (!flag)
        return communicator_raise(comm, MPI_ERR_ARG);
    struct meeting *meeting =
        meet(view, MEETING_AGREE, "MPIX_Comm_agree", contribution(view, *flag));
    if (!meeting->decided)
        decide_agreement(meeting);
    *flag = meeting->answer;
    int result = meeting->failed;
    if (result != MPI_SUCCESS)
        learn_of_deaths(meeting);
    meeting_leave(meeting);
    return communicator_raise(comm, result);
}

/* --- shrink ----------------------------------------------------------------------------------- */

static struct members *survivors(const struct meeting *meeting, int side)
{
    const struct shared_communicator *of = meeting->of;
    struct members *made = members_new(of->count[side]);
    if (!made)
        engine_abort(MPI_ERR_NO_MEM);
    made->count = 0;
    for (int i = 0; i < of->count[side]; i++) {
        int place = meeting_place(of, side, i);
        if (!has_failed(meeting, place))
            made->process[made->count++] = meeting->process[place];
    }
    return made;
}

static void decide_survivors(struct meeting *meeting)
{
    bool inter = meeting->of->count[1] > 0;
    struct members *first = survivors(meeting, 0), *second = survivors(meeting, 1);
    if (!inter || (first->count > 0 && second->count > 0))
        making_give_all(meeting, shared_make(first, inter ? second : NULL));
    members_drop(first);
    members_drop(second);
}

static int comm_shrink(MPI_Comm comm, MPI_Comm *newcomm)
{
    struct making making = {.decide = decide_survivors};
    int result = making_check(comm, newcomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    struct comm_view *view = making.view;
    making_handle(&making);
    making.side = view->side;
    making.mine = meeting_place(view->shared, view->side, view->rank);
    making.meeting = meet(view, MEETING_SHRINK, "MPIX_Comm_shrink", deposit_none());
    making_open(&making);
    *newcomm = making.opened ? making.handle : MPI_COMM_NULL;
    meeting_leave(making.meeting);
    return MPI_SUCCESS;
}

void ulfm_fill(struct library *table)
{
    table->X_Comm_revoke = comm_revoke;
    table->X_Comm_failure_ack = comm_failure_ack;
    table->X_Comm_failure_get_acked = comm_failure_get_acked;
    table->X_Comm_agree = comm_agree;
    table->X_Comm_shrink = comm_shrink;
}
