/* See hash_avx2.h. Everything in this file may use the wide vectors. */
#include "injectors/record/hash_avx2.h"

#include "injectors/record/hash.h"

HASH_FOR_AVX2
#define HASH_BYTES hash_bytes_avx2
#define HASH_SAMPLE hash_sample_avx2
#include "injectors/record/hash_blocks.h"
