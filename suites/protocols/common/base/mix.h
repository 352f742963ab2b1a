/* Numbers to one that depends on each bit of them: the mixing of splitmix64 (Steele, Lea, Flood,
 * OOPSLA 2014). The same in every process and every build. */
#ifndef COMMON_BASE_MIX_H
#define COMMON_BASE_MIX_H

#include <stdint.h>

/* With 0, 1, 2 ... for b: numbers drawn from the seed a. */
static inline uint64_t mix_two(uint64_t a, uint64_t b)
{
    uint64_t x = a + UINT64_C(0x9e3779b97f4a7c15) * (b + 1);
    x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
    return x ^ (x >> 31);
}

#endif
