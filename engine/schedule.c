/* See schedule.h. */
#include "engine/schedule.h"

#include "engine/communicators/communicator.h"
#include "engine/core/core.h"

static void kill_rank(int32_t rank)
{
    if (rank == engine_self) {
        engine_await_kill();
        return;
    }
    if (rank >= engine->processes) /* its parent kills it when it comes */
        return;
    engine_died(rank);
    engine_call_launcher();
}

static void tell(int32_t process)
{
    if (process < engine->processes)
        engine_wake(process);
}

/* Lets other ranks run until the plan releases this one. */
static void stop_ranks(void)
{
    engine_turn();
}

const struct schedule engine_schedule = {
    .kill = kill_rank,
    .tell = tell,
    .stop = stop_ranks,
    .members = group_processes,
    .linger = engine_linger,
    .file = engine_file,
    .file_made = engine_file_made,
};
