/* Steps taken out of a plan, so that what is left is armed as before as far as can be. Must not
 * know: why, or what a run of the plan shows. */
#ifndef SHRINK_STEPS_H
#define SHRINK_STEPS_H

#include "plan/plan.h"

/* Takes out every step i with drop[i], and every release of a hold or stop that is taken out. A
 * step that came `after` one that is gone comes after the one which that came after. drop[] has
 * plan->count entries. */
void plan_drop(struct plan *plan, const bool *drop);

/* Adds to drop[] what plan_drop takes out besides. */
void plan_drop_also(const struct plan *plan, bool *drop);

/* Step `index` takes part of its neighbour's work, and a step is gone:
 * - a release: its condition (or, without one, that of the await which it comes after) becomes the
 *   `release` of the hold or stop that it lets go;
 * - an await: its condition becomes that of the kill or stop without a condition after it.
 * false: it cannot be done, and the plan is as it was. */
bool plan_merge(struct plan *plan, size_t index);

#endif
