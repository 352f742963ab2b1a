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

/* What stopped it is asked whether it may go on, in the ranks' own time. */
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

void stops_open(struct board *of_run, const char *folder)
{
    char path[PATH_MAX];
    struct error error;
    board = of_run;
    plan_init(&plan);
    if (snprintf(path, sizeof path, "%s/plan", folder) < (int)sizeof path &&
        access(path, F_OK) == 0 && plan_read(path, &plan, &error) == OK)
        engine_is_stopped = is_stopped;
}
