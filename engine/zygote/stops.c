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

/* --- deaths whose notice the plan gives ------------------------------------------------------- */

static enum death_notice death_notice(int process, int dead)
{
    return progress_death_notice(board, &plan, process, dead);
}

bool stops_withhold(void)
{
    for (uint64_t i = 0; i < engine->deaths; i++)
        if (progress_withholds(board, &plan, engine->dead[i]))
            return true;
    return false;
}

void stops_give_notice(void)
{
    for (uint64_t i = 0; i < engine->deaths; i++)
        progress_give_notice(board, &plan, engine->dead[i], RELEASED_BY_UNSTICK);
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
        engine_death_notice = death_notice;
}
