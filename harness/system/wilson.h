/* How sure a rate is that was counted. */
#ifndef SYSTEM_WILSON_H
#define SYSTEM_WILSON_H

#include <stddef.h>

struct wilson {
    double low, high; /* 0..1 */
};

/* The 95 % interval of the rate behind `yes` of `tries` (Wilson 1927, with z = 1.96). 0 tries show
 * nothing: 0..1. */
struct wilson wilson_interval(size_t yes, size_t tries);

#endif
