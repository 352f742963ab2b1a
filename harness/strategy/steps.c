/* See steps.h. */
#include "strategy/steps.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

struct plan_step steps_fault(enum plan_action action)
{
    struct plan_step step = plan_step_default(action);
    step.after = PLAN_AFTER_START;
    return step;
}

void steps_victim(struct plan_step *step, int32_t rank)
{
    for (uint32_t i = 0; i < step->victims; i++)
        if (step->victim[i] == rank)
            return;
    if (step->victims < PLAN_MAX_VICTIMS)
        step->victim[step->victims++] = rank;
}

struct plan_step steps_quiet(uint64_t finalized)
{
    struct plan_step step = steps_fault(ACTION_QUIET);
    step.when.event = EVENT_CALL;
    step.when.nth = finalized;
    snprintf(step.when.call, sizeof step.when.call, "MPI_Finalize");
    return step;
}

uint64_t steps_finalizing(const struct survey *survey)
{
    static const struct survey_filter calls = {.kind = SURVEY_CALL};
    const struct survey_point *point;
    uint64_t count = 0;
    for (size_t i = 0; (point = survey_point(survey, calls, i)) != NULL; i++)
        if (strcmp(point->condition.call, "MPI_Finalize") == 0)
            count += point->count;
    count = count > 0 ? count : (uint64_t)survey->ranks;
    uint64_t again = (uint64_t)survey->restart_ranks;
    return again > 0 && again < count ? again : count;
}

struct plan_condition steps_at(const struct survey_point *point, uint64_t nth, bool after)
{
    struct plan_condition condition = point->condition;
    condition.nth = nth;
    if (condition.event != EVENT_DELIVER)
        condition.position = after ? POSITION_AFTER : POSITION_BEFORE;
    return condition;
}

void steps_state(struct plan_condition *condition, int32_t rank, enum plan_region region,
                 int64_t line)
{
    if (condition->states >= PLAN_MAX_STATES)
        return;
    struct plan_state *state = &condition->state[condition->states++];
    state->rank = rank;
    state->region = (uint8_t)region;
    state->line = line;
}

unsigned steps_regions(const struct survey *survey)
{
    if (!survey_has_note(survey, EVENT_CHECKPOINT))
        return 0;
    return survey_has_note(survey, EVENT_STOP_LOG) ? 3 : 2;
}

const char *steps_region_text(enum plan_region region)
{
    static const char *const texts[] = {"any", "before", "logging", "beyond"};
    return texts[region];
}

bool steps_can_lose(const struct survey *survey)
{
    return survey_points(survey, (struct survey_filter){.kind = SURVEY_STORE}) > 0;
}

void steps_describe(const struct survey_point *point, char *text, size_t bytes)
{
    const struct plan_condition *c = &point->condition;
    const char *event = plan_event_text(c->event);
    switch (point->kind) {
    case SURVEY_NOTE:
        snprintf(text, bytes, "%s %lld", event, (long long)c->epoch);
        break;
    case SURVEY_PHASE:
        snprintf(text, bytes, "%s %s", event, c->name);
        break;
    case SURVEY_MESSAGE:
        snprintf(text, bytes, "%s %s with %d", event, c->message, c->peer);
        break;
    case SURVEY_CHANNEL:
        snprintf(text, bytes, "%s with %d tag %d", event, c->peer, c->tag);
        break;
    case SURVEY_STORE:
        snprintf(text, bytes, "%s %s", event, c->file);
        break;
    default:
        snprintf(text, bytes, "%s", c->call);
        break;
    }
}

void steps_clean_name(char *name)
{
    for (; *name != '\0'; name++)
        if (!isalnum((unsigned char)*name) && strchr(" _./:+=,-", *name) == NULL)
            *name = '-';
}
