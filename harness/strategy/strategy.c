/* See strategy.h. */
#include "strategy/strategy.h"

#include <string.h>

const struct strategy *const strategies[] = {
    &strategy_random, &strategy_systematic, &strategy_pct,
    &strategy_swarm,  &strategy_skewed,     &strategy_bursts,
    &strategy_guided, &strategy_auto,       NULL};

const struct strategy *strategy_find(const char *name)
{
    for (size_t i = 0; strategies[i] != NULL; i++)
        if (strcmp(strategies[i]->name, name) == 0)
            return strategies[i];
    return NULL;
}
