/* Spanning trees of common/messages: every member is in each tree once, what comes up is put
 * together in the order of ranks, and as recursive doubling does it. */
#include "common/messages/tree.h"

#include "tap.h"

#include <stdlib.h>

#define SMALL 70 /* of these all roots are looked at */

/* The ranks that a member stands for, its children's joined to its own one after the other. */
struct range {
    int first, last;
};

/* The child's range lies directly beside what has been joined so far, on the side that it says, and
 * is what the child itself stands for. */
static bool join(struct range *own, const struct tree_child *child)
{
    bool beside = child->ahead ? child->last + 1 == own->first : own->last + 1 == child->first;
    if (child->ahead)
        own->first = child->first;
    else
        own->last = child->last;
    return beside && child->first <= child->rank && child->rank <= child->last;
}

/* -1: it is not right. Counts how often each is met in *seen. */
static int depth_below(int size, int root, int rank, int parent, struct range *range, int *seen)
{
    struct tree tree = tree_of(size, root, rank);
    int deepest = 0;
    *range = (struct range){rank, rank};
    seen[rank]++;
    if (tree.parent != parent || tree.children > TREE_CHILDREN_MOST)
        return -1;
    for (int i = 0; i < tree.children; i++) {
        const struct tree_child *child = &tree.child[i];
        struct range below;
        int depth = depth_below(size, root, child->rank, rank, &below, seen);
        if (depth < 0 || !join(range, child) || below.first != child->first ||
            below.last != child->last)
            return -1;
        deepest = depth + 1 > deepest ? depth + 1 : deepest;
    }
    return deepest;
}

static bool is_right(int size, int root)
{
    int *seen = calloc((size_t)size, sizeof *seen);
    struct range range;
    int depth = depth_below(size, root, root, TREE_NOBODY, &range, seen);
    bool right =
        depth >= 0 && depth <= tree_depth(size) && range.first == 0 && range.last == size - 1;
    for (int i = 0; i < size; i++)
        right = right && seen[i] == 1;
    free(seen);
    return right;
}

static void test_trees(void)
{
    const int large[] = {127, 128, 129, 1000, 1024, 16383};
    bool right = true;
    for (int size = 1; size <= SMALL; size++)
        for (int root = 0; root < size; root++)
            right = right && is_right(size, root);
    check(right, "trees of up to %d members, from every root", SMALL);
    for (size_t i = 0; i < sizeof large / sizeof *large; i++) {
        int size = large[i];
        check(is_right(size, 0) && is_right(size, 1) && is_right(size, size / 3) &&
                  is_right(size, size - 1),
              "trees of %d members, from four roots", size);
    }
}

/* Who sends to whom, by hand: six members are two pairs and two alone, numbers 0 to 3. */
static void test_six(void)
{
    const int parents[] = {TREE_NOBODY, 0, 0, 2, 0, 4};
    bool right = true;
    for (int rank = 0; rank < 6; rank++)
        right = right && tree_of(6, 0, rank).parent == parents[rank];
    check(right, "of six members the first four go in pairs");
}

static void test_depth(void)
{
    check(tree_depth(1) == 1 && tree_depth(2) == 2 && tree_depth(8) == 4 && tree_depth(9) == 4 &&
              tree_depth(16384) == 15,
          "no member is further away than tree_depth says");
}

int main(void)
{
    test_trees();
    test_six();
    test_depth();
    return done();
}
