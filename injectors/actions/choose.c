/* Whose message a receive or probe of any source or tag takes; steer_choose.c takes it. */
#include "injectors/rules/rules_parts.h"

static bool is_the_same(const struct plan_step *step, const struct record *app,
                        const struct record *wire)
{
    unsigned kind = atomic_load_explicit(&wire->kind, memory_order_relaxed);
    (void)step;
    return (kind == RECORD_RECV || kind == RECORD_PROBE) &&
           rules_may_stand_for(wire->comm, app->comm) && wire->want_tag == app->want_tag &&
           (wire->want_peer == PEER_ANY || wire->want_tag == TAG_ANY);
}

static bool was_given(const struct plan_step *step, const struct record *evidence,
                      const struct record *r)
{
    (void)step;
    return (r->flags & FLAG_NEGATIVE) != 0 || r->request != 0 || r->peer == evidence->peer;
}

const struct injection inject_choose = {.is_the_same = is_the_same, .was_given = was_given};
