/* See draw.h. */
#include "strategy/draw.h"

#include "base/mix.h"

struct draw draw_for(uint64_t seed, uint64_t index, uint32_t purpose)
{
    return (struct draw){.key = mix(mix(mix(seed) ^ index) ^ purpose)};
}

uint64_t draw_number(struct draw *draw)
{
    return mix(draw->key ^ mix(draw->number++));
}

/* 2^64 is no multiple of `count`: what that favours is below one in 2^32 for all counts here. */
uint64_t draw_below(struct draw *draw, uint64_t count)
{
    uint64_t number = draw_number(draw);
    return count == 0 ? 0 : number % count;
}

uint64_t draw_between(struct draw *draw, uint64_t least, uint64_t most)
{
    return least + draw_below(draw, most - least + 1);
}

bool draw_chance(struct draw *draw, unsigned percent)
{
    return draw_below(draw, 100) < percent;
}

unsigned draw_weighted(struct draw *draw, const unsigned *weight, unsigned count)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++)
        sum += weight[i];
    uint64_t left = draw_below(draw, sum);
    for (unsigned i = 0; i + 1 < count; i++) {
        if (left < weight[i])
            return i;
        left -= weight[i];
    }
    return count - 1;
}
