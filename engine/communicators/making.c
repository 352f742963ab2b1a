/* New communicators from an existing one: each member makes a handle of the library for itself, all
 * meet, and the first that finds all of them there computes the members of each new communicator.
 */
#include "engine/communicators/parts.h"

#include "engine/requests/request.h"

#include "base/mix.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

/* --- what all of them do ---------------------------------------------------------------------- */

static void note_failure(struct making *making, int result)
{
    making->failed = result;
    if (result != MPI_SUCCESS)
        making->handle = MPI_COMM_NULL;
}

void making_handle(struct making *making)
{
    note_failure(making, local.Comm_split(making->view->handle, 0, 0, &making->handle));
}

static void free_handle(struct making *making)
{
    if (making->handle != MPI_COMM_NULL)
        local.Comm_free(&making->handle);
}

void making_decide_once(struct meeting *meeting, decide_function *decide)
{
    if (meeting->decided)
        return;
    meeting->decided = true;
    meeting->made = engine_allocate((size_t)meeting->size * sizeof(struct shared_communicator *));
    decide(meeting);
    for (int i = 0; i < meeting->size; i++)
        if (meeting->made[i])
            shared_hold(meeting->made[i]);
}

void making_open(struct making *making)
{
    struct meeting *meeting = making->meeting;
    making->opened = NULL;
    making_decide_once(meeting, making->decide);
    struct shared_communicator *shared = meeting->made[making->mine];
    if (!shared || making->handle == MPI_COMM_NULL) {
        free_handle(making);
        return;
    }
    making->opened = view_open(shared, shared->count[1] > 0 ? making->side : 0, making->handle);
    making->opened->has_handler = making->view->has_handler;
}

int making_take(struct making *making, int result)
{
    struct meeting *meeting = making->meeting;
    making->opened = NULL;
    if (result == MPI_SUCCESS)
        result = meeting->failed;
    if (result == MPI_SUCCESS)
        making_open(making);
    else
        free_handle(making);
    meeting_leave(meeting);
    return result;
}

int making_finish(struct making *making, MPI_Comm *made)
{
    int result = making_take(
        making, meeting_await(making->view, making->meeting, meeting_is_full, making->meeting));
    *made = making->opened ? making->handle : MPI_COMM_NULL;
    if (making->failed != MPI_SUCCESS) /* the library has called the error handler */
        return making->failed;
    return communicator_raise(making->view->handle, result);
}

/* Comes to a meeting of all members of `comm`. */
static void begin(struct making *making, const char *name, struct deposit *deposit)
{
    struct meeting_key key = {.kind = MEETING_COLLECTIVE};
    struct comm_view *view = making->view;
    making->side = view->side;
    making->mine = meeting_place(view->shared, view->side, view->rank);
    making->meeting = meeting_of_all(view, &key, name, deposit);
    if (making->failed != MPI_SUCCESS)
        making->meeting->failed = making->failed;
}

int making_all(struct making *making, const char *name, struct deposit *deposit, MPI_Comm *made)
{
    int result = meeting_enter(making->view);
    making->opened = NULL;
    if (result != MPI_SUCCESS) {
        engine_release(deposit);
        free_handle(making);
        return communicator_raise(making->view->handle, result);
    }
    begin(making, name, deposit);
    return making_finish(making, made);
}

/* MPI_SUCCESS: *view is that of a communicator whose members can make another one. */
int making_check(MPI_Comm comm, MPI_Comm *newcomm, struct comm_view **view)
{
    *view = communicator_view(comm);
    if (newcomm)
        *newcomm = MPI_COMM_NULL;
    if (!*view)
        return communicator_raise(comm, MPI_ERR_COMM);
    return newcomm ? MPI_SUCCESS : communicator_raise(comm, MPI_ERR_ARG);
}

int making_check_intra(MPI_Comm comm, MPI_Comm *newcomm, struct comm_view **view)
{
    int result = making_check(comm, newcomm, view);
    return result == MPI_SUCCESS && (*view)->inter ? communicator_raise(comm, MPI_ERR_COMM)
                                                   : result;
}

/* --- the same members ------------------------------------------------------------------------- */

struct members *making_side(const struct shared_communicator *of, int side)
{
    struct members *made = members_of(of->process + side * of->count[0], of->count[side]);
    if (!made)
        engine_abort(MPI_ERR_NO_MEM);
    return made;
}

void making_give_all(struct meeting *meeting, struct shared_communicator *shared)
{
    for (int i = 0; i < meeting->size; i++)
        meeting->made[i] = shared;
}

static void decide_same(struct meeting *meeting)
{
    struct members *first = making_side(meeting->of, 0), *second = making_side(meeting->of, 1);
    making_give_all(meeting, shared_make(first, second->count > 0 ? second : NULL));
    members_drop(first);
    members_drop(second);
}

static int dup(MPI_Comm comm, const MPI_Info *info, const char *name, MPI_Comm *newcomm)
{
    struct making making = {.decide = decide_same};
    int result = making_check(comm, newcomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    note_failure(&making, info ? local.Comm_dup_with_info(comm, *info, &making.handle)
                               : local.Comm_dup(comm, &making.handle));
    result = making_all(&making, name, deposit_none(), newcomm);
    if (making.opened)
        making.opened->topology = topology_hold(making.view->topology);
    return result;
}

static int comm_dup(MPI_Comm comm, MPI_Comm *newcomm)
{
    return dup(comm, NULL, "MPI_Comm_dup", newcomm);
}

static int comm_dup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm)
{
    return dup(comm, &info, "MPI_Comm_dup_with_info", newcomm);
}

/* --- the same, as a request ------------------------------------------------------------------- */

struct later {
    struct making making;
    MPI_Comm *newcomm;
};

static bool idup_ready(void *data)
{
    const struct making *making = &((struct later *)data)->making;
    return meeting_settled(making->view, making->meeting, meeting_is_full, making->meeting);
}

static int idup_finish(void *data, MPI_Status *status)
{
    struct later *later = data;
    (void)status;
    struct making *making = &later->making;
    int result = making_take(making, meeting_outcome(making->view, making->meeting, meeting_is_full,
                                                     making->meeting, false));
    if (later->making.opened)
        later->making.opened->topology = topology_hold(later->making.view->topology);
    else
        *later->newcomm = MPI_COMM_NULL;
    return result;
}

static void idup_release(void *data)
{
    struct later *later = data;
    view_drop(later->making.view);
    free(later);
}

static const struct request_kind idup_kind = {
    .name = "MPI_Comm_idup", .ready = idup_ready, .finish = idup_finish, .release = idup_release};

static int idup(MPI_Comm comm, const MPI_Info *info, MPI_Comm *newcomm, MPI_Request *request)
{
    struct comm_view *view;
    int result = making_check(comm, newcomm, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (!request)
        return communicator_raise(comm, MPI_ERR_ARG);
    struct making making = {.view = view, .decide = decide_same};
    note_failure(&making, info ? local.Comm_dup_with_info(comm, *info, &making.handle)
                               : local.Comm_dup(comm, &making.handle));
    result = meeting_enter(view);
    if (result != MPI_SUCCESS) {
        free_handle(&making);
        return communicator_raise(comm, result);
    }
    struct later *later = malloc(sizeof *later);
    if (!later)
        engine_abort(MPI_ERR_NO_MEM);
    *later = (struct later){making, newcomm};
    view_hold(view);
    begin(&later->making, "MPI_Comm_idup", deposit_none());
    *newcomm = later->making.handle;
    *request = request_make(&idup_kind, later, false, comm);
    return MPI_SUCCESS;
}

static int comm_idup(MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request)
{
    return idup(comm, NULL, newcomm, request);
}

static int comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *newcomm,
                               MPI_Request *request)
{
    return idup(comm, &info, newcomm, request);
}

/* --- by colour and key ------------------------------------------------------------------------ */

struct colour_key {
    int colour, key;
};

static struct colour_key *wish_of(struct meeting *meeting, int participant)
{
    return deposit_part(meeting->deposit[participant], 0);
}

/* Those of one side with this colour, by key and then by rank. */
static struct members *of_colour(struct meeting *meeting, int side, int colour)
{
    const struct shared_communicator *of = meeting->of;
    int first = side * of->count[0];
    struct members *made = members_new(of->count[side]);
    int *key = malloc(((size_t)of->count[side] + 1) * sizeof *key);
    if (!made || !key)
        engine_abort(MPI_ERR_NO_MEM);
    made->count = 0;
    for (int i = first; i < first + of->count[side]; i++) {
        const struct colour_key *wish = wish_of(meeting, i);
        if (wish->colour != colour)
            continue;
        int at = made->count++;
        for (; at > 0 && key[at - 1] > wish->key; at--) {
            key[at] = key[at - 1];
            made->process[at] = made->process[at - 1];
        }
        key[at] = wish->key;
        made->process[at] = of->process[i];
    }
    free(key);
    return made;
}

static struct shared_communicator *split_off(struct meeting *meeting, int colour)
{
    bool inter = meeting->of->count[1] > 0;
    struct members *first = of_colour(meeting, 0, colour), *second = of_colour(meeting, 1, colour);
    struct shared_communicator *made = NULL;
    if (!inter || (first->count > 0 && second->count > 0))
        made = shared_make(first, inter ? second : NULL);
    members_drop(first);
    members_drop(second);
    return made;
}

static void decide_split(struct meeting *meeting)
{
    for (int i = 0; i < meeting->size; i++) {
        int colour = wish_of(meeting, i)->colour, earlier = 0;
        if (colour == MPI_UNDEFINED)
            continue;
        while (wish_of(meeting, earlier)->colour != colour)
            earlier++;
        meeting->made[i] = earlier < i ? meeting->made[earlier] : split_off(meeting, colour);
    }
}

int making_split(struct comm_view *view, int colour, int key, const char *name, MPI_Comm *newcomm)
{
    struct making making = {.view = view, .decide = decide_split};
    struct colour_key wish = {colour, key};
    making_handle(&making);
    return making_all(&making, name, deposit_of(&wish, sizeof wish), newcomm);
}

static int comm_split(MPI_Comm comm, int color, int key, MPI_Comm *newcomm)
{
    struct comm_view *view;
    int result = making_check(comm, newcomm, &view);
    if (result != MPI_SUCCESS)
        return result;
    if (color < 0 && color != MPI_UNDEFINED)
        return communicator_raise(comm, MPI_ERR_ARG);
    return making_split(view, color, key, "MPI_Comm_split", newcomm);
}

/* As by colour, but nothing at all if the members do not say the same. */
static void decide_alike(struct meeting *meeting)
{
    for (int i = 1; i < meeting->size; i++)
        if (wish_of(meeting, i)->colour != wish_of(meeting, 0)->colour)
            return;
    decide_split(meeting);
}

/* The colour by a hint of the library's own for which all have given the same folder. */
static int colour_of_folder(MPI_Info info)
{
    char folder[MPI_MAX_INFO_VAL + 1];
    int given = 0;
    uint64_t hash = 0;
    if (info != MPI_INFO_NULL)
        local.Info_get(info, "nbhd_common_dirname", MPI_MAX_INFO_VAL, folder, &given);
    for (const char *at = folder; given && *at; at++)
        hash = mix_two(hash, (uint64_t)*at);
    return given ? (int)(hash & INT_MAX) : MPI_UNDEFINED;
}

/* All members, for a part of the machine that holds all ranks; smaller parts are not
 * distinguished. */
static int colour_of_hardware(MPI_Info info)
{
    char type[MPI_MAX_INFO_VAL + 1] = "";
    int given = 0;
    if (info != MPI_INFO_NULL)
        local.Info_get(info, "mpi_hw_resource_type", MPI_MAX_INFO_VAL, type, &given);
    return given && strcmp(type, "mpi_shared_memory") == 0 ? 0 : MPI_UNDEFINED;
}

static int comm_split_type(MPI_Comm comm, int split_type, int key, MPI_Info info, MPI_Comm *newcomm)
{
    struct making making = {.decide = decide_split};
    struct colour_key wish = {MPI_UNDEFINED, key};
    int result = making_check(comm, newcomm, &making.view);
    if (result != MPI_SUCCESS)
        return result;
    switch (split_type) {
    case MPI_UNDEFINED:
    case MPI_COMM_TYPE_HW_UNGUIDED:
        break;
    case MPI_COMM_TYPE_SHARED:
        wish.colour = 0;
        break;
    case MPI_COMM_TYPE_HW_GUIDED:
        wish.colour = colour_of_hardware(info);
        break;
    case MPIX_COMM_TYPE_NEIGHBORHOOD:
        making.decide = decide_alike;
        wish.colour = colour_of_folder(info);
        break;
    default:
        return communicator_raise(comm, MPI_ERR_ARG);
    }
    making_handle(&making);
    return making_all(&making, "MPI_Comm_split_type", deposit_of(&wish, sizeof wish), newcomm);
}

void making_fill(struct library *table)
{
    table->Comm_dup = comm_dup;
    table->Comm_dup_with_info = comm_dup_with_info;
    table->Comm_idup = comm_idup;
    table->Comm_idup_with_info = comm_idup_with_info;
    table->Comm_split = comm_split;
    table->Comm_split_type = comm_split_type;
}
