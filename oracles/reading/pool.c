/* See pool.h. */
#include "oracles/reading/pool.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

#define BLOCK_THINGS 64
#define BLOCK_HEADER_BYTES 16 /* the link, and what alignment asks for */

static void add_block(struct pool *pool)
{
    char *block = memory_resized(NULL, 1, BLOCK_HEADER_BYTES + BLOCK_THINGS * pool->bytes);
    memcpy(block, &pool->blocks, sizeof pool->blocks);
    pool->blocks = block;
    for (size_t i = BLOCK_THINGS; i-- > 0;)
        pool_give(pool, block + BLOCK_HEADER_BYTES + i * pool->bytes);
}

void *pool_take(struct pool *pool)
{
    if (pool->free == NULL)
        add_block(pool);
    void *thing = pool->free;
    memcpy(&pool->free, thing, sizeof pool->free);
    return memset(thing, 0, pool->bytes);
}

void pool_give(struct pool *pool, void *thing)
{
    if (thing == NULL)
        return;
    memcpy(thing, &pool->free, sizeof pool->free);
    pool->free = thing;
}

void pool_release(struct pool *pool)
{
    while (pool->blocks != NULL) {
        void *block = pool->blocks;
        memcpy(&pool->blocks, block, sizeof pool->blocks);
        free(block);
    }
    pool->free = NULL;
}
