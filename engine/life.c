/* The life of MPI in a rank: MPI_Init to MPI_Finalize, MPI_Abort. */
#include "engine/library.h"

#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/core/transition.h"
#include "engine/dynamic/dynamic.h"
#include "engine/time/virtual.h"

#include <stdio.h>
#include <stdlib.h>

static int thread_level;

static struct process *self(void)
{
    return &engine->process[engine_self];
}

/* A place that all of a world come to. */
struct gathering {
    const struct comm_view *world;
    bool (*has_come)(const struct process *p);
};

static uint64_t object_of(int process, bool (*has_come)(const struct process *p));

/* Each of its world has come so far, or is dead where a death does not end the job: one that does
 * leaves nobody the time to go on, as with MPICH's Hydra. */
static bool all_have_come(void *data)
{
    const struct gathering *gathering = data;
    const struct comm_view *world = gathering->world;
    for (int i = 0; i < world->local_count; i++) {
        const struct process *p = &engine->process[world->local[i]];
        bool has_come = gathering->has_come(p);
        if (!has_come && !(p->state == PROCESS_DEAD && engine->goes_on))
            return false;
        engine_touch_seen(has_come ? object_of(world->local[i], gathering->has_come)
                                   : engine_death_of(world->local[i]));
    }
    return true;
}

/* MPI need not wait for the others in MPI_Init and MPI_Finalize, but MPICH does: what happens here
 * can happen there, and a rank that others are to kill at their last events is still there. */
static void wait_for_world(const struct comm_view *world, bool (*has_come)(const struct process *p))
{
    engine_touch(TOUCH_WRITE, object_of(engine_self, has_come));
    for (int i = 0; i < world->local_count; i++)
        engine_wake(world->local[i]);
    engine_wait(all_have_come, &(struct gathering){world, has_come});
}

static bool is_initializing(const struct process *p)
{
    return p->initializing;
}

static bool is_finalizing(const struct process *p)
{
    return p->finalizing;
}

static uint64_t object_of(int process, bool (*has_come)(const struct process *p))
{
    return object_name(OBJECT_PROCESS, (uint64_t)process, has_come == is_finalizing, 0);
}

static int begin(int *argc, char ***argv)
{
    engine_turn();
    if (self()->initialized) {
        fprintf(stderr, "faultline: MPI_Init is called twice\n");
        return communicator_raise(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
    dynamic_begin(argc, argv);
    self()->initializing = true;
    wait_for_world(communicator_view(MPI_COMM_WORLD), is_initializing);
    self()->initialized = true;
    return MPI_SUCCESS;
}

static int init(int *argc, char ***argv)
{
    thread_level = MPI_THREAD_SINGLE;
    return begin(argc, argv);
}

static int init_thread(int *argc, char ***argv, int required, int *provided)
{
    if (required == MPI_THREAD_MULTIPLE)
        engine_refuse("MPI_Init_thread", "MPI_THREAD_MULTIPLE is not its");
    thread_level = *provided = required;
    return begin(argc, argv);
}

static int query_thread(int *provided)
{
    *provided = thread_level;
    return MPI_SUCCESS;
}

static int initialized(int *flag)
{
    *flag = self()->initialized;
    return MPI_SUCCESS;
}

static int finalized(int *flag)
{
    *flag = self()->finalized;
    return MPI_SUCCESS;
}

static int finalize(void)
{
    const struct comm_view *world = communicator_view(MPI_COMM_WORLD);
    communicators_close();
    engine_turn();
    self()->finalizing = true;
    wait_for_world(world, is_finalizing);
    self()->finalized = true;
    return MPI_SUCCESS;
}

static int abort_job(MPI_Comm comm, int code)
{
    (void)comm;
    engine_abort(code);
}

static double wtime(void)
{
    return virtual_wtime();
}

void life_fill(struct library *table)
{
    table->Init = init;
    table->Init_thread = init_thread;
    table->Query_thread = query_thread;
    table->Initialized = initialized;
    table->Finalized = finalized;
    table->Finalize = finalize;
    table->Abort = abort_job;
    table->Wtime = wtime;
}
