/* See stops.h. */
#include "engine/zygote/stops.h"

#include "board/progress.h"
#include "engine/core/core.h"
#include "engine/time/virtual.h"
#include "plan/plan.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

static struct board *board;
static struct plan plan;

/* A stopped rank may run again when all steps that stopped it have been released; that is judged
 * in virtual time. */
static bool is_stopped(int process)
{
    if (process >= board->slots || !board_is_stopped(&board->slot[process]))
        return false;
    struct board_slot *slot = &board->slot[process];
    virtual_time_set(true);
    for (unsigned step = 0; (step = board_stopped_by(slot, step)) < plan.count; step++)
        if (progress_released(board, &plan, step) != RELEASED_NOT)
            board_stop_is_over(slot, step);
    virtual_time_set(engine_self != ENGINE_NOBODY);
    return board_is_stopped(slot);
}

/* --- deaths that the plan has told when ------------------------------------------------------- */

static bool is_told_of(const struct plan_step *step, int process, int dead)
{
    for (uint32_t i = 0; step->action == ACTION_DETECT && step->choice == dead && i < step->victims;
         i++)
        if (step->victim[i] == process)
            return true;
    return false;
}

static bool is_due(unsigned step)
{
    return board_step_done(board, step) || atomic_load(&board->progress[step].released) != 0 ||
           atomic_load(&board->quiet) != 0;
}

static enum engine_telling telling(int process, int dead)
{
    enum engine_telling found = TELLING_IS_DECIDED;
    for (unsigned step = 0; step < plan.count; step++) {
        if (!is_told_of(&plan.steps[step], process, dead))
            continue;
        if (is_due(step))
            return TELLING_IS_DUE;
        found = TELLING_IS_WITHHELD;
    }
    return found;
}

static bool is_withheld(unsigned step)
{
    const struct plan_step *s = &plan.steps[step];
    return s->action == ACTION_DETECT && s->choice < engine->processes &&
           engine_is_dead(s->choice) && !is_due(step);
}

bool stops_withhold(void)
{
    for (unsigned step = 0; step < plan.count; step++)
        if (is_withheld(step))
            return true;
    return false;
}

void stops_tell(void)
{
    for (unsigned step = 0; step < plan.count; step++)
        if (is_withheld(step))
            progress_let_go(board, step, RELEASED_BY_UNSTICK);
}

static bool has_action(enum plan_action action)
{
    for (unsigned step = 0; step < plan.count; step++)
        if (plan.steps[step].action == action)
            return true;
    return false;
}

/* --- the door --------------------------------------------------------------------------------- */

void stops_open(struct board *of_run, const char *folder)
{
    char path[PATH_MAX];
    struct error error;
    board = of_run;
    plan_init(&plan);
    if (snprintf(path, sizeof path, "%s/plan", folder) < (int)sizeof path &&
        access(path, F_OK) == 0 && plan_read(path, &plan, &error) == OK)
        engine_is_stopped = is_stopped;
    if (has_action(ACTION_DETECT))
        engine_telling = telling;
}
