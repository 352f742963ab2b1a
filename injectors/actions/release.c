/* What another step keeps goes on. */
#include "injectors/rules/rules_parts.h"

static void begin(uint32_t step, const struct record *r)
{
    (void)r;
    progress_let_go(rules.board, (unsigned)rules.plan->steps[step].target, RELEASED_BY_STEP);
}

const struct injection inject_release = {.begin = begin};
