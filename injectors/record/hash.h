/* XXH3-64 of bytes in memory, with the widest vectors that this processor has. Must not know: MPI.
 */
#ifndef INJECTORS_RECORD_HASH_H
#define INJECTORS_RECORD_HASH_H

#include <stddef.h>
#include <stdint.h>

/* FAULTLINE_HASH=sample: a payload above HASH_SAMPLE_ABOVE_BYTES is hashed as HASH_SAMPLE_BLOCKS
 * blocks of HASH_SAMPLE_BLOCK_BYTES, the first at its start, the last at its end, the others evenly
 * between, and its length. A change elsewhere is not seen; FAULTLINE_HASH=full sees every byte. */
#define HASH_SAMPLE_ABOVE_BYTES (1u << 20)
#define HASH_SAMPLE_BLOCK_BYTES (16u << 10)
#define HASH_SAMPLE_BLOCKS 16u

/* Every byte. data may be NULL when bytes is 0. */
uint64_t hash_bytes(const void *data, size_t bytes);

/* The same for at most HASH_SMALL_BYTES. */
#define HASH_SMALL_BYTES 16u
uint64_t hash_small(const void *data, size_t bytes);

/* As hash_bytes, but for the sample where there are more than HASH_SAMPLE_ABOVE_BYTES. */
uint64_t hash_sample(const void *data, size_t bytes);

#endif
