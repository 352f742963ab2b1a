/* The fields of steps and conditions that can be left out or lowered, as a table. Inside of
 * harness/shrink only. */
#ifndef SHRINK_FIELDS_H
#define SHRINK_FIELDS_H

#include "plan/plan.h"

#include <stddef.h>

#define ARGUMENT_LEAST 1 /* what a number among the program's arguments is lowered to */

enum number_form { FORM_NONE, FORM_INT32, FORM_INT64, FORM_UINT32, FORM_UINT64 };

/* Of a step or a condition; left out, it has the bytes that it has in plan_step_default. */
struct shrink_field {
    const char *name; /* as in scenarios */
    size_t offset, bytes;
    unsigned actions;      /* bit per enum plan_action that it can be left out of; 0: of all */
    enum number_form form; /* of one that can be lowered */
    int64_t least;         /* to this; -1: it is no number to be lowered */
};

extern const struct shrink_field condition_fields[], step_fields[];
extern const size_t condition_field_count, step_field_count;

/* `whole` is the step or condition. Not at its default, and of a step of this action it can be left
 * out. */
bool field_is_given(const struct shrink_field *field, const void *whole, enum plan_action action);
void field_leave_out(const struct shrink_field *field, void *whole);
int64_t field_number(const struct shrink_field *field, const void *whole);
void field_set_number(const struct shrink_field *field, void *whole, int64_t number);

/* A whole number and nothing else. */
bool argument_number(const char *text, int64_t *number);

#endif
