/* The life of MPI in a rank: MPI_Init to MPI_Finalize, MPI_Abort. */
#include "engine/library.h"

#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/dynamic/dynamic.h"
#include "engine/time/virtual.h"

#include <stdio.h>
#include <stdlib.h>

static int thread_level;

static struct process *self(void)
{
    return &engine->process[engine_self];
}

static int begin(int *argc, char ***argv)
{
    engine_turn();
    if (self()->initialized) {
        fprintf(stderr, "faultline: MPI_Init is called twice\n");
        return communicator_raise(MPI_COMM_WORLD, MPI_ERR_OTHER);
    }
    dynamic_begin(argc, argv);
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

/* Each of its world is dead or has come to MPI_Finalize. */
static bool all_finalize(const struct comm_view *world)
{
    for (int i = 0; i < world->local_count; i++) {
        const struct process *p = &engine->process[world->local[i]];
        if (!p->finalizing && p->state != PROCESS_DEAD)
            return false;
    }
    return true;
}

/* MPI need not wait for the others here, but MPICH does: a rank that others are to kill at their
 * last events is still there. */
static int finalize(void)
{
    const struct comm_view *world = communicator_view(MPI_COMM_WORLD);
    communicators_close();
    engine_turn();
    self()->finalizing = true;
    for (int i = 0; i < world->local_count; i++)
        engine_wake(world->local[i]);
    while (!all_finalize(world))
        engine_block();
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
