/* Numbers drawn by counter: the n-th draw for a purpose is a hash of seed, index, purpose and n, so
 * one draw more in one place moves none elsewhere. Must not know: what is drawn. */
#ifndef STRATEGY_DRAW_H
#define STRATEGY_DRAW_H

#include <stdbool.h>
#include <stdint.h>

struct draw {
    uint64_t key;    /* of seed, index and purpose */
    uint64_t number; /* drawn so far */
};

/* The draws of one purpose, from the first. `purpose` is a number of the caller's own. */
struct draw draw_for(uint64_t seed, uint64_t index, uint32_t purpose);

/* Evenly of all 64-bit numbers. */
uint64_t draw_number(struct draw *draw);

/* Evenly from 0 to count - 1; 0 when count is 0. */
uint64_t draw_below(struct draw *draw, uint64_t count);

/* Evenly from least to most, both included; least <= most. */
uint64_t draw_between(struct draw *draw, uint64_t least, uint64_t most);

/* true in so many of 100. */
bool draw_chance(struct draw *draw, unsigned percent);

/* An index of `weight`, as often as its weight says; their sum must not be 0. */
unsigned draw_weighted(struct draw *draw, const unsigned *weight, unsigned count);

#endif
