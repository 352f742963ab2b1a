/* See tap_group.h. */
#include "injectors/taps/tap_group.h"

#include "base/mix.h"
#include "injectors/record/schedule.h"

#include <stdlib.h>

struct group group_world = {.permanent = true, .identity = true, .member = {0}};
struct group group_self = {.permanent = true, .size = 1, .member = {0}};
struct group group_none = {.permanent = true, .member = {0}};

/* What the library calls some processes, and what we do. */
struct known {
    struct known *next;
    MPI_Group handle;
    int size;
    int32_t member[];
};

static struct known *_Atomic known; /* MPI_COMM_WORLD last; grows only, while the job runs */

/* --- hashes ----------------------------------------------------------------------------------- */

static uint64_t group_hash(const struct group *group)
{
    uint64_t hash = mix_two(0, (uint64_t)group->size);
    for (int i = 0; i < group->size; i++)
        hash = mix_two(hash, (uint32_t)group_member(group, i));
    return hash;
}

/* The two sides of an intercommunicator must come to the same, so the side with the smaller first
 * member comes first. */
uint64_t group_members_hash(const struct group *local, const struct group *remote)
{
    if (!remote)
        return local->hash;
    bool ours_first =
        local->size == 0 || remote->size == 0 || group_member(local, 0) < group_member(remote, 0);
    return ours_first ? mix_two(local->hash, remote->hash) : mix_two(remote->hash, local->hash);
}

/* --- making ----------------------------------------------------------------------------------- */

struct group *group_hold(struct group *group)
{
    if (group && !group->permanent)
        atomic_fetch_add(&group->references, 1);
    return group;
}

void group_drop(struct group *group)
{
    if (group && !group->permanent && atomic_fetch_sub(&group->references, 1) == 1)
        free(group);
}

/* Member i is world rank i, and all of the world is there. */
static bool is_world(const struct group *group)
{
    if (group->size != group_world.size)
        return false;
    for (int i = 0; i < group->size; i++)
        if (group->member[i] != i)
            return false;
    return true;
}

/* Numbers of `handle`'s members, where nobody else counts the processes; PEER_UNKNOWN for those of
 * which nothing was learned. ranks: room for as many numbers, twice. */
static void translate(MPI_Group handle, struct group *group, int *ranks)
{
    int *found = ranks + group->size;
    if (schedule != NULL) {
        schedule->members(HANDLE(handle), group->member);
        return;
    }
    for (int i = 0; i < group->size; i++) {
        ranks[i] = i;
        group->member[i] = PEER_UNKNOWN;
    }
    for (const struct known *one = atomic_load(&known); one; one = one->next) {
        library.Group_translate_ranks(handle, group->size, ranks, one->handle, found);
        for (int i = 0; i < group->size; i++)
            if (found[i] != MPI_UNDEFINED && found[i] < one->size)
                group->member[i] = one->member[found[i]];
    }
}

struct group *group_seen(MPI_Group handle)
{
    int size = 0;
    library.Group_size(handle, &size);
    struct group *group = calloc(1, sizeof *group + (size_t)size * sizeof(int32_t));
    int *ranks = malloc(2 * (size_t)(size > 0 ? size : 1) * sizeof *ranks);
    if (group && ranks) {
        atomic_init(&group->references, 1);
        group->size = size;
        translate(handle, group, ranks);
        group->hash = group_hash(group);
    }
    free(ranks);
    if (!group || !ranks || is_world(group)) {
        struct group *instead = group && ranks ? &group_world : &group_none;
        free(group);
        return instead;
    }
    return group;
}

struct group *group_from_handle(MPI_Group handle)
{
    struct group *group = group_seen(handle);
    library.Group_free(&handle);
    return group;
}

void group_learn(MPI_Group handle, const int *members, int count)
{
    struct known *made = calloc(1, sizeof *made + (size_t)count * sizeof(int32_t));
    if (!made)
        return;
    made->handle = handle;
    made->size = count;
    for (int i = 0; i < count; i++)
        made->member[i] = members[i];
    made->next = atomic_load(&known);
    while (!atomic_compare_exchange_weak(&known, &made->next, made))
        ;
}

/* Processes that came together have numbers one after the other. */
static void learn_world(int first, int size)
{
    MPI_Group world;
    int *members = malloc((size_t)size * sizeof *members);
    library.Comm_group(handles.COMM_WORLD, &world);
    for (int i = 0; members && i < size; i++)
        members[i] = first + i;
    if (members)
        group_learn(world, members, size);
    free(members);
}

struct group *group_open(int rank, int size, int number)
{
    MPI_Group members;
    group_world.size = size;
    group_world.hash = group_hash(&group_world);
    library_begin();
    learn_world(number - rank, size);
    library.Comm_group(handles.COMM_WORLD, &members);
    struct group *all = group_from_handle(members);
    library_end();
    group_self.member[0] = rank < all->size ? group_member(all, rank) : rank;
    group_self.hash = group_hash(&group_self);
    return all;
}

void group_close(void)
{
    library_begin();
    for (struct known *one = atomic_exchange(&known, NULL); one;) {
        struct known *next = one->next;
        library.Group_free(&one->handle);
        free(one);
        one = next;
    }
    library_end();
}

struct group *group_of(const int *members, int size)
{
    struct group *group = calloc(1, sizeof *group + (size_t)size * sizeof(int32_t));
    if (!group)
        return NULL;
    atomic_init(&group->references, 1);
    group->size = size;
    for (int i = 0; i < size; i++)
        group->member[i] = members[i];
    group->hash = group_hash(group);
    return group;
}

/* --- records ---------------------------------------------------------------------------------- */

unsigned group_records(const struct group *group)
{
    return group ? ((unsigned)group->size + RECORD_GROUP_MEMBERS - 1) / RECORD_GROUP_MEMBERS : 0;
}

struct record *group_write(struct record *r, const struct group *group)
{
    for (unsigned i = 0; i < group_records(group); i++, r++) {
        for (int k = 0; k < RECORD_GROUP_MEMBERS; k++) {
            int rank = (int)i * RECORD_GROUP_MEMBERS + k;
            r->members[k] = rank < group->size ? group_member(group, rank) : -1;
        }
        r->call = 0;
        atomic_store_explicit(&r->kind, RECORD_GROUP, memory_order_release);
    }
    return r;
}
