/* The two hashes, compiled once per vector width: define HASH_BYTES and HASH_SAMPLE as the names to
 * give them, then include. Only hash*.c may include it. */
#define XXH_INLINE_ALL
#define XXH_STATIC_LINKING_ONLY
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#include <xxhash.h>
#pragma GCC diagnostic pop

uint64_t HASH_BYTES(const void *data, size_t bytes)
{
    return XXH3_64bits(data, bytes);
}

/* Where block `i` of a sample of `bytes` bytes begins. */
static size_t block_start(size_t bytes, unsigned i)
{
    return (bytes - HASH_SAMPLE_BLOCK_BYTES) / (HASH_SAMPLE_BLOCKS - 1) * i;
}

uint64_t HASH_SAMPLE(const void *data, size_t bytes)
{
    if (bytes <= HASH_SAMPLE_ABOVE_BYTES)
        return HASH_BYTES(data, bytes);
    const char *from = data;
    uint64_t parts[HASH_SAMPLE_BLOCKS + 1];
    for (unsigned i = 0; i + 1 < HASH_SAMPLE_BLOCKS; i++)
        parts[i] = XXH3_64bits(from + block_start(bytes, i), HASH_SAMPLE_BLOCK_BYTES);
    parts[HASH_SAMPLE_BLOCKS - 1] =
        XXH3_64bits(from + bytes - HASH_SAMPLE_BLOCK_BYTES, HASH_SAMPLE_BLOCK_BYTES);
    parts[HASH_SAMPLE_BLOCKS] = bytes;
    return XXH3_64bits(parts, sizeof parts);
}
