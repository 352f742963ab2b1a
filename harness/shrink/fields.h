/* What of a step or condition can be left out or lowered. Inside of harness/shrink only. */
#ifndef SHRINK_FIELDS_H
#define SHRINK_FIELDS_H

#include "plan/field.h"

#define ARGUMENT_LEAST 1 /* what a number among the program's arguments is lowered to */

/* Of plan_step_fields: it is given, and a step of the action is one without it, too. */
bool step_field_can_go(const struct plan_field *field, const struct plan_step *step);
/* Of plan_condition_fields. */
bool condition_field_can_go(const struct plan_field *field, const struct plan_condition *when);

/* An order of as many messages as the step no longer holds goes. */
void drop_wrong_order(struct plan_step *step);

/* A whole number and nothing else. */
bool argument_number(const char *text, int64_t *number);

#endif
