/* The lists of a plan's text form: see plan_text.h. */
#include "plan/plan_text.h"

#include <string.h>

static const char *const event_texts[EVENT_COUNT] = {
#define X(name, text) text,
    PLAN_EVENTS(X)
#undef X
};
static const char *const action_texts[ACTION_COUNT] = {
#define X(name, text) text,
    PLAN_ACTIONS(X)
#undef X
};
static const char *const level_texts[] = {"app", "wire"};
static const char *const position_texts[] = {"before", "after", "inside"};
static const char *const lose_texts[] = {"nothing", "rank", "node"};
static const char *const region_texts[] = {"any", "behind", "logging", "beyond"};

#define WORDS(texts)                                                                               \
    {                                                                                              \
        texts, LENGTH(texts)                                                                       \
    }
const struct plan_words plan_event_words = WORDS(event_texts);
const struct plan_words plan_action_words = WORDS(action_texts);
const struct plan_words plan_region_words = WORDS(region_texts);
static const struct plan_words level_words = WORDS(level_texts);
static const struct plan_words position_words = WORDS(position_texts);
static const struct plan_words lose_words = WORDS(lose_texts);

#define AT(type, member) .offset = offsetof(struct type, member)
#define COUNTED(type, member) .counter = offsetof(struct type, member)

static const struct plan_field step_fields[] = {
    {.name = "after", .form = FORM_AFTER, AT(plan_step, after)},
    {.name = "victims",
     .form = FORM_LIST,
     AT(plan_step, victim),
     COUNTED(plan_step, victims),
     .actions = ACTION_BIT(KILL) | ACTION_BIT(STOP)},
    {.name = "target", .form = FORM_STEP, AT(plan_step, target), .actions = ACTION_BIT(RELEASE)},
    {.name = "choice",
     .form = FORM_INT,
     AT(plan_step, choice),
     .actions = ACTION_BIT(CHOOSE) | ACTION_BIT(ANSWER) | ACTION_BIT(FAIL)},
    {.name = "choice_tag",
     .form = FORM_INT,
     AT(plan_step, choice_tag),
     .actions = ACTION_BIT(CHOOSE)},
    {.name = "count",
     .form = FORM_U64,
     AT(plan_step, count),
     .actions = ACTION_BIT(HOLD) | ACTION_BIT(ANSWER) | ACTION_BIT(SHORT) | ACTION_BIT(TEAR)},
    {.name = "order",
     .form = FORM_LIST,
     AT(plan_step, order),
     COUNTED(plan_step, orders),
     .actions = ACTION_BIT(HOLD) | ACTION_BIT(ANSWER)},
    {.name = "tags_apart",
     .form = FORM_YES,
     AT(plan_step, tags_apart),
     .actions = ACTION_BIT(HOLD)},
    {.name = "attempt",
     .form = FORM_YES,
     AT(plan_step, attempt),
     .actions = ACTION_BIT(HOLD) | ACTION_BIT(STOP)},
    {.name = "lose",
     .form = FORM_WORD,
     AT(plan_step, lose),
     .words = &lose_words,
     .actions = ACTION_BIT(KILL) | ACTION_BIT(TEAR)},
    {.name = "seed", .form = FORM_U64, AT(plan_step, seed), .actions = ACTION_BIT(JITTER)},
    {.name = "ms",
     .form = FORM_U32,
     AT(plan_step, release_ms),
     .actions = ACTION_BIT(HOLD) | ACTION_BIT(STOP) | ACTION_BIT(JITTER)},
};

static const struct plan_field condition_fields[] = {
    {.name = "event", .form = FORM_EVENT, AT(plan_condition, event)},
    {.name = "rank", .form = FORM_INT, AT(plan_condition, rank)},
    {.name = "incarnation", .form = FORM_INT, AT(plan_condition, incarnation)},
    {.name = "peer", .form = FORM_INT, AT(plan_condition, peer)},
    {.name = "tag", .form = FORM_INT, AT(plan_condition, tag)},
    {.name = "comm", .form = FORM_COMM, AT(plan_condition, comm)},
    {.name = "epoch", .form = FORM_LINE, AT(plan_condition, epoch)},
    {.name = "nth", .form = FORM_NTH, AT(plan_condition, nth)},
    {.name = "level", .form = FORM_WORD, AT(plan_condition, level), .words = &level_words},
    {.name = "position", .form = FORM_WORD, AT(plan_condition, position), .words = &position_words},
    {.name = "call", .form = FORM_NAME, AT(plan_condition, call)},
    {.name = "name", .form = FORM_NAME, AT(plan_condition, name)},
    {.name = "message", .form = FORM_NAME, AT(plan_condition, message)},
    {.name = "within", .form = FORM_NAME, AT(plan_condition, within)},
    {.name = "file", .form = FORM_NAME, AT(plan_condition, file)},
    {.name = "state", .form = FORM_STATE, AT(plan_condition, state)},
};

static const struct plan_field wire_fields[] = {
    {.name = "name", .form = FORM_NAME, AT(plan_wire, name)},
    {.name = "comm", .form = FORM_WIRE_ID, AT(plan_wire, comm)},
    {.name = "tag", .form = FORM_INT, AT(plan_wire, tag)},
    {.name = "key_at", .form = FORM_INT, AT(plan_wire, key_at)},
    {.name = "key_bytes", .form = FORM_SIZE, AT(plan_wire, key_bytes)},
    {.name = "key", .form = FORM_U64, AT(plan_wire, key)},
    {.name = "epoch_at", .form = FORM_INT, AT(plan_wire, epoch_at)},
    {.name = "epoch_bytes", .form = FORM_SIZE, AT(plan_wire, epoch_bytes)},
    {.name = "carries", .form = FORM_YES, AT(plan_wire, carries)},
};

const struct plan_fields plan_step_fields = {step_fields, LENGTH(step_fields)};
const struct plan_fields plan_condition_fields = {condition_fields, LENGTH(condition_fields)};
const struct plan_fields plan_wire_fields = {wire_fields, LENGTH(wire_fields)};

size_t plan_word_find(const struct plan_words *words, const char *text)
{
    size_t i = 0;
    while (i < words->count && strcmp(words->text[i], text) != 0)
        i++;
    return i;
}

enum plan_event plan_event_from_text(const char *text)
{
    return (enum plan_event)plan_word_find(&plan_event_words, text);
}

enum plan_action plan_action_from_text(const char *text)
{
    return (enum plan_action)plan_word_find(&plan_action_words, text);
}

const char *plan_event_text(enum plan_event event)
{
    return (unsigned)event < EVENT_COUNT ? event_texts[event] : "?";
}

const char *plan_action_text(enum plan_action action)
{
    return (unsigned)action < ACTION_COUNT ? action_texts[action] : "?";
}
