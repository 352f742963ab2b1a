/* See schedule.h. */
#include "engine/schedule.h"

#include "base/mix.h"
#include "engine/communicators/communicator.h"
#include "engine/core/core.h"
#include "engine/core/transition.h"
#include "trace/record.h"

#include <string.h>

static void kill_rank(int32_t rank)
{
    if (rank == engine_self) {
        engine_await_kill();
        return;
    }
    if (rank >= engine->processes) /* its parent kills it when it comes */
        return;
    if (engine->process[rank].state == PROCESS_LEFT) /* who has ended in order does not die */
        return;
    engine_died(rank);
    engine_call_launcher();
}

/* Where all orders are looked at, a death is a transition of its own: what the others do before it
 * may come of what the rank did last. Else it is part of that. */
static void before_death(void)
{
    if (engine->transitions != NULL && engine_self != ENGINE_NOBODY)
        engine_turn();
}

static void report_death(int32_t process)
{
    if (process < engine->processes)
        engine_wake(process);
}

static bool is_there(int32_t process)
{
    if (process < 0 || process >= engine->processes)
        return false;
    engine_touch(TOUCH_LOOK, engine_death_of(process));
    enum process_state state = engine->process[process].state;
    return state != PROCESS_ABSENT && state != PROCESS_LEFT && state != PROCESS_DEAD;
}

static bool is_dead(int32_t process)
{
    engine_touch(TOUCH_LOOK, engine_death_of(process));
    return process < engine->processes && engine_is_dead(process);
}

static bool knows_dead(int32_t process)
{
    return process < engine->processes && engine_knows_dead(process);
}

static void poll_for(bool (*ready)(void *data), void *data)
{
    engine_turn_to_poll();
    (void)engine_poll((uint64_t)(uintptr_t)ready, ready, data);
}

static void wait_for(bool (*ready)(void *data), void *data)
{
    engine_not_explored("faultline_wait_told");
    engine_turn();
    engine_wait(ready, data);
}

/* Lets other ranks run until the plan releases this one. */
static void stop_ranks(void)
{
    engine_turn();
}

/* --- the store -------------------------------------------------------------------------------- */

static uint64_t hash_path(const char *path, size_t length)
{
    uint64_t hash = 0;
    for (size_t i = 0; i < length; i++)
        hash = mix_two(hash, (unsigned char)path[i]);
    return hash;
}

/* A name comes or goes. */
static bool changes_name(unsigned call)
{
    return call == STORAGE_CREATE || call == STORAGE_RENAME || call == STORAGE_LINK ||
           call == STORAGE_UNLINK || call == STORAGE_MKDIR;
}

static bool only_looks(unsigned call)
{
    return call == STORAGE_OPEN || call == STORAGE_LOOK || call == STORAGE_READ ||
           call == STORAGE_SYNC_RANGE; /* that promises nothing */
}

/* What is in a folder is seen where it is listed (opening it shows nothing yet) and by its sync,
 * which makes these names durable. */
static bool sees_names(unsigned call)
{
    return call == STORAGE_LOOK || call == STORAGE_READ;
}

/* The folders above have to be there: a call on what lies in them looks at their names. Two syncs
 * of one file commute: the second makes durable what the first has left. */
static void touch_store(unsigned call, const char *path, bool is_folder)
{
    if (engine->transitions == NULL || engine_self == ENGINE_NOBODY)
        return;
    size_t length = strcmp(path, ".") == 0 ? 0 : strlen(path); /* "": the store itself */
    uint64_t own = object_name(OBJECT_FILE, hash_path(path, length), 0, 0);
    bool changes = !only_looks(call) && call != STORAGE_SYNC;
    engine_touch(changes ? TOUCH_WRITE : TOUCH_LOOK, own);
    uint64_t names = object_name(OBJECT_NAMES, hash_path(path, length), 0, 0);
    if (is_folder && sees_names(call))
        engine_touch(TOUCH_LOOK, names);
    if (is_folder && call == STORAGE_SYNC)
        engine_names_synced(names);
    if (!only_looks(call)) {
        engine_touch(TOUCH_ADD, object_name(OBJECT_JOB, 0, 0, 0));
        engine_touch(TOUCH_ADD, object_name(OBJECT_STORE, 0, 0, 0));
    }
    if (call == STORAGE_SYNC_ALL)
        engine_touch(TOUCH_LOOK, object_name(OBJECT_STORE, 0, 0, 0));
    bool nearest = true;
    while (length > 0) {
        while (length > 0 && path[length - 1] != '/')
            length--;
        size_t folder = length > 0 ? length - 1 : 0;
        if (nearest && changes_name(call))
            engine_names_changed(object_name(OBJECT_NAMES, hash_path(path, folder), 0, 0));
        nearest = false;
        if (folder > 0)
            engine_touch(TOUCH_LOOK, object_name(OBJECT_FILE, hash_path(path, folder), 0, 0));
        length = folder;
    }
}

/* Only where all orders are looked at; else calls on the store are made together with the call of
 * MPI before them. */
static void come_to_store(void)
{
    if (engine->transitions != NULL && engine_self != ENGINE_NOBODY)
        engine_turn();
}

/* Whether a line was durable when it was noted as committed is judged by what had been done to the
 * store until then. Whether a restart has to use it is judged by what was noted before the job
 * ended. */
static void touch_commit(void)
{
    engine_touch(TOUCH_LOOK, object_name(OBJECT_STORE, 0, 0, 0));
    engine_touch(TOUCH_ADD, object_name(OBJECT_JOB, 0, 0, 0));
    if (engine->transitions != NULL)
        engine_names_judged();
}

const struct schedule engine_schedule = {
    .store = come_to_store,
    .store_file = touch_store,
    .committed = touch_commit,
    .kill = kill_rank,
    .dies = before_death,
    .report_death = report_death,
    .stop = stop_ranks,
    .members = group_processes,
    .is_there = is_there,
    .is_dead = is_dead,
    .knows_dead = knows_dead,
    .poll = poll_for,
    .wait = wait_for,
    .linger = engine_linger,
    .file = engine_file,
    .file_made = engine_file_made,
};
