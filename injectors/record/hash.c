/* See hash.h. */
#include "injectors/record/hash.h"

#include "injectors/record/hash_avx2.h"

#define HASH_BYTES hash_bytes_plain
#define HASH_SAMPLE hash_sample_plain
static uint64_t hash_bytes_plain(const void *data, size_t bytes);
static uint64_t hash_sample_plain(const void *data, size_t bytes);
#include "injectors/record/hash_blocks.h"

/* Vectors are used above this length only: below, the inlined plain code is the shorter way. */
#define PLAIN_BYTES 240u

uint64_t hash_small(const void *data, size_t bytes)
{
    if (bytes > HASH_SMALL_BYTES)
        __builtin_unreachable(); /* leaves only the code for short data */
    return XXH3_64bits(data, bytes);
}

uint64_t hash_bytes(const void *data, size_t bytes)
{
    if (bytes > PLAIN_BYTES && hash_has_avx2())
        return hash_bytes_avx2(data, bytes);
    return hash_bytes_plain(data, bytes);
}

uint64_t hash_sample(const void *data, size_t bytes)
{
    if (bytes > PLAIN_BYTES && hash_has_avx2())
        return hash_sample_avx2(data, bytes);
    return hash_sample_plain(data, bytes);
}
