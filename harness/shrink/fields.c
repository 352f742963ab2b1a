/* See fields.h. */
#include "shrink/fields.h"

#include <stdlib.h>
#include <string.h>

#define OF(type, member)                                                                           \
    .offset = offsetof(struct type, member), .bytes = sizeof(((struct type *)0)->member)
#define NO_NUMBER .least = -1
#define BIT(action) (1u << ACTION_##action)
#define DIGITS_MOST 15

const struct shrink_field condition_fields[] = {
    {"within", OF(plan_condition, within), NO_NUMBER},
    {"file", OF(plan_condition, file), NO_NUMBER},
    {"name", OF(plan_condition, name), NO_NUMBER},
    {"message", OF(plan_condition, message), NO_NUMBER},
    {"call", OF(plan_condition, call), NO_NUMBER},
    {"position", OF(plan_condition, position), NO_NUMBER},
    {"level", OF(plan_condition, level), NO_NUMBER},
    {"comm", OF(plan_condition, comm), NO_NUMBER},
    {"tag", OF(plan_condition, tag), NO_NUMBER},
    {"peer", OF(plan_condition, peer), NO_NUMBER},
    {"incarnation", OF(plan_condition, incarnation), .form = FORM_INT32, .least = 0},
    {"epoch", OF(plan_condition, epoch), .form = FORM_INT64, .least = 1},
    {"nth", OF(plan_condition, nth), .form = FORM_UINT64, .least = 1},
    {"rank", OF(plan_condition, rank), NO_NUMBER},
};
const size_t condition_field_count = sizeof condition_fields / sizeof condition_fields[0];

const struct shrink_field step_fields[] = {
    {"attempt", OF(plan_step, attempt), NO_NUMBER},
    {"tags_apart", OF(plan_step, tags_apart), NO_NUMBER},
    {"lose", OF(plan_step, lose), NO_NUMBER},
    {"tag", OF(plan_step, choice_tag), NO_NUMBER},
    {"order", OF(plan_step, orders), .actions = BIT(HOLD), NO_NUMBER},
    {"count", OF(plan_step, count), .actions = BIT(HOLD) | BIT(ANSWER), .form = FORM_UINT64,
     .least = 1},
    {"ms", OF(plan_step, release_ms), .actions = BIT(HOLD) | BIT(STOP), .form = FORM_UINT32,
     .least = 1},
    {"after", OF(plan_step, after), NO_NUMBER},
};
const size_t step_field_count = sizeof step_fields / sizeof step_fields[0];

/* A step with nothing asked for, or a condition of it. */
static const char *plain_of(const struct shrink_field *field, struct plan_step *plain)
{
    bool of_condition =
        field >= condition_fields && field < condition_fields + condition_field_count;
    *plain = plan_step_default(ACTION_AWAIT);
    return of_condition ? (const char *)&plain->when : (const char *)plain;
}

bool field_is_given(const struct shrink_field *field, const void *whole, enum plan_action action)
{
    struct plan_step plain;
    const char *left = (const char *)whole + field->offset;
    const char *right = plain_of(field, &plain) + field->offset;
    return (field->actions == 0 || (field->actions & 1u << action) != 0) &&
           memcmp(left, right, field->bytes) != 0;
}

void field_leave_out(const struct shrink_field *field, void *whole)
{
    struct plan_step plain;
    memcpy((char *)whole + field->offset, plain_of(field, &plain) + field->offset, field->bytes);
}

int64_t field_number(const struct shrink_field *field, const void *whole)
{
    const void *place = (const char *)whole + field->offset;
    switch (field->form) {
    case FORM_INT32:
        return *(const int32_t *)place;
    case FORM_INT64:
        return *(const int64_t *)place;
    case FORM_UINT32:
        return *(const uint32_t *)place;
    case FORM_UINT64:
        return (int64_t) * (const uint64_t *)place;
    case FORM_NONE:
        break;
    }
    return 0;
}

void field_set_number(const struct shrink_field *field, void *whole, int64_t number)
{
    void *place = (char *)whole + field->offset;
    switch (field->form) {
    case FORM_INT32:
        *(int32_t *)place = (int32_t)number;
        break;
    case FORM_INT64:
        *(int64_t *)place = number;
        break;
    case FORM_UINT32:
        *(uint32_t *)place = (uint32_t)number;
        break;
    case FORM_UINT64:
        *(uint64_t *)place = (uint64_t)number;
        break;
    case FORM_NONE:
        break;
    }
}

bool argument_number(const char *text, int64_t *number)
{
    size_t length = strlen(text);
    if (length == 0 || length > DIGITS_MOST || strspn(text, "0123456789") != length)
        return false;
    *number = strtoll(text, NULL, 10);
    return true;
}
