/* What a step of each action may and must have: see plan_text.h. */
#include "plan/plan_text.h"

#include <string.h>

#define SEND_MATCH (1u << EVENT_SEND)
#define STORE_MATCH                                                                                \
    (1u << EVENT_OPEN | 1u << EVENT_WRITE | 1u << EVENT_SYNC | 1u << EVENT_RENAME |                \
     1u << EVENT_UNLINK)

/* Events that a step of the action can have; 0: any, or none. */
static unsigned events_of(enum plan_action action)
{
    switch (action) {
    case ACTION_HOLD:
        return SEND_MATCH;
    case ACTION_CHOOSE:
        return 1u << EVENT_RECV | 1u << EVENT_PROBE;
    case ACTION_ANSWER:
        return 1u << EVENT_WAIT | 1u << EVENT_PROBE;
    case ACTION_FAIL:
        return STORE_MATCH;
    case ACTION_SHORT:
    case ACTION_TEAR:
        return 1u << EVENT_WRITE;
    default:
        return 0;
    }
}

static enum error_code check_event(const struct plan_step *step, struct error *error)
{
    unsigned accepted = events_of(step->action);
    char list[128];
    struct output out = {list, sizeof list, 0};
    if (accepted == 0 || (accepted & 1u << step->when.event) != 0)
        return OK;
    for (unsigned event = 0; event < EVENT_COUNT; event++)
        if (accepted & 1u << event)
            plan_put(&out, "%s%s", out.length > 0 ? ", " : "",
                     plan_event_text((enum plan_event)event));
    return error_set(error, ERROR_FORMAT, "field \"event\": %s; accepted for %s are %s",
                     plan_event_text(step->when.event), plan_action_text(step->action), list);
}

static bool is_given(const struct plan_step *step, const struct plan_step *plain,
                     const struct plan_field *field)
{
    const char *value = (const char *)step + field->offset;
    const char *other = (const char *)plain + field->offset;
    switch (field->form) {
    case FORM_LIST:
        return *(const uint32_t *)(const void *)((const char *)step + field->counter) > 0;
    case FORM_WORD:
    case FORM_YES:
        return *value != *other;
    case FORM_U64:
        return memcmp(value, other, sizeof(uint64_t)) != 0;
    default:
        return memcmp(value, other, sizeof(int32_t)) != 0;
    }
}

static enum error_code check_belonging(const struct plan_step *step, struct error *error)
{
    struct plan_step plain = plan_step_default(step->action);
    for (size_t i = 0; i < plan_step_fields.count; i++) {
        const struct plan_field *field = &plan_step_fields.field[i];
        char list[128];
        struct output out = {list, sizeof list, 0};
        if (field->actions == 0 || (field->actions & 1u << step->action) != 0 ||
            !is_given(step, &plain, field))
            continue;
        for (unsigned action = 0; action < ACTION_COUNT; action++)
            if (field->actions & 1u << action)
                plan_put(&out, "%s%s", out.length > 0 ? ", " : "",
                         plan_action_text((enum plan_action)action));
        return error_set(error, ERROR_FORMAT, "field \"%s\" belongs to %s, not to %s", field->name,
                         list, plan_action_text(step->action));
    }
    return OK;
}

static enum error_code check_position(const struct plan_step *step, struct error *error)
{
    bool steers = (events_of(step->action) != 0);
    if (step->action != ACTION_KILL && step->when.position == POSITION_INSIDE)
        return error_set(
            error, ERROR_FORMAT, "field \"position\": inside belongs to kill; accepted for %s %s",
            plan_action_text(step->action), steers ? "is before" : "are before, after");
    if (steers && step->when.position != POSITION_BEFORE)
        return error_set(error, ERROR_FORMAT, "field \"position\": accepted for %s is before",
                         plan_action_text(step->action));
    if (step->release.position == POSITION_INSIDE)
        return error_set(error, ERROR_FORMAT,
                         "field \"release.position\": accepted are before, after");
    return OK;
}

/* Each of 1 .. count once. */
static bool is_permutation(const struct plan_step *step)
{
    uint64_t seen = 0;
    for (uint32_t i = 0; i < step->orders; i++)
        if (step->order[i] >= 1 && step->order[i] <= (int32_t)step->orders)
            seen |= UINT64_C(1) << (step->order[i] - 1);
    return step->orders == step->count &&
           seen == (step->orders == 64 ? UINT64_MAX : (UINT64_C(1) << step->orders) - 1);
}

static enum error_code check_needs(const struct plan_step *step, struct error *error)
{
    if ((step->action == ACTION_KILL || step->action == ACTION_STOP) && step->victims == 0)
        return error_set(error, ERROR_FORMAT, "%s needs field \"victims\": ranks, as in 1,2",
                         plan_action_text(step->action));
    if (step->action == ACTION_RELEASE && step->target < 0)
        return error_set(error, ERROR_FORMAT,
                         "release needs field \"target\": the number of a hold or stop, from 1");
    if (step->action == ACTION_JITTER && step->release_ms == 0)
        return error_set(error, ERROR_FORMAT,
                         "jitter needs field \"ms\": the longest delay, from 1");
    if (step->action == ACTION_FAIL && (step->choice <= 0 || step->choice > PLAN_MAX_ERRNO))
        return error_set(error, ERROR_FORMAT,
                         "fail needs field \"choice\": an errno from 1 to %d, as in 28 (ENOSPC)",
                         PLAN_MAX_ERRNO);
    if ((step->action == ACTION_HOLD || step->action == ACTION_ANSWER) &&
        (step->count < 1 || step->count > UINT32_MAX))
        return error_set(error, ERROR_FORMAT, "field \"count\": accepted are numbers from 1 to %u",
                         UINT32_MAX);
    if (step->action == ACTION_HOLD && step->orders > 0 && !is_permutation(step))
        return error_set(error, ERROR_FORMAT,
                         "field \"order\": accepted is each of 1 to %llu (field \"count\") once",
                         (unsigned long long)step->count);
    return OK;
}

static enum error_code check_condition(const struct plan_condition *condition, const char *prefix,
                                       struct error *error)
{
    bool message = condition->message[0] != '\0';
    if (message && condition->level != 1)
        return error_set(error, ERROR_FORMAT,
                         "field \"%slevel\": app; with \"%smessage\" accepted is wire", prefix,
                         prefix);
    if (message && condition->event != EVENT_SEND && condition->event != EVENT_DELIVER)
        return error_set(error, ERROR_FORMAT,
                         "field \"%sevent\": %s; with \"%smessage\" accepted are send, deliver",
                         prefix, plan_event_text(condition->event), prefix);
    for (uint32_t i = 0; i < condition->states && i < PLAN_MAX_STATES; i++)
        if (condition->event == EVENT_NONE && condition->state[i].rank == PLAN_ANY &&
            condition->rank == PLAN_ANY)
            return error_set(error, ERROR_FORMAT,
                             "field \"%sstate\": without an event there is no own rank; say whose",
                             prefix);
    return OK;
}

static enum error_code check_release(const struct plan_step *step, struct error *error)
{
    struct plan_condition plain = plan_step_default(step->action).release;
    if (step->action == ACTION_HOLD || step->action == ACTION_STOP ||
        memcmp(&plain, &step->release, sizeof plain) == 0)
        return OK;
    return error_set(error, ERROR_FORMAT, "fields \"release.*\" belong to hold, stop, not to %s",
                     plan_action_text(step->action));
}

enum error_code plan_step_check(const struct plan_step *step, struct error *error)
{
    enum error_code code = check_belonging(step, error);
    if (code == OK)
        code = check_needs(step, error);
    if (code == OK)
        code = check_event(step, error);
    if (code == OK)
        code = check_position(step, error);
    if (code == OK)
        code = check_condition(&step->when, "", error);
    if (code == OK)
        code = check_release(step, error);
    if (code == OK)
        code = check_condition(&step->release, PLAN_PREFIX, error);
    return code;
}

enum error_code plan_wire_check(const struct plan_wire *wire, struct error *error)
{
    if (wire->name[0] == '\0')
        return error_set(error, ERROR_FORMAT, "wire needs field \"name\"");
    if (wire->key_at < -1 || wire->epoch_at < -1)
        return error_set(error, ERROR_FORMAT,
                         "wire %s: fields \"key_at\", \"epoch_at\": accepted are offsets from 0, "
                         "and -1 for none",
                         wire->name);
    return OK;
}

/* --- the whole -------------------------------------------------------------------------------- */
static enum error_code check_message(const struct plan *plan, const char *name, size_t number,
                                     struct error *error)
{
    char list[256];
    struct output out = {list, sizeof list, 0};
    if (name[0] == '\0')
        return OK;
    for (size_t i = 0; i < plan->wires; i++) {
        if (strcmp(plan->wire[i].name, name) == 0)
            return OK;
        plan_put(&out, "%s%s", i > 0 ? ", " : "", plan->wire[i].name);
    }
    return error_set(error, ERROR_FORMAT, "step %zu: unknown message \"%s\"; %s%s", number, name,
                     plan->wires > 0 ? "accepted are " : "no line \"wire\" names any", list);
}

static enum error_code check_place(const struct plan *plan, size_t index, struct error *error)
{
    const struct plan_step *step = &plan->steps[index];
    size_t number = index + 1;
    if (step->after >= 0 && (size_t)step->after >= index)
        return error_set(error, ERROR_FORMAT,
                         "step %zu: field \"after\": %d; accepted are start and steps before it",
                         number, step->after + 1);
    int32_t armed_by = plan_after(plan, index);
    if (armed_by >= 0 && plan->steps[armed_by].action == ACTION_QUIET)
        return error_set(error, ERROR_FORMAT,
                         "step %zu: it comes after step %d, quiet, behind which nothing is done",
                         number, armed_by + 1);
    if (step->action != ACTION_RELEASE)
        return OK;
    bool before = step->target >= 0 && (size_t)step->target < index;
    enum plan_action action = before ? plan->steps[step->target].action : ACTION_AWAIT;
    if (action != ACTION_HOLD && action != ACTION_STOP)
        return error_set(error, ERROR_FORMAT,
                         "step %zu: field \"target\": %d; accepted are holds and stops before it",
                         number, step->target + 1);
    return OK;
}

enum error_code plan_check(const struct plan *plan, struct error *error)
{
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < plan->count; i++) {
        code = check_place(plan, i, error);
        if (code == OK)
            code = check_message(plan, plan->steps[i].when.message, i + 1, error);
        if (code == OK)
            code = check_message(plan, plan->steps[i].release.message, i + 1, error);
    }
    return code;
}
