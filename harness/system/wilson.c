/* See wilson.h. */
#include "system/wilson.h"

#include <math.h>

#define Z 1.96 /* of the normal distribution, for 95 % */

struct wilson wilson_interval(size_t yes, size_t tries)
{
    if (tries == 0)
        return (struct wilson){0, 1};
    double n = (double)tries, rate = (double)yes / n;
    double middle = (rate + Z * Z / (2 * n)) / (1 + Z * Z / n);
    double half = Z * sqrt(rate * (1 - rate) / n + Z * Z / (4 * n * n)) / (1 + Z * Z / n);
    /* At the ends it is exact, but for rounding. */
    return (struct wilson){yes == 0 ? 0 : middle - half, yes == tries ? 1 : middle + half};
}
