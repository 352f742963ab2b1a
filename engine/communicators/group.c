/* MPI_Group_*. Handles are numbers that the library never gives out: of its kind for groups, but
 * neither built in nor of its tables. */
#include "engine/communicators/parts.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_HANDLE ((uint32_t)MPI_GROUP_NULL + 1)

static struct members empty_group = {.references = 1};

static struct {
    struct members **members; /* by handle - FIRST_HANDLE; NULL: free */
    uint32_t room;
    uint32_t lowest_free; /* none below it is free */
} groups;

static bool grow(void)
{
    uint32_t room = groups.room > 0 ? 2 * groups.room : 64;
    struct members **more = realloc(groups.members, room * sizeof(struct members *));
    if (!more)
        return false;
    memset(more + groups.room, 0, (room - groups.room) * sizeof(struct members *));
    groups.members = more;
    groups.room = room;
    return true;
}

MPI_Group group_handle(struct members *members)
{
    if (!members)
        engine_abort(MPI_ERR_NO_MEM);
    if (members->count == 0) {
        members_drop(members);
        return MPI_GROUP_EMPTY;
    }
    uint32_t at = groups.lowest_free;
    while (at < groups.room && groups.members[at])
        at++;
    if (at == groups.room && !grow())
        engine_abort(MPI_ERR_NO_MEM);
    groups.members[at] = members;
    groups.lowest_free = at + 1;
    return (MPI_Group)(FIRST_HANDLE + at);
}

const struct members *group_members(MPI_Group group)
{
    uint32_t at = (uint32_t)group - FIRST_HANDLE;
    if (group == MPI_GROUP_EMPTY)
        return &empty_group;
    return at < groups.room ? groups.members[at] : NULL;
}

void group_processes(uint64_t group, int32_t *process)
{
    const struct members *members = group_members((MPI_Group)group);
    for (int i = 0; members && i < members->count; i++)
        process[i] = members->process[i];
}

/* Errors of groups are raised at MPI_COMM_WORLD. */
static int raise(int class)
{
    return communicator_raise(MPI_COMM_WORLD, class);
}

static int group_free(MPI_Group *group)
{
    if (!group)
        return raise(MPI_ERR_ARG);
    if (!group_members(*group))
        return raise(MPI_ERR_GROUP);
    if (*group != MPI_GROUP_EMPTY) {
        uint32_t at = (uint32_t)*group - FIRST_HANDLE;
        members_drop(groups.members[at]);
        groups.members[at] = NULL;
        if (at < groups.lowest_free)
            groups.lowest_free = at;
    }
    *group = MPI_GROUP_NULL;
    return MPI_SUCCESS;
}

/* --- questions -------------------------------------------------------------------------------- */

static int group_size(MPI_Group group, int *size)
{
    const struct members *members = group_members(group);
    if (!members || !size)
        return raise(members ? MPI_ERR_ARG : MPI_ERR_GROUP);
    *size = members->count;
    return MPI_SUCCESS;
}

static int group_rank(MPI_Group group, int *rank)
{
    const struct members *members = group_members(group);
    if (!members || !rank)
        return raise(members ? MPI_ERR_ARG : MPI_ERR_GROUP);
    int found = members_find(members, engine_self);
    *rank = found >= 0 ? found : MPI_UNDEFINED;
    return MPI_SUCCESS;
}

static int group_compare(MPI_Group group1, MPI_Group group2, int *result)
{
    static const int answers[] = {[MEMBERS_SAME] = MPI_IDENT,
                                  [MEMBERS_SAME_SET] = MPI_SIMILAR,
                                  [MEMBERS_DIFFERENT] = MPI_UNEQUAL};
    const struct members *a = group_members(group1), *b = group_members(group2);
    if (!a || !b || !result)
        return raise(a && b ? MPI_ERR_ARG : MPI_ERR_GROUP);
    *result = answers[members_compare(a, b)];
    return MPI_SUCCESS;
}

static int group_translate_ranks(MPI_Group group1, int n, const int ranks1[], MPI_Group group2,
                                 int ranks2[])
{
    const struct members *from = group_members(group1), *to = group_members(group2);
    if (!from || !to)
        return raise(MPI_ERR_GROUP);
    if (n < 0 || (n > 0 && (!ranks1 || !ranks2)))
        return raise(MPI_ERR_ARG);
    for (int i = 0; i < n; i++)
        if ((ranks1[i] < 0 && ranks1[i] != MPI_PROC_NULL) || ranks1[i] >= from->count)
            return raise(MPI_ERR_RANK);
    for (int i = 0; i < n; i++) {
        int found = ranks1[i] >= 0 ? members_find(to, from->process[ranks1[i]]) : -1;
        int none = ranks1[i] >= 0 ? MPI_UNDEFINED : MPI_PROC_NULL;
        ranks2[i] = found >= 0 ? found : none;
    }
    return MPI_SUCCESS;
}

/* --- new groups ------------------------------------------------------------------------------- */

typedef struct members *combine_function(const struct members *, const struct members *);

static int combine(combine_function *function, MPI_Group group1, MPI_Group group2, MPI_Group *made)
{
    const struct members *a = group_members(group1), *b = group_members(group2);
    if (!a || !b || !made)
        return raise(a && b ? MPI_ERR_ARG : MPI_ERR_GROUP);
    *made = group_handle(function(a, b));
    return MPI_SUCCESS;
}

static int group_union(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(members_union, group1, group2, newgroup);
}

static int group_intersection(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(members_intersection, group1, group2, newgroup);
}

static int group_difference(MPI_Group group1, MPI_Group group2, MPI_Group *newgroup)
{
    return combine(members_difference, group1, group2, newgroup);
}

typedef struct members *select_function(const struct members *, const int *, int);

static int select_ranks(select_function *function, MPI_Group group, int n, const int *ranks,
                        MPI_Group *made)
{
    const struct members *members = group_members(group);
    if (!members)
        return raise(MPI_ERR_GROUP);
    if (n < 0 || !made || (n > 0 && !ranks))
        return raise(MPI_ERR_ARG);
    if (!members_ranks_valid(ranks, n, members->count))
        return raise(MPI_ERR_RANK);
    *made = group_handle(function(members, ranks, n));
    return MPI_SUCCESS;
}

static int group_incl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(members_include, group, n, ranks, newgroup);
}

static int group_excl(MPI_Group group, int n, const int ranks[], MPI_Group *newgroup)
{
    return select_ranks(members_exclude, group, n, ranks, newgroup);
}

static int select_ranges(select_function *function, MPI_Group group, int n, int ranges[][3],
                         MPI_Group *made)
{
    const struct members *members = group_members(group);
    int total;
    if (!members)
        return raise(MPI_ERR_GROUP);
    if (n < 0 || !made || (n > 0 && !ranges))
        return raise(MPI_ERR_ARG);
    int *ranks = members_expand((const int(*)[3])ranges, n, members->count, &total);
    if (!ranks)
        return raise(MPI_ERR_ARG);
    *made = group_handle(function(members, ranks, total));
    free(ranks);
    return MPI_SUCCESS;
}

static int group_range_incl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(members_include, group, n, ranges, newgroup);
}

static int group_range_excl(MPI_Group group, int n, int ranges[][3], MPI_Group *newgroup)
{
    return select_ranges(members_exclude, group, n, ranges, newgroup);
}

void groups_fill(struct library *table)
{
    table->Group_size = group_size;
    table->Group_rank = group_rank;
    table->Group_compare = group_compare;
    table->Group_translate_ranks = group_translate_ranks;
    table->Group_union = group_union;
    table->Group_intersection = group_intersection;
    table->Group_difference = group_difference;
    table->Group_incl = group_incl;
    table->Group_excl = group_excl;
    table->Group_range_incl = group_range_incl;
    table->Group_range_excl = group_range_excl;
    table->Group_free = group_free;
}
