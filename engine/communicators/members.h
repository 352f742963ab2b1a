/* Ordered lists of processes without repetition: what a group is, and each side of a communicator.
 * In the memory of one rank. Must not know: handles, communicators, MPI. */
#ifndef ENGINE_COMMUNICATORS_MEMBERS_H
#define ENGINE_COMMUNICATORS_MEMBERS_H

#include <stdbool.h>
#include <stdint.h>

/* Never changed once others hold it. `process`: numbers of the engine, see core.h. */
struct members {
    int references;
    int count;
    int32_t process[];
};

enum members_likeness { MEMBERS_SAME, MEMBERS_SAME_SET, MEMBERS_DIFFERENT };

/* With one reference, for the caller to fill; NULL without memory. */
struct members *members_new(int count);
/* A copy of `count` process numbers. */
struct members *members_of(const int32_t *process, int count);
struct members *members_hold(struct members *members);
void members_drop(struct members *members);

/* The place of a process, from 0; -1: not a member. */
int members_find(const struct members *members, int32_t process);
enum members_likeness members_compare(const struct members *a, const struct members *b);

/* New lists, with one reference each, in the order that MPI_Group_union and its like ask for; NULL
 * without memory. */
struct members *members_union(const struct members *a, const struct members *b);
struct members *members_intersection(const struct members *a, const struct members *b);
struct members *members_difference(const struct members *a, const struct members *b);

/* The members at `ranks`, in that order; all others in the old order. The ranks are valid. */
struct members *members_include(const struct members *members, const int *ranks, int count);
struct members *members_exclude(const struct members *members, const int *ranks, int count);

/* Are they within 0..size-1, none twice? */
bool members_ranks_valid(const int *ranks, int count, int size);

/* The ranks that triples of first, last and stride mean, in their order: to be freed; *total gets
 * their number. NULL: a triple is no range of 0..size-1, a rank comes twice, or no memory. */
int *members_expand(const int (*ranges)[3], int count, int size, int *total);

#endif
