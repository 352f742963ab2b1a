/* Views of communicators by handle: see communicator.h. */
#include "engine/communicators/communicator.h"

#include "engine/communicators/meeting.h"
#include "engine/communicators/members.h"
#include "engine/communicators/topology.h"
#include "engine/core/transition.h"
#include "engine/library.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BUCKETS 256u

/* The members of a world come to it one by one, and those of a world that was spawned may come
 * before the last of the world that spawned it: so all are kept. */
struct world {
    struct shared_communicator *shared;
    struct world *next;
};

/* What all ranks of a run have in common: engine->communicators. */
struct communicators {
    uint32_t contexts; /* given out */
    struct world *worlds;
};

static struct comm_view *bucket[BUCKETS];

static struct comm_view **bucket_of(MPI_Comm handle)
{
    uint32_t number = (uint32_t)handle;
    return &bucket[(number ^ number >> 26) % BUCKETS];
}

struct comm_view *communicator_view(MPI_Comm handle)
{
    struct comm_view *view = *bucket_of(handle);
    while (view && view->handle != handle)
        view = view->next;
    return view;
}

/* --- errors ----------------------------------------------------------------------------------- */

static bool is_fatal(MPI_Comm handle)
{
    MPI_Errhandler handler = MPI_ERRORS_ARE_FATAL;
    local.Comm_get_errhandler(handle, &handler);
    bool fatal = handler == MPI_ERRORS_ARE_FATAL || handler == MPI_ERRORS_ABORT;
    local.Errhandler_free(&handler);
    return fatal;
}

/* A code of MPICH's that is not its class: MPI_Error_class leaves this bit out. */
#define CODE_BIT 0x80

int error_code_of(int class)
{
    int code = class | CODE_BIT, back = MPI_SUCCESS;
    if (class != MPIX_ERR_PROC_FAILED && class != MPIX_ERR_PROC_FAILED_PENDING &&
        class != MPIX_ERR_REVOKED)
        return class;
    local.Error_class(code, &back);
    return back == class ? code : class;
}

int communicator_raise(MPI_Comm handle, int class)
{
    engine_call_ends(class != MPI_SUCCESS);
    if (class == MPI_SUCCESS)
        return MPI_SUCCESS;
    const struct comm_view *view = communicator_view(handle);
    if (!view || !view->has_handler)
        view = communicator_view(MPI_COMM_WORLD);
    if (is_fatal(view->handle)) {
        char text[MPI_MAX_ERROR_STRING] = "";
        int length;
        local.Error_string(class, text, &length);
        fprintf(stderr, "Abort(%d) on node %d (rank %d in comm %u): Fatal error: %s\n", class,
                engine_self, view->rank, (unsigned)view->handle, text);
        engine_abort(class);
    }
    int code = error_code_of(class);
    local.Comm_call_errhandler(view->handle, code);
    return code;
}

/* --- the common part -------------------------------------------------------------------------- */

static struct communicators *common(void)
{
    if (!engine->communicators)
        engine->communicators = engine_allocate(sizeof(struct communicators));
    return engine->communicators;
}

struct shared_communicator *shared_make(const struct members *first, const struct members *second)
{
    int other = second ? second->count : 0;
    struct shared_communicator *made =
        engine_allocate(sizeof *made + (size_t)(first->count + other) * sizeof made->process[0]);
    made->context = ++common()->contexts;
    made->count[0] = first->count;
    made->count[1] = other;
    memcpy(made->process, first->process, (size_t)first->count * sizeof made->process[0]);
    if (second)
        memcpy(made->process + first->count, second->process,
               (size_t)other * sizeof made->process[0]);
    return made;
}

struct shared_communicator *shared_hold(struct shared_communicator *shared)
{
    shared->references++;
    return shared;
}

void shared_drop(struct shared_communicator *shared)
{
    if (--shared->references > 0)
        return;
    meetings_forget(shared);
    engine_release(shared);
}

void shared_wake(const struct shared_communicator *shared)
{
    for (int i = 0; i < shared->count[0] + shared->count[1]; i++)
        if (shared->process[i] != engine_self)
            engine_wake(shared->process[i]);
    engine_did();
}

/* --- views ------------------------------------------------------------------------------------ */

static int place_of(const int32_t *process, int count)
{
    for (int i = 0; i < count; i++)
        if (process[i] == engine_self)
            return i;
    return MPI_UNDEFINED;
}

struct comm_view *view_open(struct shared_communicator *shared, int side, MPI_Comm handle)
{
    struct comm_view *view = calloc(1, sizeof *view);
    if (!view)
        engine_abort(MPI_ERR_NO_MEM);
    const int32_t *of[2] = {shared->process, shared->process + shared->count[0]};
    int other = shared->count[1] > 0 ? !side : side;
    *view = (struct comm_view){.references = 1,
                               .handle = handle,
                               .shared = shared_hold(shared),
                               .inter = shared->count[1] > 0,
                               .side = side,
                               .rank = place_of(of[side], shared->count[side]),
                               .local_count = shared->count[side],
                               .peers_count = shared->count[other],
                               .local = of[side],
                               .peers = of[other]};
    struct comm_view **head = bucket_of(handle);
    view->next = *head;
    *head = view;
    return view;
}

struct comm_view *view_hold(struct comm_view *view)
{
    view->references++;
    return view;
}

void view_drop(struct comm_view *view)
{
    if (--view->references > 0)
        return;
    shared_drop(view->shared);
    topology_drop(view->topology);
    members_drop(view->acked);
    free(view);
}

void view_close(struct comm_view *view)
{
    struct comm_view **link = bucket_of(view->handle);
    while (*link != view)
        link = &(*link)->next;
    *link = view->next;
    view->handle = MPI_COMM_NULL;
    view_drop(view);
}

static uint64_t revocation_of(const struct shared_communicator *shared)
{
    return object_name(OBJECT_REVOKED, shared->context, 0, 0);
}

void shared_revoke(struct shared_communicator *shared)
{
    shared->revoked = true;
    engine_touch(TOUCH_ADD, revocation_of(shared));
    engine_spread(revocation_of(shared), shared->process, shared->count[0] + shared->count[1]);
    if (!engine->transitions)
        shared_wake(shared);
    engine_did();
}

bool view_ends_waiting(const struct comm_view *view)
{
    if (engine->transitions)
        return view->revoked || engine_was_informed(revocation_of(view->shared));
    return view->shared->revoked;
}

void view_could_be_revoked(const struct comm_view *view)
{
    if (engine->transitions && !view->revoked)
        engine_could_be_informed(revocation_of(view->shared));
}

bool view_revoked(struct comm_view *view, bool waits)
{
    if (engine->transitions)
        return view->revoked = view->revoked || engine_was_informed(revocation_of(view->shared));
    if (view->shared->revoked && !view->revoked)
        view->revoked = waits || engine_decide(DECIDE_DEATH, 2) == 1;
    return view->revoked;
}

struct members *view_members(const struct comm_view *view, bool other)
{
    return other ? members_of(view->peers, view->peers_count)
                 : members_of(view->local, view->local_count);
}

/* --- the beginning ---------------------------------------------------------------------------- */

/* Made by the first of its members. No process is in two worlds. */
static struct shared_communicator *find_world(const struct members *all)
{
    struct world *world = common()->worlds;
    while (world && world->shared->process[0] != all->process[0])
        world = world->next;
    if (world)
        return world->shared;
    world = engine_allocate(sizeof *world);
    *world = (struct world){shared_hold(shared_make(all, NULL)), common()->worlds};
    common()->worlds = world;
    return world->shared;
}

void communicators_open(const int32_t *world, int size, int rank)
{
    struct members *all = members_of(world, size);
    struct members *self = members_of(&world[rank], 1);
    if (!all || !self)
        engine_abort(MPI_ERR_NO_MEM);
    view_open(find_world(all), 0, MPI_COMM_WORLD);
    view_open(shared_make(self, NULL), 0, MPI_COMM_SELF);
    members_drop(all);
    members_drop(self);
}
