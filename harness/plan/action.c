/* See action.h. */
#include "plan/action.h"

#include <string.h>

const struct action actions[ACTION_COUNT] = {
#define ACTION(NAME, name, ...) [ACTION_##NAME] = {.text = #name, __VA_ARGS__},
#include "plan/actions.def"
};

const struct action *action_of(const struct plan_step *step)
{
    return &actions[step->action];
}

const struct action_field *action_field(enum plan_action action, const char *name)
{
    for (const struct action_field *field = actions[action].field; field->name != NULL; field++)
        if (strcmp(field->name, name) == 0)
            return field;
    return NULL;
}

bool action_steers(enum plan_action action)
{
    return actions[action].by == BY_TAPS || actions[action].lasts;
}

bool action_ends_incarnation(enum plan_action action)
{
    return actions[action].kills != KILLS_NOBODY || actions[action].may_end_job;
}

uint64_t action_times(const struct plan_step *step)
{
    return action_of(step)->repeats ? step->count : 1;
}
