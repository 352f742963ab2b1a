/* Happens-before among the transitions of one run, and its races. Must not know: other runs. */
#ifndef EXPLORE_RACES_H
#define EXPLORE_RACES_H

#include "engine/core/transition.h"

#include <stddef.h>
#include <stdint.h>

/* A transition of a run. */
struct step {
    uint64_t actor;
    size_t touches;
    const struct entry *touch; /* borrowed */
};

struct races;

/* Of steps[0..count), which are borrowed. Owned by the caller. */
struct races *races_find(const struct step *steps, size_t count);
void races_release(struct races *races);

/* Transition a comes before b in every run that differs from this one in nothing but the order of
 * transitions that commute. a < b. */
bool races_before(const struct races *races, size_t a, size_t b);

/* The transitions that `later` could be exchanged with: *list is borrowed. */
size_t races_with(const struct races *races, size_t later, const size_t **list);

#endif
