/* Orders of reductions: see reduce.h. */
#include "engine/collectives/reduce.h"

/* Ranks paired off beforehand, so that a power of two is left. */
struct fold {
    const struct combiner *combiner;
    int width; /* the power of two */
    int pairs;
};

static struct fold fold_of(const struct combiner *combiner, int ranks)
{
    int width = 1;
    while (width * 2 <= ranks)
        width *= 2;
    return (struct fold){combiner, width, ranks - width};
}

static void *leaf(const struct combiner *combiner, int rank)
{
    return combiner->leaf(combiner->context, rank);
}

static void *combine(const struct combiner *combiner, void *first, void *second)
{
    return combiner->combine(combiner->context, first, second);
}

static void *folded(const struct fold *fold, int place)
{
    if (place >= fold->pairs)
        return leaf(fold->combiner, place + fold->pairs);
    void *first = leaf(fold->combiner, 2 * place);
    return combine(fold->combiner, first, leaf(fold->combiner, 2 * place + 1));
}

static void *doubling(const struct fold *fold, int from, int width)
{
    if (width == 1)
        return folded(fold, from);
    void *first = doubling(fold, from, width / 2);
    return combine(fold->combiner, first, doubling(fold, from + width / 2, width / 2));
}

void *reduce_doubling(const struct combiner *combiner, int ranks)
{
    struct fold fold = fold_of(combiner, ranks);
    return doubling(&fold, 0, fold.width);
}

static void *halving(const struct fold *fold, int from, int stride)
{
    if (stride == fold->width)
        return folded(fold, from);
    void *first = halving(fold, from, stride * 2);
    return combine(fold->combiner, first, halving(fold, from + stride, stride * 2));
}

void *reduce_halving(const struct combiner *combiner, int ranks)
{
    struct fold fold = fold_of(combiner, ranks);
    return halving(&fold, 0, 1);
}

/* The partial result of the ranks from `from` on, `width` of them or fewer at the end. */
static void *binomial(const struct combiner *combiner, int ranks, int first, int from, int width)
{
    if (width == 1)
        return leaf(combiner, (from + first) % ranks);
    void *lower = binomial(combiner, ranks, first, from, width / 2);
    if (from + width / 2 >= ranks)
        return lower;
    return combine(combiner, lower, binomial(combiner, ranks, first, from + width / 2, width / 2));
}

void *reduce_binomial(const struct combiner *combiner, int ranks, int first)
{
    int width = 1;
    while (width < ranks)
        width *= 2;
    return binomial(combiner, ranks, first, 0, width);
}

/* Each block below, from the nearest on, is put before what there is already. */
static void *before(const struct combiner *combiner, int rank, void *value)
{
    for (int width = 1; width <= rank; width *= 2) {
        int block = rank / width;
        if (block % 2 == 0)
            continue;
        struct fold fold = {combiner, width, 0};
        void *below = doubling(&fold, (block - 1) * width, width);
        value = value != NULL ? combine(combiner, below, value) : below;
    }
    return value;
}

void *reduce_scan(const struct combiner *combiner, int rank)
{
    return before(combiner, rank, leaf(combiner, rank));
}

void *reduce_exscan(const struct combiner *combiner, int rank)
{
    return before(combiner, rank, NULL);
}
