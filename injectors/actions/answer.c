/* What answer a call that asks gets; steer_answer.c gives it. */
#include "injectors/rules/rules_parts.h"

static bool is_the_same(const struct plan_step *step, const struct record *app,
                        const struct record *wire)
{
    unsigned kind = atomic_load_explicit(&wire->kind, memory_order_relaxed);
    (void)app;
    return step->when.event == EVENT_PROBE ? kind == RECORD_PROBE : rules_is_wait(wire->call);
}

static bool was_given(const struct plan_step *step, const struct record *evidence,
                      const struct record *r)
{
    (void)evidence;
    return step->orders > 0 || ((r->flags & FLAG_NEGATIVE) != 0) == (step->choice == 0);
}

const struct injection inject_answer = {.is_the_same = is_the_same, .was_given = was_given};
