/* See hang_collective.h. Which members a rank depends on follows from the data flow: in a broadcast
 * from the root alone, in a scan from those of lower rank. A library may wait for more; then a
 * deadlock is missed, and none is made up. */
#include "oracles/history_claims/hang_collective.h"

#include "trace/calls.h"

#include <inttypes.h>
#include <stdio.h>

void hang_add_target(struct wait_for *wait, int rank)
{
    for (unsigned i = 0; i < wait->target_count; i++)
        if (wait->target[i] == rank)
            return;
    if (rank != wait->rank && wait->target_count < HANG_TARGETS)
        wait->target[wait->target_count++] = rank;
}

/* Who of a collective a member depends on, by data flow. */
enum depends {
    DEPENDS_NOBODY,
    DEPENDS_ALL,
    DEPENDS_ROOT,
    DEPENDS_LOWER, /* scans: the members of lower rank */
    DEPENDS_SOME,  /* its neighbours, of whom the traces do not tell who they are */
};

/* Members that a rank depends on and that have not come to its newest collective there. */
static unsigned add_missing(const struct gathering *gathering, uint64_t number, int ranks,
                            enum depends depends, int root, struct wait_for *wait)
{
    unsigned missing = 0;
    for (int rank = 0; rank < ranks; rank++) {
        if (!gathering->member[rank] || gathering->joined[rank] >= number ||
            (depends == DEPENDS_ROOT && rank != root) ||
            (depends == DEPENDS_LOWER && gathering->place[rank] > gathering->place[wait->rank]))
            continue;
        missing++;
        hang_add_target(wait, rank);
    }
    /* Only if nobody else has come, no neighbour has. */
    return depends == DEPENDS_SOME && missing + 1 < gathering->size ? 0 : missing;
}

/* The collective that a thread of the rank is inside of, on another communicator than `comm`; NULL:
 * none is. */
static const struct record *other_collective(const struct analysis *analysis, int rank,
                                             uint32_t comm)
{
    const struct rank_threads *threads = &analysis->threads[rank];
    for (unsigned i = 0; i < HANG_THREADS; i++) {
        const struct inside *inside = &threads->inside[i];
        if (threads->used[i] && inside->blocking && collective_comm(&inside->record) != 0 &&
            inside->record.comm != comm)
            return &inside->record;
    }
    return NULL;
}

/* " 1, 2, 3": those of `wait` that are inside the same call as `like` is, NULL: all of them. */
static size_t say_targets(const struct analysis *analysis, const struct wait_for *wait,
                          const struct record *like, char *text, size_t bytes)
{
    size_t used = 0;
    for (unsigned i = 0; i < wait->target_count && used + 16 < bytes; i++) {
        const struct record *other = other_collective(analysis, wait->target[i], wait->comm);
        if (like == NULL ||
            (other != NULL && other->call == like->call && other->comm == like->comm))
            used += (size_t)snprintf(text + used, bytes - used, "%s %d", used > 0 ? "," : "",
                                     wait->target[i]);
    }
    return used;
}

static const char *communicator_text(uint32_t comm, char buffer[32])
{
    if (comm == COMM_WORLD_ID)
        snprintf(buffer, 32, "MPI_COMM_WORLD");
    else
        snprintf(buffer, 32, "communicator %#" PRIx32, comm);
    return buffer;
}

/* Of those that a rank waits for, the first that is in a collective on another communicator, and
 * those that are with it. */
static void say_elsewhere(const struct analysis *analysis, struct wait_for *wait, size_t used)
{
    const struct record *like = NULL;
    char ranks[96], comm[32];
    for (unsigned i = 0; i < wait->target_count && like == NULL; i++)
        like = other_collective(analysis, wait->target[i], wait->comm);
    if (like == NULL)
        return;
    communicator_text(like->comm, comm);
    if (wait->target_count == 1)
        snprintf(wait->text + used, sizeof wait->text - used, ", which is in %s on %s",
                 call_name(like->call), comm);
    else if (say_targets(analysis, wait, like, ranks, sizeof ranks) > 0)
        snprintf(wait->text + used, sizeof wait->text - used, ", of which%s are in %s on %s", ranks,
                 call_name(like->call), comm);
}

static void say_collective(const struct analysis *analysis, const struct gathering *gathering,
                           const char *call, struct wait_for *wait)
{
    char comm[32];
    wait->comm = gathering->comm;
    size_t used = (size_t)snprintf(wait->text, sizeof wait->text, "rank %d waits in %s for rank%s",
                                   wait->rank, call, wait->target_count > 1 ? "s" : "");
    used += say_targets(analysis, wait, NULL, wait->text + used, sizeof wait->text / 2 - used);
    if (gathering->comm != COMM_WORLD_ID)
        used += (size_t)snprintf(wait->text + used, sizeof wait->text - used, " (%s)",
                                 communicator_text(gathering->comm, comm));
    say_elsewhere(analysis, wait, used);
}

static enum depends depends_on(const struct gathering *gathering, int rank, unsigned call, int root,
                               uint64_t bytes)
{
    bool large = bytes > EAGER_BYTES;
    switch (call_operation(call)) {
    case OPERATION_BARRIER:
    case OPERATION_ALLGATHER:
    case OPERATION_ALLGATHERV:
    case OPERATION_ALLTOALL:
    case OPERATION_ALLREDUCE:
    case OPERATION_REDUCE_SCATTER:
    case OPERATION_REDUCE_SCATTER_BLOCK:
    case OPERATION_NONE: /* makes a communicator */
        return DEPENDS_ALL;
    case OPERATION_BCAST:
    case OPERATION_SCATTER:
    case OPERATION_SCATTERV:
        return gathering->inter || rank == root ? DEPENDS_NOBODY : DEPENDS_ROOT;
    case OPERATION_GATHER:
    case OPERATION_GATHERV:
    case OPERATION_REDUCE:
        if (gathering->inter)
            return DEPENDS_NOBODY;
        if (rank == root)
            return DEPENDS_ALL;
        return large ? DEPENDS_ROOT : DEPENDS_NOBODY;
    case OPERATION_SCAN:
    case OPERATION_EXSCAN:
        return DEPENDS_LOWER;
    case OPERATION_NEIGHBOR_ALLGATHER:
    case OPERATION_NEIGHBOR_ALLGATHERV:
    case OPERATION_NEIGHBOR_ALLTOALL:
    case OPERATION_NEIGHBOR_ALLTOALLV:
    case OPERATION_NEIGHBOR_ALLTOALLW:
        return DEPENDS_SOME;
    default:
        return DEPENDS_NOBODY;
    }
}

bool hang_in_collective(const struct analysis *analysis, int rank, uint32_t comm, uint64_t number,
                        unsigned call, int root, uint64_t bytes, const char *waits_in,
                        struct wait_for *wait)
{
    const struct gathering *gathering = collectives_find(&analysis->pass.collectives, comm);
    if (gathering == NULL)
        return false;
    enum depends depends = depends_on(gathering, rank, call, root, bytes);
    if (depends == DEPENDS_NOBODY ||
        add_missing(gathering, number, analysis->ranks, depends, root, wait) == 0)
        return false;
    wait->any |= depends == DEPENDS_SOME;
    say_collective(analysis, gathering, waits_in, wait);
    return true;
}

/* --- meetings ------------------------------------------------------------------------------ */

static bool spawns(const struct record *record)
{
    return record->call == CALL_MPI_Comm_spawn || record->call == CALL_MPI_Comm_spawn_multiple;
}

bool hang_is_meeting(const struct record *record)
{
    return record->kind == RECORD_CALL && (record->call == CALL_MPIX_Comm_agree ||
                                           record->call == CALL_MPIX_Comm_shrink || spawns(record));
}

static uint64_t meeting_key(const struct record *record)
{
    return (uint64_t)record->comm << 32 | record->call;
}

uint64_t hang_come_to_meeting(struct analysis *analysis, int rank, const struct record *record)
{
    return table_count(&analysis->meetings, meeting_key(record), (uint64_t)rank);
}

bool hang_in_meeting(const struct analysis *analysis, int rank, const struct inside *inside,
                     struct wait_for *wait)
{
    const struct record *record = &inside->record;
    const struct gathering *gathering = collectives_find(&analysis->pass.collectives, record->comm);
    unsigned missing = 0;
    for (int other = 0; gathering != NULL && other < analysis->ranks; other++) {
        bool needed = spawns(record) || (other < analysis->alive_count && analysis->alive[other]);
        uint64_t come = (uint64_t)(uintptr_t)table_get(&analysis->meetings, meeting_key(record),
                                                       (uint64_t)other);
        if (!gathering->member[other] || !needed || other == rank || come >= inside->number)
            continue;
        missing++;
        hang_add_target(wait, other);
    }
    if (missing > 0)
        say_collective(analysis, gathering, call_name(record->call), wait);
    return missing > 0;
}
