/* Groups: the order of what MPI's set operations give, and which ranks and ranges are refused. */
#include "engine/communicators/members.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define COUNT(array) ((int)(sizeof(array) / sizeof((array)[0])))

static bool is(const struct members *members, const int32_t *wanted, int count)
{
    return members && members->count == count &&
           (count == 0 || memcmp(members->process, wanted, (size_t)count * sizeof *wanted) == 0);
}

#define IS(members, ...) is(members, (int32_t[]){__VA_ARGS__}, COUNT(((int32_t[]){__VA_ARGS__})))

static void test_sets(void)
{
    struct members *a = members_of((int32_t[]){5, 3, 9, 1}, 4);
    struct members *b = members_of((int32_t[]){1, 7, 3}, 3);
    struct members *both = members_union(a, b), *common = members_intersection(a, b);
    struct members *rest = members_difference(a, b), *none = members_difference(common, a);
    check(IS(both, 5, 3, 9, 1, 7), "a union has the first group, then the rest of the second");
    check(IS(common, 3, 1), "an intersection has the order of the first group");
    check(IS(rest, 5, 9), "a difference has the order of the first group");
    check(none->count == 0, "nothing is left without all");
    check(members_find(a, 9) == 2 && members_find(a, 7) == -1, "members have places");
    members_drop(a);
    members_drop(b);
    members_drop(both);
    members_drop(common);
    members_drop(rest);
    members_drop(none);
}

static void test_likeness(void)
{
    struct members *a = members_of((int32_t[]){5, 3}, 2), *b = members_of((int32_t[]){3, 5}, 2);
    struct members *c = members_of((int32_t[]){3, 4}, 2), *d = members_of((int32_t[]){5}, 1);
    check(members_compare(a, a) == MEMBERS_SAME, "the same order is the same");
    check(members_compare(a, b) == MEMBERS_SAME_SET, "another order is the same set");
    check(members_compare(a, c) == MEMBERS_DIFFERENT, "another member makes it different");
    check(members_compare(a, d) == MEMBERS_DIFFERENT, "and so does one that is missing");
    members_drop(a);
    members_drop(b);
    members_drop(c);
    members_drop(d);
}

static void test_ranks(void)
{
    struct members *all = members_of((int32_t[]){10, 11, 12, 13, 14}, 5);
    struct members *some = members_include(all, (int[]){3, 0}, 2);
    struct members *rest = members_exclude(all, (int[]){3, 0}, 2);
    check(IS(some, 13, 10), "ranks that are included come in the order in which they are named");
    check(IS(rest, 11, 12, 14), "what is left after an exclusion keeps its order");
    check(members_ranks_valid((int[]){4, 0}, 2, 5), "ranks from 0 to the size are valid");
    check(!members_ranks_valid((int[]){5}, 1, 5), "the size is no rank");
    check(!members_ranks_valid((int[]){-1}, 1, 5), "nor is what is below 0");
    check(!members_ranks_valid((int[]){2, 2}, 2, 5), "none may come twice");
    members_drop(all);
    members_drop(some);
    members_drop(rest);
}

static bool expands(const int range[][3], int count, const int *wanted, int wanted_count)
{
    int total;
    int *ranks = members_expand(range, count, 8, &total);
    bool good = ranks && total == wanted_count &&
                memcmp(ranks, wanted, (size_t)total * sizeof *wanted) == 0;
    free(ranks);
    return good;
}

static bool is_refused(const int range[3])
{
    int total, once[1][3];
    memcpy(once[0], range, sizeof once[0]);
    int *ranks = members_expand((const int(*)[3])once, 1, 8, &total);
    free(ranks);
    return !ranks;
}

static void test_ranges(void)
{
    check(expands((const int[][3]){{6, 1, -2}, {7, 7, 1}}, 2, (int[]){6, 4, 2, 7}, 4),
          "ranges go down and up");
    check(expands((const int[][3]){{5, 9, 5}}, 1, (int[]){5}, 1),
          "a range may end beyond what its stride reaches");
    check(!expands((const int[][3]){{0, 2, 1}, {2, 3, 1}}, 2, NULL, 0), "ranges may not overlap");
    check(is_refused((int[]){0, 3, 0}), "a stride of 0 is refused");
    check(is_refused((int[]){3, 0, 1}), "and a range that goes away from its end");
    check(is_refused((int[]){0, 8, 1}), "and one that leaves the group");
    check(is_refused((int[]){8, 9, 1}), "and one that begins outside");
    check(is_refused((int[]){3, -1, -1}), "and one that ends below 0");
}

int main(void)
{
    test_sets();
    test_likeness();
    test_ranks();
    test_ranges();
    return done();
}
