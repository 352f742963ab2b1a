/* The life of MPI in a rank: MPI_Init to MPI_Finalize, MPI_Abort. */
#include "engine/library.h"

#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/dynamic/dynamic.h"
#include "engine/time/virtual.h"

#include <stdlib.h>

static int thread_level;

static struct process *self(void)
{
    return &engine->process[engine_self];
}

static int begin(int *argc, char ***argv)
{
    engine_turn();
    if (self()->initialized)
        return MPI_ERR_OTHER;
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

static int finalize(void)
{
    communicators_close();
    engine_turn();
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
