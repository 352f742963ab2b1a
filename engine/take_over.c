/* See take_over.h. */
#include "engine/take_over.h"

#include "engine/core/core.h"
#include "engine/library.h"
#include "engine/schedule.h"
#include "engine/time/virtual.h"
#include "engine/zygote/kept.h"
#include "engine/zygote/zygote.h"
#include "injectors/record/lives.h"
#include "injectors/record/runtime.h"
#include "injectors/rules/rules.h"

#include <unistd.h>

static void (*begin_recording)(void);

/* The program's first MPI call: from here on this process is one of the ranks. */
static void begin_as_rank(void)
{
    library_wanted = NULL;
    library_resolve(true);
    engine_prepare();
    zygote_become_rank();
    thread_state.tid = gettid();
    virtual_time_set(true);
    schedule = &engine_schedule;
    begin_recording();
    engine_fill(&library);
    engine_looks_in = runtime_steering ? steer_looks_in : NULL;
    engine_meanwhile = runtime_steering ? steer_look_at_held : NULL;
}

bool engine_takes_over(void (*begin)(void))
{
    if (!zygote_is_asked_for())
        return false;
    (void)zygote_is_program(); /* asked before the environment is that of a run */
    kept_open();
    begin_recording = begin;
    library_wanted = begin_as_rank;
    return true;
}

void engine_forked(void)
{
    if (engine == NULL)
        return;
    virtual_time_set(false);
    engine_forget();
}

/* The program ends without an MPI call: each rank does. */
static void end_as_rank(void)
{
    library_wanted = NULL;
    zygote_end_as_rank();
    thread_state.tid = gettid();
    virtual_time_set(true);
    begin_recording();
}

void engine_at_exit(void)
{
    if (library_wanted == begin_as_rank && zygote_is_program())
        end_as_rank();
}
