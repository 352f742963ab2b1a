/* Groups of processes: the members of communicators, as numbers of processes, which are the ranks
 * in the first MPI_COMM_WORLD. Must not know:
 * communicators, levels. */
#ifndef INJECTORS_TAPS_TAP_GROUP_H
#define INJECTORS_TAPS_TAP_GROUP_H

#include "injectors/taps/tap.h"

/* Members in the order of their ranks. Shared by communicators, freed with the last. */
struct group {
    _Atomic unsigned references;
    bool permanent; /* never freed */
    bool identity;  /* member i is world rank i; then member[] is not filled */
    int size;
    uint64_t hash; /* of the members */
    int32_t member[];
};

/* All of the first MPI_COMM_WORLD, this process alone, nobody. */
extern struct group group_world;
extern struct group group_self;
extern struct group group_none;

/* Its world rank. rank: below the size. */
static inline int32_t group_member(const struct group *group, int rank)
{
    return group->identity ? rank : group->member[rank];
}

/* When the job has begun, and before it ends. Returns the members of MPI_COMM_WORLD, in which this
 * process is `rank` of `size`: group_world, or others in one that came later; held once.
 * number: of this process. */
struct group *group_open(int rank, int size, int number);
void group_close(void);

/* Processes outside MPI_COMM_WORLD: `members`, `count` of them, are those of the library's
 * `handle`, which is freed by group_close. Any thread, any time. */
void group_learn(MPI_Group handle, const int *members, int count);

/* Of a communicator's members; the same on both sides of an intercommunicator. remote: or NULL. */
uint64_t group_members_hash(const struct group *local, const struct group *remote);

/* NULL is fine. group_drop: freed with the last hold. */
struct group *group_hold(struct group *group);
void group_drop(struct group *group);

/* Of the library's; frees the handle. Held once; group_none when memory is short. */
struct group *group_from_handle(MPI_Group handle);
/* The same of a handle that stays its owner's. */
struct group *group_seen(MPI_Group handle);

/* Of ranks in MPI_COMM_WORLD. Held once. NULL: no memory. */
struct group *group_of(const int *members, int size);

/* How many GROUP records it takes; 0 for NULL. group_write fills and publishes them, and returns
 * the record after them. */
unsigned group_records(const struct group *group);
struct record *group_write(struct record *r, const struct group *group);

#endif
