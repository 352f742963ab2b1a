/* A message that stays with its sender; steer_hold.c keeps it. */
#include "injectors/rules/rules_parts.h"

static bool is_the_same(const struct plan_step *step, const struct record *app,
                        const struct record *wire)
{
    unsigned kind = atomic_load_explicit(&wire->kind, memory_order_relaxed);
    (void)step;
    return kind == RECORD_SEND && wire->peer == app->peer &&
           (rules_knows_carriers()
                ? rules_is_carrier(wire)
                : wire->tag == app->tag && rules_may_stand_for(wire->comm, app->comm));
}

const struct injection inject_hold = {.is_the_same = is_the_same};
