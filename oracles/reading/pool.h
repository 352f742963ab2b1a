/* Things of one size, taken and given back by the million, released all at once. */
#ifndef ORACLES_READING_POOL_H
#define ORACLES_READING_POOL_H

#include <stddef.h>

/* Set bytes (at least a pointer's) and leave the rest zero. */
struct pool {
    size_t bytes;
    void *free;   /* linked through their first word */
    void *blocks; /* the same */
};

/* Zeroed; of the pool until it is given back. */
void *pool_take(struct pool *pool);
/* NULL is allowed. */
void pool_give(struct pool *pool, void *thing);
void pool_release(struct pool *pool);

#endif
