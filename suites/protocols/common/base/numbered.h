/* Handles that a layer gives the program: numbers of its own, which mean the same after a restart.
 * Each kind has a place where no MPI library has handles: MPICH's have a kind in their two highest
 * bits, and 0 there is none; Open MPI's are addresses of objects, and no object has an odd one. */
#ifndef COMMON_BASE_NUMBERED_H
#define COMMON_BASE_NUMBERED_H

#include <stdint.h>

/* Any handle, as a number that is its own. */
#define HANDLE_BITS(handle) ((uint64_t)(uintptr_t)(handle))

/* Where handles of a kind begin, and how many there may be. */
#define NUMBERED_COMMUNICATORS 0x04100000u
#define NUMBERED_COMMUNICATORS_MAX 0x00700000
#define NUMBERED_CARRIED 0x05000000u /* communicators, of the layer that carries all messages */
#define NUMBERED_CARRIED_MAX 0x00680000
#define NUMBERED_REQUESTS 0x2c000000u /* and messages of matched probes */
#define NUMBERED_REQUESTS_MAX 0x00ffffff

#define NUMBERED(type, begin, number) ((type)(uintptr_t)((begin) + 2 * (uintptr_t)(number) + 1))

/* The number of a handle from HANDLE_BITS; UINT64_MAX: it is none of the kind. */
static inline uint64_t numbered(uint64_t handle, uint64_t begin, uint64_t most)
{
    uint64_t number = (handle - begin) / 2;
    return handle > begin && handle % 2 == 1 && number <= most ? number : UINT64_MAX;
}

#endif
