/* See reduce.h: the list. How a reduction is made: apply.c. */
#include "shrink/reduce.h"

#include "base/memory.h"
#include "plan/action.h"
#include "shrink/fields.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WHERE_BYTES 48

/* What is being listed. */
struct listing {
    const struct scenario *scenario;
    struct reductions *list;
};

static void add(struct listing *listing, struct reduction reduction)
{
    struct reductions *list = listing->list;
    list->list = memory_room(list->list, list->count, &list->room, sizeof *list->list);
    list->list[list->count++] = reduction;
}

__attribute__((format(printf, 3, 4))) static void
add_named(struct listing *listing, struct reduction reduction, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reduction.text, sizeof reduction.text, format, arguments);
    va_end(arguments);
    add(listing, reduction);
}

/* The lowest first; then by ever smaller differences. `what` is the number's name. */
static void add_lowered(struct listing *listing, struct reduction reduction, int64_t value,
                        int64_t least, const char *what)
{
    for (int64_t less = value - least; value > least && less > 0; less /= 2) {
        reduction.to = value - less;
        add_named(listing, reduction, "%s: %" PRId64 " to %" PRId64, what, value, reduction.to);
    }
}

/* "step 2" or "the release of step 2". */
static void write_where(uint32_t step, bool release, char where[WHERE_BYTES])
{
    snprintf(where, WHERE_BYTES, "%sstep %" PRIu32, release ? "the release of " : "", step + 1);
}

static const struct plan_condition *condition_of(const struct plan_step *step, bool release)
{
    return release ? &step->release : &step->when;
}

/* --- what can be left out --------------------------------------------------------------------- */

static void add_steps(struct listing *listing)
{
    const struct plan *plan = &listing->scenario->plan;
    for (uint32_t i = 0; i < plan->count; i++)
        add_named(listing, (struct reduction){.kind = REDUCE_STEP, .step = i},
                  "step %" PRIu32 ", %s", i + 1, plan_action_text(plan->steps[i].action));
    for (uint32_t i = 0; i < plan->count; i++)
        if (plan->steps[i].action == ACTION_RELEASE || plan->steps[i].action == ACTION_AWAIT)
            add_named(listing, (struct reduction){.kind = REDUCE_MERGE, .step = i},
                      "step %" PRIu32 ", %s, as a step of its own", i + 1,
                      plan_action_text(plan->steps[i].action));
}

static void add_victims(struct listing *listing, uint32_t index)
{
    const struct plan_step *step = &listing->scenario->plan.steps[index];
    for (uint32_t k = 0; step->victims > 1 && k < step->victims; k++)
        add_named(listing, (struct reduction){.kind = REDUCE_VICTIM, .step = index, .part = k},
                  "rank %" PRId32 " of step %" PRIu32, step->victim[k], index + 1);
}

/* Only where the step is still one without it. */
static bool can_be_bare(const struct plan_step *step, bool release)
{
    return release || action_of(step)->when == CONDITION_OPTIONAL;
}

static void add_states(struct listing *listing, uint32_t index, bool release)
{
    const struct plan_condition *when =
        condition_of(&listing->scenario->plan.steps[index], release);
    char where[WHERE_BYTES];
    write_where(index, release, where);
    for (uint32_t k = 0; k < when->states; k++) {
        struct reduction reduction = {
            .kind = REDUCE_STATE, .step = index, .part = k, .release = release};
        add_named(listing, reduction, "state %" PRIu32 " of %s", k + 1, where);
        if (when->state[k].region == REGION_ANY || when->state[k].blocked[0] == '\0')
            continue;
        reduction.kind = REDUCE_STATE_WORD;
        add_named(listing, reduction, "region of state %" PRIu32 " of %s", k + 1, where);
        reduction.to = 1;
        add_named(listing, reduction, "blocked of state %" PRIu32 " of %s", k + 1, where);
    }
}

static void add_condition(struct listing *listing, uint32_t index, bool release)
{
    const struct plan_step *step = &listing->scenario->plan.steps[index];
    const struct plan_condition *when = condition_of(step, release);
    struct reduction reduction = {.step = index, .release = release};
    char where[WHERE_BYTES];
    if (plan_condition_is_empty(when))
        return;
    write_where(index, release, where);
    reduction.kind = REDUCE_CONDITION;
    if (can_be_bare(step, release))
        add_named(listing, reduction, "the condition of %s", where);
    add_states(listing, index, release);
    reduction.kind = REDUCE_FIELD;
    for (size_t k = plan_condition_fields.count; k-- > 0;) {
        const struct plan_field *field = &plan_condition_fields.field[k];
        reduction.part = (uint32_t)k;
        if (condition_field_can_go(field, when))
            add_named(listing, reduction, "field %s of %s", field->name, where);
    }
}

/* As scenarios have it. */
static const char *name_of(const struct plan_field *field, const struct plan_step *step)
{
    const struct action_field *of = action_field(step->action, field->name);
    return of != NULL && of->as != NULL ? of->as : field->name;
}

static void add_step_fields(struct listing *listing, uint32_t index)
{
    const struct plan_step *step = &listing->scenario->plan.steps[index];
    for (size_t k = plan_step_fields.count; k-- > 0;) {
        const struct plan_field *field = &plan_step_fields.field[k];
        struct reduction reduction = {
            .kind = REDUCE_STEP_FIELD, .step = index, .part = (uint32_t)k};
        if (step_field_can_go(field, step))
            add_named(listing, reduction, "field %s of step %" PRIu32, name_of(field, step),
                      index + 1);
    }
}

static void add_around(struct listing *listing)
{
    const struct scenario *scenario = listing->scenario;
    for (uint32_t i = 0; i < scenario->environment_count; i++)
        add_named(listing, (struct reduction){.kind = REDUCE_ENVIRONMENT, .part = i},
                  "environment %.64s", scenario->environment[i]);
    if (scenario->max_incarnations > 0)
        add_named(listing, (struct reduction){.kind = REDUCE_INCARNATIONS}, "max_incarnations");
}

/* --- numbers ---------------------------------------------------------------------------------- */

static int32_t higher(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static int32_t highest_in_condition(const struct plan_condition *when)
{
    int32_t highest = higher(when->rank, when->peer);
    for (uint32_t i = 0; i < when->states; i++)
        highest = higher(highest, when->state[i].rank);
    return highest;
}

/* Of all ranks that the plan names; -1: none. */
static int32_t highest_rank(const struct plan *plan)
{
    int32_t highest = -1;
    for (size_t i = 0; i < plan->count; i++) {
        const struct plan_step *step = &plan->steps[i];
        highest = higher(highest, highest_in_condition(&step->when));
        highest = higher(highest, highest_in_condition(&step->release));
        const struct action_field *choice = action_field(step->action, "choice");
        if (choice != NULL && choice->is_rank)
            highest = higher(highest, step->choice);
        for (uint32_t k = 0; k < step->victims; k++)
            highest = higher(highest, step->victim[k]);
    }
    return highest;
}

/* So many ranks that all that the scenario names are there, and one of the program's. */
static int32_t fewest_ranks(const struct scenario *scenario)
{
    int32_t highest = highest_rank(&scenario->plan);
    if (scenario->nodes != NULL || scenario->restart_ranks > 0) /* which go by the number */
        return scenario->ranks;
    for (int32_t rank = 0; rank < scenario->ranks; rank++)
        if (scenario_is_helper(scenario, rank))
            highest = higher(highest, rank + scenario->reserve);
    return higher(highest + 1, scenario->reserve + scenario_helpers(scenario) + 1);
}

static void add_numbers_around(struct listing *listing)
{
    const struct scenario *scenario = listing->scenario;
    int64_t number;
    char what[WHERE_BYTES];
    int32_t least = fewest_ranks(scenario);
    add_lowered(listing, (struct reduction){.kind = REDUCE_RANKS}, scenario->ranks, least, "ranks");
    for (uint32_t i = 0; i < scenario->argument_count; i++) {
        snprintf(what, sizeof what, "argument %" PRIu32, i + 1);
        if (argument_number(scenario->argument[i], &number))
            add_lowered(listing, (struct reduction){.kind = REDUCE_ARGUMENT, .part = i}, number,
                        ARGUMENT_LEAST, what);
    }
}

static void add_condition_numbers(struct listing *listing, uint32_t index, bool release)
{
    const struct plan_step *step = &listing->scenario->plan.steps[index];
    const struct plan_condition *when = condition_of(step, release);
    char where[WHERE_BYTES], what[REDUCTION_TEXT_BYTES];
    write_where(index, release, where);
    struct reduction reduction = {.kind = REDUCE_NUMBER, .step = index, .release = release};
    for (size_t k = plan_condition_fields.count; k-- > 0;) {
        const struct plan_field *field = &plan_condition_fields.field[k];
        reduction.part = (uint32_t)k;
        snprintf(what, sizeof what, "field %s of %s", field->name, where);
        if (field->lowers && condition_field_can_go(field, when))
            add_lowered(listing, reduction, plan_field_number(field, when), field->lowest, what);
    }
    reduction.kind = REDUCE_LINE;
    for (uint32_t k = 0; k < when->states; k++) {
        reduction.part = k;
        snprintf(what, sizeof what, "line of state %" PRIu32 " of %s", k + 1, where);
        if (when->state[k].region != REGION_ANY)
            add_lowered(listing, reduction, when->state[k].line, 1, what);
    }
}

static void add_step_numbers(struct listing *listing, uint32_t index)
{
    const struct plan_step *step = &listing->scenario->plan.steps[index];
    char what[WHERE_BYTES];
    for (size_t k = plan_step_fields.count; k-- > 0;) {
        const struct plan_field *field = &plan_step_fields.field[k];
        struct reduction reduction = {
            .kind = REDUCE_STEP_NUMBER, .step = index, .part = (uint32_t)k};
        snprintf(what, sizeof what, "field %s of step %" PRIu32, name_of(field, step), index + 1);
        if (field->lowers && step_field_can_go(field, step))
            add_lowered(listing, reduction, plan_field_number(field, step), field->lowest, what);
    }
}

/* --- all -------------------------------------------------------------------------------------- */

void reductions_of(const struct scenario *scenario, struct reductions *list)
{
    struct listing listing = {scenario, list};
    *list = (struct reductions){0};
    uint32_t steps = (uint32_t)scenario->plan.count;
    add_steps(&listing);
    for (uint32_t i = 0; i < steps; i++) {
        add_victims(&listing, i);
        add_condition(&listing, i, false);
        add_condition(&listing, i, true);
        add_step_fields(&listing, i);
    }
    add_around(&listing);
    add_numbers_around(&listing);
    for (uint32_t i = 0; i < steps; i++) {
        add_condition_numbers(&listing, i, false);
        add_condition_numbers(&listing, i, true);
        add_step_numbers(&listing, i);
    }
}

void reductions_release(struct reductions *list)
{
    free(list->list);
    *list = (struct reductions){0};
}

bool reduction_is_number(const struct reduction *reduction)
{
    return reduction->kind >= REDUCE_RANKS;
}

bool reduction_is_around(const struct reduction *reduction)
{
    return reduction->kind == REDUCE_ENVIRONMENT || reduction->kind == REDUCE_INCARNATIONS;
}
