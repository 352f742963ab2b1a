/* See steps.h. */
#include "shrink/steps.h"

#include "plan/action.h"

/* Where the steps of a plan go: the number each will have, and which step arms it. */
struct moves {
    bool gone[PLAN_MAX_STEPS];
    int32_t after[PLAN_MAX_STEPS]; /* by old numbers; PLAN_AFTER_START */
    int32_t number[PLAN_MAX_STEPS];
};

static void note_moves(const struct plan *plan, const bool *drop, struct moves *moves)
{
    int32_t next = 0;
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        moves->gone[i] =
            drop[i] || (step->action == ACTION_RELEASE && moves->gone[(size_t)step->target]);
        moves->after[i] = plan_after(plan, i);
        while (moves->after[i] >= 0 && moves->gone[moves->after[i]])
            moves->after[i] = moves->after[moves->after[i]];
        moves->number[i] = moves->gone[i] ? -1 : next++;
    }
}

/* As short as it can be said. */
static int32_t shortest_after(int32_t after, int32_t number)
{
    return after == number - 1 ? PLAN_AFTER_PREVIOUS : after;
}

void plan_drop_also(const struct plan *plan, bool *drop)
{
    for (size_t i = 0; i < plan->count; i++)
        drop[i] |= plan->steps[i].action == ACTION_RELEASE && drop[plan->steps[i].target];
}

void plan_drop(struct plan *plan, const bool *drop)
{
    struct moves moves;
    size_t kept = 0;
    note_moves(plan, drop, &moves);
    for (size_t i = 0; i < plan->count; i++) {
        if (moves.gone[i])
            continue;
        struct plan_step *step = &plan->steps[kept++];
        *step = plan->steps[i];
        int32_t after = moves.after[i] < 0 ? PLAN_AFTER_START : moves.number[moves.after[i]];
        step->after = shortest_after(after, moves.number[i]);
        if (step->action == ACTION_RELEASE)
            step->target = moves.number[step->target];
    }
    plan->count = kept;
}

static void drop_one(struct plan *plan, size_t index)
{
    bool drop[PLAN_MAX_STEPS] = {false};
    drop[index] = true;
    plan_drop(plan, drop);
}

static bool merge_release(struct plan *plan, size_t index)
{
    const struct plan_step *step = &plan->steps[index];
    struct plan_step *held = &plan->steps[step->target];
    const struct plan_condition *when = &step->when;
    int32_t after = plan_after(plan, index);
    if (plan_condition_is_empty(when) && after >= 0 && plan->steps[after].action == ACTION_AWAIT)
        when = &plan->steps[after].when;
    if (plan_condition_is_empty(when) || !plan_condition_is_empty(&held->release))
        return false;
    held->release = *when;
    drop_one(plan, index);
    return true;
}

static bool merge_await(struct plan *plan, size_t index)
{
    struct plan_step *next = &plan->steps[index + 1];
    if (index + 1 >= plan->count || action_field(next->action, "victims") == NULL ||
        !plan_condition_is_empty(&next->when) || plan_after(plan, index + 1) != (int32_t)index)
        return false;
    next->when = plan->steps[index].when;
    drop_one(plan, index);
    return true;
}

bool plan_merge(struct plan *plan, size_t index)
{
    switch (plan->steps[index].action) {
    case ACTION_RELEASE:
        return merge_release(plan, index);
    case ACTION_AWAIT:
        return merge_await(plan, index);
    default:
        return false;
    }
}
