/* How each reduction is made; see reduce.h. */
#include "base/memory.h"
#include "shrink/fields.h"
#include "shrink/reduce.h"
#include "shrink/steps.h"

#include "script/list.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void drop_step(struct plan *plan, uint32_t index)
{
    bool drop[PLAN_MAX_STEPS] = {false};
    drop[index] = true;
    plan_drop(plan, drop);
}

/* Whose own event it was goes with the rank. */
static void drop_victim(struct plan_step *step, uint32_t part)
{
    step->victims--;
    memmove(&step->victim[part], &step->victim[part + 1],
            (step->victims - part) * sizeof step->victim[0]);
    step->victim[step->victims] = 0;
}

static void drop_state(struct plan_condition *when, uint32_t part)
{
    when->states--;
    memmove(&when->state[part], &when->state[part + 1],
            (when->states - part) * sizeof when->state[0]);
    memset(&when->state[when->states], 0, sizeof when->state[0]);
}

static void drop_state_word(struct plan_state *state, bool blocked)
{
    if (blocked) {
        memset(state->blocked, 0, sizeof state->blocked);
    } else {
        state->region = REGION_ANY;
        state->line = 0;
    }
}

static void drop_condition(struct plan_step *step, bool release)
{
    struct plan_step plain = plan_step_default(step->action);
    if (release)
        step->release = plain.release;
    else
        step->when = plain.when;
}

/* A message of the protocol's own is what `level` and `epoch` are said of: they go with it. */
static void drop_field(struct plan_condition *when, const struct plan_field *field)
{
    struct plan_condition plain = plan_step_default(ACTION_AWAIT).when;
    plan_field_make_plain(field, when, &plain);
    if (strcmp(field->name, "message") == 0) {
        when->level = plain.level;
        when->epoch = plain.epoch;
    }
}

static void drop_step_field(struct plan_step *step, const struct plan_field *field)
{
    struct plan_step plain = plan_step_default(step->action);
    plan_field_make_plain(field, step, &plain);
    drop_wrong_order(step);
}

static void drop_environment(struct scenario *scenario, uint32_t part)
{
    free(scenario->environment[part]);
    scenario->environment_count--;
    memmove(&scenario->environment[part], &scenario->environment[part + 1],
            (scenario->environment_count - part) * sizeof scenario->environment[0]);
}

static void set_argument(struct scenario *scenario, uint32_t part, int64_t number)
{
    free(scenario->argument[part]);
    scenario->argument[part] = memory_format("%" PRId64, number);
}

static void reduce_step(struct plan_step *step, const struct reduction *reduction)
{
    struct plan_condition *when = reduction->release ? &step->release : &step->when;
    switch (reduction->kind) {
    case REDUCE_VICTIM:
        drop_victim(step, reduction->part);
        break;
    case REDUCE_CONDITION:
        drop_condition(step, reduction->release);
        break;
    case REDUCE_STATE:
        drop_state(when, reduction->part);
        break;
    case REDUCE_STATE_WORD:
        drop_state_word(&when->state[reduction->part], reduction->to != 0);
        break;
    case REDUCE_FIELD:
        drop_field(when, &plan_condition_fields.field[reduction->part]);
        break;
    case REDUCE_STEP_FIELD:
        drop_step_field(step, &plan_step_fields.field[reduction->part]);
        break;
    case REDUCE_NUMBER:
        plan_field_set_number(&plan_condition_fields.field[reduction->part], when, reduction->to);
        break;
    case REDUCE_LINE:
        when->state[reduction->part].line = reduction->to;
        break;
    case REDUCE_STEP_NUMBER:
        plan_field_set_number(&plan_step_fields.field[reduction->part], step, reduction->to);
        drop_wrong_order(step);
        break;
    default:
        break;
    }
}

bool reduction_apply(const struct scenario *scenario, const struct reduction *reduction,
                     struct scenario *result)
{
    scenario_copy(scenario, result);
    switch (reduction->kind) {
    case REDUCE_STEP:
        drop_step(&result->plan, reduction->step);
        break;
    case REDUCE_MERGE:
        return plan_merge(&result->plan, reduction->step);
    case REDUCE_ENVIRONMENT:
        drop_environment(result, reduction->part);
        break;
    case REDUCE_INCARNATIONS:
        result->max_incarnations = 0;
        break;
    case REDUCE_RANKS:
        result->ranks = (int)reduction->to;
        break;
    case REDUCE_ARGUMENT:
        set_argument(result, reduction->part, reduction->to);
        break;
    default:
        reduce_step(&result->plan.steps[reduction->step], reduction);
    }
    return true;
}
