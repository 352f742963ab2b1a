/* See tree.h. */
#include "common/messages/tree.h"

/* Members by numbers of which there are a power of two: number i is the pair of ranks 2i and 2i + 1
 * while i is below `pairs`, and rank i + pairs from there on. */
struct numbers {
    int count;
    int pairs;
};

static struct numbers numbers_of(int size)
{
    struct numbers numbers = {1, 0};
    while (numbers.count <= size / 2)
        numbers.count *= 2;
    numbers.pairs = size - numbers.count;
    return numbers;
}

static int number_of(struct numbers numbers, int rank)
{
    return rank < 2 * numbers.pairs ? rank / 2 : rank - numbers.pairs;
}

static int first_of(struct numbers numbers, int number)
{
    return number < numbers.pairs ? 2 * number : number + numbers.pairs;
}

/* Who of a pair is in the tree; the other one is its child. */
static int head_of(struct numbers numbers, int number, int root)
{
    return number == number_of(numbers, root) ? root : first_of(numbers, number);
}

static void add(struct tree *tree, int rank, int first, int last, bool ahead)
{
    tree->child[tree->children++] = (struct tree_child){rank, first, last, ahead};
}

struct tree tree_of(int size, int root, int rank)
{
    struct tree tree = {.parent = TREE_NOBODY};
    struct numbers numbers = numbers_of(size);
    int own = number_of(numbers, rank), top = number_of(numbers, root);
    int head = head_of(numbers, own, root), away = own ^ top;
    if (rank != head) {
        tree.parent = head;
        return tree;
    }
    if (own < numbers.pairs) {
        int other = 4 * own + 1 - rank;
        add(&tree, other, other, other, other < rank);
    }
    if (away != 0)
        tree.parent = head_of(numbers, (away & (away - 1)) ^ top, root);
    for (int bit = 1; bit < numbers.count && (away & bit) == 0; bit *= 2) {
        int child = own ^ bit, lowest = child & ~(bit - 1);
        add(&tree, head_of(numbers, child, root), first_of(numbers, lowest),
            first_of(numbers, lowest + bit) - 1, child < own);
    }
    return tree;
}

int tree_depth(int size)
{
    int depth = 1;
    for (int count = numbers_of(size).count; count > 1; count /= 2)
        depth++;
    return depth;
}
