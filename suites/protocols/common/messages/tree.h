/* Spanning trees of a communicator, one for each root: of 2^k members the one in which a member's
 * parent differs from it in one bit of its distance to the root; of more, the first ones go in
 * pairs that stand for one. Below each member is a range of ranks, so what comes up the tree can be
 * put together in the order of ranks, and as recursive doubling does it. Must not know: messages.
 */
#ifndef COMMON_MESSAGES_TREE_H
#define COMMON_MESSAGES_TREE_H

#include <stdbool.h>

#define TREE_CHILDREN_MOST 32
#define TREE_NOBODY (-1)

/* A child, and the range of ranks that it stands for. */
struct tree_child {
    int rank;
    int first, last;
    bool
        ahead; /* of what its parent stands for when this child joins it: those before and itself */
};

/* As seen by one member; ranks are those in the communicator. */
struct tree {
    int parent; /* TREE_NOBODY: the root */
    int children;
    struct tree_child child[TREE_CHILDREN_MOST]; /* in the order in which they join */
};

/* Of a communicator of `size` members. */
struct tree tree_of(int size, int root, int rank);

/* No member is further away from a root. */
int tree_depth(int size);

#endif
