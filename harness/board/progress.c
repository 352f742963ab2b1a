/* See progress.h. */
#include "board/progress.h"

#include "plan/action.h"
#include "trace/calls.h"
#include "trace/clock.h"

#define NS_PER_MS UINT64_C(1000000)

bool progress_armed(const struct board *board, const struct plan *plan, unsigned step)
{
    int32_t after = plan_after(plan, step);
    return atomic_load(&board->quiet) == 0 && !board_step_done(board, step) &&
           (after < 0 || board_step_done(board, (unsigned)after));
}

void progress_finish(struct board *board, unsigned step, int rank, int incarnation)
{
    struct board_step *progress = &board->progress[step];
    atomic_store(&progress->rank, rank);
    atomic_store(&progress->incarnation, incarnation);
    if (atomic_load(&progress->taken) == 0)
        atomic_store(&progress->unstick, atomic_load(&board->unstick));
    atomic_store(&progress->done_ns, clock_monotonic_ns());
}

bool progress_claim(struct board *board, unsigned step)
{
    return atomic_exchange(&board->progress[step].claimed, 1) == 0;
}

bool progress_reserve(struct board *board, unsigned step, uint64_t limit)
{
    struct board_step *progress = &board->progress[step];
    uint32_t reserved = atomic_load(&progress->reserved);
    do
        if (reserved >= limit || atomic_load(&progress->released) != 0)
            return false;
    while (!atomic_compare_exchange_weak(&progress->reserved, &reserved, reserved + 1));
    return true;
}

void progress_give_back(struct board *board, unsigned step)
{
    atomic_fetch_sub(&board->progress[step].reserved, 1);
}

void progress_let_go(struct board *board, unsigned step, enum board_release why)
{
    struct board_step *progress = &board->progress[step];
    uint32_t not_yet = RELEASED_NOT;
    atomic_compare_exchange_strong(&progress->released_by, &not_yet, (uint32_t)why);
    atomic_store(&progress->released, 1);
}

/* Nothing but the order decides when the messages go. */
static bool waits_for_order_alone(const struct plan *plan, unsigned step)
{
    const struct plan_step *s = &plan->steps[step];
    if (s->orders == 0 || s->release_ms != 0 || !plan_condition_is_empty(&s->release))
        return false;
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].action == ACTION_RELEASE && plan->steps[i].target == (int32_t)step)
            return false;
    return true;
}

static enum board_release find_reason(const struct board *board, const struct plan *plan,
                                      unsigned step)
{
    const struct plan_step *s = &plan->steps[step];
    const struct board_step *progress = &board->progress[step];
    uint64_t done_ns = atomic_load(&progress->done_ns);
    bool has_some = done_ns != 0 || atomic_load(&progress->taken) > 0;
    if (has_some && atomic_load(&board->quiet) != 0)
        return (enum board_release)atomic_load(&board->quiet);
    if (has_some && atomic_load(&board->unstick) != atomic_load(&progress->unstick))
        return RELEASED_BY_UNSTICK;
    if (done_ns == 0)
        return RELEASED_NOT;
    if (waits_for_order_alone(plan, step))
        return RELEASED_BY_CONDITION;
    if (s->release_ms != 0 && clock_monotonic_ns() - done_ns >= s->release_ms * NS_PER_MS)
        return RELEASED_BY_TIME;
    if (s->release.event == EVENT_NONE && s->release.states > 0 &&
        progress_states_hold(board, &s->release, s->release.rank))
        return RELEASED_BY_CONDITION;
    return RELEASED_NOT;
}

enum board_release progress_released(struct board *board, const struct plan *plan, unsigned step)
{
    struct board_step *progress = &board->progress[step];
    if (atomic_load(&progress->released) == 0) {
        enum board_release why = find_reason(board, plan, step);
        if (why == RELEASED_NOT)
            return RELEASED_NOT;
        progress_let_go(board, step, why);
    }
    return (enum board_release)atomic_load(&progress->released_by);
}

/* --- states ----------------------------------------------------------------------------------- */
static bool is_in_region(const struct board_slot *slot, enum plan_region region, uint64_t line)
{
    bool taken = atomic_load(&slot->line) >= line;
    bool stopped = atomic_load(&slot->stopped_line) >= line;
    switch (region) {
    case REGION_BEFORE:
        return !taken;
    case REGION_LOGGING:
        return taken && !stopped;
    case REGION_BEYOND:
        return taken && stopped;
    default:
        return true;
    }
}

/* The call may return, and another begin, while it is looked at: then it is not blocked. */
static bool is_blocked_in(const struct board_slot *slot, const char *name)
{
    uint64_t inside = atomic_load(&slot->blocking_call);
    if (inside == 0)
        return false;
    uint32_t wire = atomic_load(&slot->wire_call), app = atomic_load(&slot->app_call);
    uint32_t call = (uint32_t)call_from_name(name);
    return call != CALL_NONE && (wire == call || app == call) &&
           atomic_load(&slot->blocking_call) == inside;
}

static bool state_holds(const struct board *board, const struct plan_state *state, int32_t own)
{
    int32_t rank = state->rank == PLAN_ANY ? own : state->rank;
    if (rank < 0 || rank >= board_processes(board))
        return false;
    const struct board_slot *slot = &board->slot[rank];
    return is_in_region(slot, (enum plan_region)state->region, (uint64_t)state->line) &&
           (state->blocked[0] == '\0' || is_blocked_in(slot, state->blocked));
}

bool progress_states_hold(const struct board *board, const struct plan_condition *condition,
                          int32_t own)
{
    for (uint32_t i = 0; i < condition->states && i < PLAN_MAX_STATES; i++)
        if (!state_holds(board, &condition->state[i], own))
            return false;
    return true;
}

void progress_unstick(struct board *board)
{
    atomic_fetch_add(&board->unstick, 1);
}

void progress_quiet(struct board *board, enum board_release why)
{
    uint32_t not_yet = RELEASED_NOT;
    atomic_compare_exchange_strong(&board->quiet, &not_yet, (uint32_t)why);
    progress_unstick(board);
}

/* --- deaths whose notice the plan gives ------------------------------------------------------- */

static bool is_due(const struct board *board, unsigned step)
{
    return board_step_done(board, step) || atomic_load(&board->progress[step].released) != 0 ||
           atomic_load(&board->quiet) != 0;
}

static bool is_detection_of(const struct plan_step *step, int process, int dead)
{
    for (uint32_t i = 0; step->action == ACTION_DETECT && step->choice == dead && i < step->victims;
         i++)
        if (step->victim[i] == process)
            return true;
    return false;
}

enum death_notice progress_death_notice(const struct board *board, const struct plan *plan,
                                        int process, int dead)
{
    enum death_notice found = NOTICE_IS_OPEN;
    for (unsigned step = 0; step < plan->count; step++) {
        if (!is_detection_of(&plan->steps[step], process, dead))
            continue;
        if (is_due(board, step))
            return NOTICE_IS_DUE;
        found = NOTICE_IS_WITHHELD;
    }
    return found;
}

static bool is_withheld(const struct board *board, const struct plan *plan, unsigned step, int dead)
{
    const struct plan_step *s = &plan->steps[step];
    return s->action == ACTION_DETECT && s->choice == dead && !is_due(board, step);
}

bool progress_withholds(const struct board *board, const struct plan *plan, int dead)
{
    for (unsigned step = 0; step < plan->count; step++)
        if (is_withheld(board, plan, step, dead))
            return true;
    return false;
}

void progress_give_notice(struct board *board, const struct plan *plan, int dead,
                          enum board_release why)
{
    for (unsigned step = 0; step < plan->count; step++)
        if (is_withheld(board, plan, step, dead))
            progress_let_go(board, step, why);
}

/* --- the end of the plan -----------------------------------------------------------------------
 */

static bool is_over(const struct board *board, const struct plan_step *step, unsigned index)
{
    if (!board_step_done(board, index))
        return false;
    return action_of(step)->keeps != KEEPS_NOTHING
               ? atomic_load(&board->progress[index].released) != 0
               : !action_of(step)->lasts;
}

bool progress_is_over(const struct board *board, const struct plan *plan)
{
    if (atomic_load(&board->quiet) != 0)
        return true;
    for (unsigned i = 0; i < plan->count; i++)
        if (!is_over(board, &plan->steps[i], i))
            return false;
    return true;
}
