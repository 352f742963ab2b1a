/* See fields.h. */
#include "shrink/fields.h"

#include "plan/action.h"

#include <stdlib.h>
#include <string.h>

#define DIGITS_MOST 15

bool step_field_can_go(const struct plan_field *field, const struct plan_step *step)
{
    struct plan_step plain = plan_step_default(step->action);
    const struct action_field *of = action_field(step->action, field->name);
    return plan_field_belongs(field, step->action) && (of == NULL || of->needed == NULL) &&
           !plan_field_is_plain(field, step, &plain);
}

bool condition_field_can_go(const struct plan_field *field, const struct plan_condition *when)
{
    struct plan_condition plain = plan_step_default(ACTION_AWAIT).when;
    return field->form != FORM_EVENT && field->form != FORM_STATE &&
           !plan_field_is_plain(field, when, &plain);
}

void drop_wrong_order(struct plan_step *step)
{
    struct plan_step plain = plan_step_default(step->action);
    if (action_of(step)->keeps == KEEPS_MESSAGES && step->orders != step->count)
        plan_field_make_plain(plan_step_field("order"), step, &plain);
}

bool argument_number(const char *text, int64_t *number)
{
    size_t length = strlen(text);
    if (length == 0 || length > DIGITS_MOST || strspn(text, "0123456789") != length)
        return false;
    *number = strtoll(text, NULL, 10);
    return true;
}
