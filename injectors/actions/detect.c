/* Every victim is informed of a death. Whoever informs them looks on the board whether the step is
 * done. The step engine is called, so that a victim that waits looks again. */
#include "injectors/record/schedule.h"
#include "injectors/rules/rules_parts.h"

static void begin(uint32_t step, const struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    (void)r;
    for (uint32_t i = 0; i < s->victims; i++)
        rules_fault(FAULT_DETECTED, step, s->victim[i], (uint64_t)s->choice, 0, 0);
}

static bool report_death(uint32_t step, struct record *r)
{
    const struct plan_step *s = &rules.plan->steps[step];
    (void)r;
    for (uint32_t i = 0; schedule != NULL && i < s->victims; i++)
        schedule->report_death(s->victim[i]);
    return false;
}

const struct injection inject_detect = {.begin = begin, .strike = report_death};
