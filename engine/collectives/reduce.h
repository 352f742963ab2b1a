/* In which order the contributions to a reduction are combined. The shapes are those of the MPI
 * library's algorithms for processes of one machine, so that sums of floating-point numbers come
 * out the same. Must not know: MPI, where the contributions are. */
#ifndef ENGINE_COLLECTIVES_REDUCE_H
#define ENGINE_COLLECTIVES_REDUCE_H

#include <stdbool.h>
#include <stddef.h>

/* How values are made and combined. A value belongs to whoever has it until it is given on. */
struct combiner {
    void *context;
    void *(*leaf)(void *context, int rank);                     /* the contribution of a rank */
    void *(*combine)(void *context, void *first, void *second); /* first OP second; takes both */
};

/* Neighbours first, then pairs of pairs, ...: the first ranks are paired off beforehand if `ranks`
 * is no power of two (recursive doubling). ranks > 0, here and below. */
void *reduce_doubling(const struct combiner *combiner, int ranks);
/* Neighbours first, beginning with rank `first` and going round (a binomial tree). */
void *reduce_binomial(const struct combiner *combiner, int ranks, int first);
/* Those half of all ranks apart first (recursive halving), paired off as in doubling. */
void *reduce_halving(const struct combiner *combiner, int ranks);
/* Of ranks 0..rank, in the order of the library's scan. */
void *reduce_scan(const struct combiner *combiner, int rank);
/* Of ranks 0..rank-1; rank > 0. */
void *reduce_exscan(const struct combiner *combiner, int rank);

#endif
