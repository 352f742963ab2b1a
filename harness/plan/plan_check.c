/* What a step of each action may and must have: see plan_text.h. */
#include "plan/action.h"
#include "plan/plan_text.h"

#include <string.h>

/* "a, b": the names of all for which bit k of `which` is set. */
static void put_names(struct output *out, unsigned which, const struct plan_words *words)
{
    for (unsigned k = 0; k < words->count; k++)
        if (which & 1u << k)
            plan_put(out, "%s%s", out->length > 0 ? ", " : "", words->text[k]);
}

static enum error_code check_event(const struct plan_step *step, struct error *error)
{
    unsigned accepted = action_of(step)->events;
    char list[128];
    struct output out = {list, sizeof list, 0};
    if (accepted == 0 || (accepted & 1u << step->when.event) != 0)
        return OK;
    put_names(&out, accepted, &plan_event_words);
    return error_set(error, ERROR_FORMAT, "field \"event\": %s; accepted for %s are %s",
                     plan_event_text(step->when.event), plan_action_text(step->action), list);
}

/* --- the fields of an action ------------------------------------------------------------------ */
static enum error_code refuse_field(const struct plan_field *field, enum plan_action action,
                                    struct error *error)
{
    unsigned which = 0;
    char list[128];
    struct output out = {list, sizeof list, 0};
    for (unsigned other = 0; other < ACTION_COUNT; other++)
        which |= (unsigned)plan_field_belongs(field, (enum plan_action)other) << other;
    put_names(&out, which, &plan_action_words);
    return error_set(error, ERROR_FORMAT, "field \"%s\" belongs to %s, not to %s", field->name,
                     list, plan_action_text(action));
}

static enum error_code check_range(const struct plan_field *field, const struct action_field *of,
                                   const struct plan_step *step, bool plain, struct error *error)
{
    int64_t number = plan_field_number(field, step);
    long long shift = field->form == FORM_STEP; /* such are numbered from 1 in text */
    if ((of->least == 0 && of->most == 0) || (plain && of->needed == NULL) ||
        (number >= of->least && number <= of->most))
        return OK;
    if (plain)
        return error_set(error, ERROR_FORMAT, "%s needs field \"%s\": %s; from %lld to %lld",
                         plan_action_text(step->action), field->name, of->needed,
                         (long long)of->least + shift, (long long)of->most + shift);
    return error_set(error, ERROR_FORMAT, "field \"%s\": accepted are numbers from %lld to %lld",
                     field->name, (long long)of->least + shift, (long long)of->most + shift);
}

static enum error_code check_fields(const struct plan_step *step, struct error *error)
{
    struct plan_step standard = plan_step_default(step->action);
    enum error_code code = OK;
    for (size_t i = 0; code == OK && i < plan_step_fields.count; i++) {
        const struct plan_field *field = &plan_step_fields.field[i];
        const struct action_field *of = action_field(step->action, field->name);
        bool plain = plan_field_is_plain(field, step, &standard);
        if (of != NULL)
            code = check_range(field, of, step, plain, error);
        else if (!plain && !plan_field_belongs(field, step->action))
            code = refuse_field(field, step->action, error);
    }
    return code;
}

static enum error_code check_position(const struct plan_step *step, struct error *error)
{
    const struct action *action = action_of(step);
    if (action->kills != KILLS_VICTIMS && step->when.position == POSITION_INSIDE)
        return error_set(error, ERROR_FORMAT,
                         "field \"position\": inside belongs to kill; accepted for %s %s",
                         action->text, action->events != 0 ? "is before" : "are before, after");
    if (action->events != 0 && step->when.position != POSITION_BEFORE)
        return error_set(error, ERROR_FORMAT, "field \"position\": accepted for %s is before",
                         action->text);
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

static enum error_code check_order(const struct plan_step *step, struct error *error)
{
    if (action_of(step)->keeps == KEEPS_MESSAGES && step->orders > 0 && !is_permutation(step))
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
    unsigned keep = 0;
    char list[128];
    struct output out = {list, sizeof list, 0};
    if (action_of(step)->keeps != KEEPS_NOTHING ||
        memcmp(&plain, &step->release, sizeof plain) == 0)
        return OK;
    for (unsigned action = 0; action < ACTION_COUNT; action++)
        keep |= (unsigned)(actions[action].keeps != KEEPS_NOTHING) << action;
    put_names(&out, keep, &plan_action_words);
    return error_set(error, ERROR_FORMAT, "fields \"release.*\" belong to %s, not to %s", list,
                     plan_action_text(step->action));
}

enum error_code plan_step_check(const struct plan_step *step, struct error *error)
{
    enum error_code code = check_fields(step, error);
    if (code == OK)
        code = check_order(step, error);
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

enum error_code message_pattern_check(const struct message_pattern *wire, struct error *error)
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
                         "step %zu: it comes after step %d, quiet, after which nothing is done",
                         number, armed_by + 1);
    if (step->action != ACTION_RELEASE)
        return OK;
    bool before = step->target >= 0 && (size_t)step->target < index;
    if (!before || action_of(&plan->steps[step->target])->keeps == KEEPS_NOTHING)
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
