/* Orders of reductions, as terms: 0, 1, ... are contributions, (ab) is a combined with b. */
#include "engine/collectives/reduce.h"
#include "tap.h"

#include <stdlib.h>
#include <string.h>

#define MOST_RANKS 40

static void *leaf(void *context, int rank)
{
    char text[16];
    (void)context;
    snprintf(text, sizeof text, "%d", rank);
    return strdup(text);
}

static void *combine(void *context, void *first, void *second)
{
    char *made;
    (void)context;
    if (asprintf(&made, "(%s %s)", (char *)first, (char *)second) < 0)
        abort();
    free(first);
    free(second);
    return made;
}

static const struct combiner combiner = {NULL, leaf, combine};

static bool is(char *term, const char *wanted)
{
    bool same = strcmp(term, wanted) == 0;
    if (!same)
        printf("# %s instead of %s\n", term, wanted);
    free(term);
    return same;
}

/* The contributions from `first` on, each once, in the order of their ranks. */
static bool in_order(char *term, int first, int ranks)
{
    int wanted = first;
    for (char *at = strtok(term, "( )"); at; at = strtok(NULL, "( )"))
        if (atoi(at) != wanted++)
            break;
    free(term);
    return wanted == first + ranks;
}

/* As the library has them: its sources, src/mpi/coll. */
static void test_shapes(void)
{
    check(is(reduce_doubling(&combiner, 4), "((0 1) (2 3))"), "doubling of 4");
    check(is(reduce_doubling(&combiner, 5), "(((0 1) 2) (3 4))"),
          "doubling of 5: the first two are paired off");
    check(is(reduce_doubling(&combiner, 7), "(((0 1) (2 3)) ((4 5) 6))"), "doubling of 7");
    check(is(reduce_binomial(&combiner, 6, 0), "(((0 1) (2 3)) (4 5))"), "binomial of 6");
    check(is(reduce_binomial(&combiner, 5, 3), "(((3 4) (0 1)) 2)"),
          "binomial of 5 begins at the root");
    check(is(reduce_halving(&combiner, 4), "((0 2) (1 3))"), "halving of 4");
    check(is(reduce_halving(&combiner, 6), "(((0 1) 4) ((2 3) 5))"), "halving of 6");
    check(is(reduce_scan(&combiner, 0), "0"), "a scan of the first");
    check(is(reduce_scan(&combiner, 5), "(((0 1) (2 3)) (4 5))"), "a scan of six");
    check(is(reduce_scan(&combiner, 6), "(((0 1) (2 3)) ((4 5) 6))"), "a scan of seven");
    check(is(reduce_exscan(&combiner, 6), "(((0 1) (2 3)) (4 5))"),
          "an exclusive scan of the seventh");
    check(is(reduce_exscan(&combiner, 1), "0"), "an exclusive scan of the second");
}

/* Operations that do not commute need it. */
static void test_order(void)
{
    bool doubling = true, binomial = true, scan = true, exscan = true;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        doubling = doubling && in_order(reduce_doubling(&combiner, ranks), 0, ranks);
        binomial = binomial && in_order(reduce_binomial(&combiner, ranks, 0), 0, ranks);
        scan = scan && in_order(reduce_scan(&combiner, ranks - 1), 0, ranks);
        exscan = exscan && in_order(reduce_exscan(&combiner, ranks), 0, ranks);
    }
    check(doubling, "doubling keeps the order of ranks");
    check(binomial, "a binomial tree from rank 0 keeps it");
    check(scan, "a scan keeps it");
    check(exscan, "an exclusive scan keeps it");
}

/* Each contribution counts once, whatever the shape. */
static bool each_once(char *term, int ranks)
{
    bool seen[MOST_RANKS] = {false}, good = true;
    int count = 0;
    for (char *at = strtok(term, "( )"); at; at = strtok(NULL, "( )"), count++) {
        good = good && !seen[atoi(at)];
        seen[atoi(at)] = true;
    }
    free(term);
    return good && count == ranks;
}

static void test_whole(void)
{
    bool halving = true, round = true;
    for (int ranks = 1; ranks <= MOST_RANKS; ranks++) {
        halving = halving && each_once(reduce_halving(&combiner, ranks), ranks);
        for (int root = 0; root < ranks; root++)
            round = round && each_once(reduce_binomial(&combiner, ranks, root), ranks);
    }
    check(halving, "halving has each contribution once");
    check(round, "so has a binomial tree from any root");
}

int main(void)
{
    test_shapes();
    test_order();
    test_whole();
    return done();
}
