/* hash.h for processors with AVX2: everything in this file may use it, so it is called only by
 * hash.c, after it has asked. */
#include "injectors/record/hash.h"

#if defined(__x86_64__)
#pragma GCC target("avx2")
#define HASH_BYTES hash_bytes_avx2
#define HASH_SAMPLE hash_sample_avx2
#include "injectors/record/hash_blocks.h"
#endif
