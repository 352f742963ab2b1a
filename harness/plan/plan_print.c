/* Steps and wires as text: see plan_text.h. */
#include "plan/plan_text.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void plan_put(struct output *out, const char *format, ...)
{
    size_t room = out->length < out->bytes ? out->bytes - out->length : 0;
    va_list arguments;
    va_start(arguments, format);
    int length = vsnprintf(room > 0 ? out->buffer + out->length : NULL, room, format, arguments);
    va_end(arguments);
    if (length > 0)
        out->length += (size_t)length;
}

static bool is_plain(const char *text)
{
    for (; *text != '\0'; text++)
        if (!isalnum((unsigned char)*text) && strchr("_-.:/+#", *text) == NULL)
            return false;
    return true;
}

/* Quoted where needed, so that a line stays one line and words stay words. */
static void put_name(struct output *out, const char *name)
{
    if (is_plain(name)) {
        plan_put(out, "%s", name);
        return;
    }
    plan_put(out, "\"");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\')
            plan_put(out, "\\%c", c);
        else if (c < ' ' || c == 127)
            plan_put(out, "\\x%02x", c);
        else
            plan_put(out, "%c", c);
    }
    plan_put(out, "\"");
}

static void put_list(struct output *out, const int32_t *number, uint32_t count)
{
    for (uint32_t i = 0; i < count && i < PLAN_MAX_VICTIMS; i++)
        plan_put(out, "%s%" PRId32, i > 0 ? "," : "", number[i]);
}

/* "1:beyond:2", "own:logging:1:MPI_Recv", "2:blocked:MPI_Recv". */
static void put_state(struct output *out, const struct plan_state *state)
{
    char text[PLAN_NAME_BYTES + 64];
    struct output word = {text, sizeof text, 0};
    if (state->rank == PLAN_ANY)
        plan_put(&word, "own");
    else
        plan_put(&word, "%" PRId32, state->rank);
    if (state->region == REGION_ANY)
        plan_put(&word, ":blocked");
    else
        plan_put(&word, ":%s:%" PRId64,
                 plan_region_words.text[state->region % plan_region_words.count], state->line);
    if (state->blocked[0] != '\0')
        plan_put(&word, ":%s", state->blocked);
    put_name(out, text);
}

static void put_wire_id(struct output *out, const struct message_pattern *wire)
{
    if (wire->comm_nth > 0)
        plan_put(out, "world#%" PRIu32, wire->comm_nth);
    else
        plan_put(out, "0x%" PRIx32, wire->comm);
}

static void put_step_number(struct output *out, int32_t step)
{
    if (step == PLAN_AFTER_START)
        plan_put(out, "start");
    else
        plan_put(out, "%" PRId32, step + 1);
}

static void put_value(struct output *out, const void *whole, const struct plan_field *field)
{
    const char *value = (const char *)whole + field->offset;
    int64_t number = plan_field_number(field, whole);
    switch (field->form) {
    case FORM_EVENT:
        plan_put(out, "%s", plan_event_text((enum plan_event)number));
        break;
    case FORM_WORD:
        plan_put(out, "%s", field->words->text[(size_t)number % field->words->count]);
        break;
    case FORM_YES:
        plan_put(out, "yes");
        break;
    case FORM_STEP:
    case FORM_AFTER:
        put_step_number(out, (int32_t)number);
        break;
    case FORM_COMM:
        plan_put(out, "0x%" PRIx64, number);
        break;
    case FORM_WIRE_ID:
        put_wire_id(out, whole);
        break;
    case FORM_INT:
    case FORM_LINE:
    case FORM_U32:
    case FORM_SIZE:
        plan_put(out, "%" PRId64, number);
        break;
    case FORM_U64:
    case FORM_NTH:
        plan_put(out, "%" PRIu64, (uint64_t)number);
        break;
    case FORM_NAME:
        put_name(out, value);
        break;
    case FORM_LIST:
        put_list(out, (const int32_t *)(const void *)value, (uint32_t)number);
        break;
    case FORM_STATE:
        break;
    }
}

static void put_states(struct output *out, const struct plan_condition *condition,
                       const char *prefix)
{
    for (uint32_t i = 0; i < condition->states && i < PLAN_MAX_STATES; i++) {
        plan_put(out, " %sstate=", prefix);
        put_state(out, &condition->state[i]);
    }
}

static void put_fields(struct output *out, const struct plan_fields *fields, const char *prefix,
                       const void *whole, const void *plain)
{
    for (size_t i = 0; i < fields->count; i++) {
        const struct plan_field *field = &fields->field[i];
        if (field->form == FORM_STATE) {
            put_states(out, whole, prefix);
        } else if (!plan_field_is_plain(field, whole, plain)) {
            plan_put(out, " %s%s=", prefix, field->name);
            put_value(out, whole, field);
        }
    }
}

size_t plan_step_print(const struct plan_step *step, char *buffer, size_t bytes)
{
    struct plan_step plain = plan_step_default(step->action);
    struct output out = {buffer, bytes, 0};
    plan_put(&out, "%s", plan_action_text(step->action));
    put_fields(&out, &plan_step_fields, "", step, &plain);
    put_fields(&out, &plan_condition_fields, "", &step->when, &plain.when);
    put_fields(&out, &plan_condition_fields, PLAN_PREFIX, &step->release, &plain.release);
    return out.length;
}

size_t message_pattern_print(const struct message_pattern *wire, char *buffer, size_t bytes)
{
    struct message_pattern plain = message_pattern_default();
    struct output out = {buffer, bytes, 0};
    plan_put(&out, "wire");
    put_fields(&out, &message_pattern_fields, "", wire, &plain);
    return out.length;
}
