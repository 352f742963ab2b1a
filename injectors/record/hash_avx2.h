/* The hashes of hash.h once more, compiled for vectors that not every x86-64 processor has. For
 * hash.c and its test. On other processors, whose vectors are the same everywhere, hash_has_avx2 is
 * false. */
#ifndef INJECTORS_HASH_AVX2_H
#define INJECTORS_HASH_AVX2_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__x86_64__)
#define HASH_FOR_AVX2 _Pragma("GCC target(\"avx2\")")
/* The processor has AVX2. */
static inline bool hash_has_avx2(void)
{
    return __builtin_cpu_supports("avx2");
}
#else
#define HASH_FOR_AVX2
static inline bool hash_has_avx2(void)
{
    return false;
}
#endif

/* As hash_bytes and hash_sample. Only where hash_has_avx2. */
uint64_t hash_bytes_avx2(const void *data, size_t bytes);
uint64_t hash_sample_avx2(const void *data, size_t bytes);

#endif
