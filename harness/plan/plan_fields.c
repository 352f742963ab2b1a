/* See field.h; and the words of a plan's text, see plan_text.h. */
#include "plan/action.h"
#include "plan/plan_text.h"

#include <string.h>

static const char *const event_texts[EVENT_COUNT] = {
#define X(name, text) text,
#define NOTE(NAME, text, ...) text,
    PLAN_CALL_EVENTS(X)
#include "trace/notes.def"
        PLAN_STORE_EVENTS(X)
#undef X
};
static const char *const action_texts[ACTION_COUNT] = {
#define ACTION(NAME, name, ...) #name,
#include "plan/actions.def"
};
static const char *const level_texts[] = {"app", "wire"};
static const char *const position_texts[] = {"before", "after", "inside"};
static const char *const lose_texts[] = {"nothing", "rank", "node", "storage"};
static const char *const region_texts[] = {"any", "before", "logging", "beyond"};

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
#define LOWERS_TO(least) .lowers = true, .lowest = (least)

static const struct plan_field step_fields[] = {
    {"after", FORM_AFTER, AT(plan_step, after)},
    {"victims", FORM_LIST, AT(plan_step, victim), COUNTED(plan_step, victims)},
    {"target", FORM_STEP, AT(plan_step, target)},
    {"choice", FORM_INT, AT(plan_step, choice)},
    {"choice_tag", FORM_INT, AT(plan_step, choice_tag)},
    {"count", FORM_U64, AT(plan_step, count), LOWERS_TO(1)},
    {"order", FORM_LIST, AT(plan_step, order), COUNTED(plan_step, orders)},
    {"tags_apart", FORM_YES, AT(plan_step, tags_apart)},
    {"attempt", FORM_YES, AT(plan_step, attempt)},
    {"lose", FORM_WORD, AT(plan_step, lose), .words = &lose_words},
    {"lose_files", FORM_NAME, AT(plan_step, lose_files)},
    {"seed", FORM_U64, AT(plan_step, seed)},
    {"ms", FORM_U32, AT(plan_step, release_ms), LOWERS_TO(1)},
};

static const struct plan_field condition_fields[] = {
    {"event", FORM_EVENT, AT(plan_condition, event)},
    {"rank", FORM_INT, AT(plan_condition, rank)},
    {"call", FORM_NAME, AT(plan_condition, call)},
    {"name", FORM_NAME, AT(plan_condition, name)},
    {"file", FORM_NAME, AT(plan_condition, file)},
    {"peer", FORM_INT, AT(plan_condition, peer)},
    {"tag", FORM_INT, AT(plan_condition, tag)},
    {"comm", FORM_COMM, AT(plan_condition, comm)},
    {"epoch", FORM_LINE, AT(plan_condition, epoch), LOWERS_TO(1)},
    {"nth", FORM_NTH, AT(plan_condition, nth), LOWERS_TO(1)},
    {"incarnation", FORM_INT, AT(plan_condition, incarnation), LOWERS_TO(0)},
    {"level", FORM_WORD, AT(plan_condition, level), .words = &level_words},
    {"position", FORM_WORD, AT(plan_condition, position), .words = &position_words},
    {"message", FORM_NAME, AT(plan_condition, message)},
    {"within", FORM_NAME, AT(plan_condition, within)},
    {"state", FORM_STATE, AT(plan_condition, state)},
};

static const struct plan_field state_fields[] = {
    {"rank", FORM_INT, AT(plan_state, rank)},
    {"region", FORM_WORD, AT(plan_state, region), .words = &plan_region_words},
    {"line", FORM_LINE, AT(plan_state, line)},
    {"blocked", FORM_NAME, AT(plan_state, blocked)},
};

static const struct plan_field wire_fields[] = {
    {"name", FORM_NAME, AT(message_pattern, name)},
    {"comm", FORM_WIRE_ID, AT(message_pattern, comm)},
    {"tag", FORM_INT, AT(message_pattern, tag)},
    {"key_at", FORM_INT, AT(message_pattern, key_at)},
    {"key_bytes", FORM_SIZE, AT(message_pattern, key_bytes)},
    {"key", FORM_U64, AT(message_pattern, key)},
    {"epoch_at", FORM_INT, AT(message_pattern, epoch_at)},
    {"epoch_bytes", FORM_SIZE, AT(message_pattern, epoch_bytes)},
    {"carries", FORM_YES, AT(message_pattern, carries)},
};

const struct plan_fields plan_step_fields = {step_fields, LENGTH(step_fields)};
const struct plan_fields plan_condition_fields = {condition_fields, LENGTH(condition_fields)};
const struct plan_fields plan_state_fields = {state_fields, LENGTH(state_fields)};
const struct plan_fields message_pattern_fields = {wire_fields, LENGTH(wire_fields)};

static const struct plan_field *find(const struct plan_fields *fields, const char *name)
{
    for (size_t i = 0; i < fields->count; i++)
        if (strcmp(fields->field[i].name, name) == 0)
            return &fields->field[i];
    return NULL;
}

const struct plan_field *plan_step_field(const char *name)
{
    return find(&plan_step_fields, name);
}

const struct plan_field *plan_condition_field(const char *name)
{
    return find(&plan_condition_fields, name);
}

/* --- values ----------------------------------------------------------------------------------- */
int64_t plan_field_number(const struct plan_field *field, const void *whole)
{
    const void *place = (const char *)whole + field->offset;
    switch (field->form) {
    case FORM_EVENT:
        return *(const enum plan_event *)place;
    case FORM_WORD:
    case FORM_SIZE:
        return *(const uint8_t *)place;
    case FORM_YES:
        return *(const bool *)place;
    case FORM_INT:
    case FORM_STEP:
    case FORM_AFTER:
        return *(const int32_t *)place;
    case FORM_COMM:
    case FORM_U32:
        return *(const uint32_t *)place;
    case FORM_LINE:
        return *(const int64_t *)place;
    case FORM_U64:
    case FORM_NTH:
        return (int64_t) * (const uint64_t *)place;
    case FORM_LIST:
        return *(const uint32_t *)(const void *)((const char *)whole + field->counter);
    case FORM_WIRE_ID:
    case FORM_NAME:
    case FORM_STATE:
        break;
    }
    return 0;
}

void plan_field_set_number(const struct plan_field *field, void *whole, int64_t number)
{
    void *place = (char *)whole + field->offset;
    switch (field->form) {
    case FORM_EVENT:
        *(enum plan_event *)place = (enum plan_event)number;
        break;
    case FORM_WORD:
    case FORM_SIZE:
        *(uint8_t *)place = (uint8_t)number;
        break;
    case FORM_YES:
        *(bool *)place = number != 0;
        break;
    case FORM_INT:
    case FORM_STEP:
    case FORM_AFTER:
        *(int32_t *)place = (int32_t)number;
        break;
    case FORM_COMM:
    case FORM_U32:
        *(uint32_t *)place = (uint32_t)number;
        break;
    case FORM_LINE:
        *(int64_t *)place = number;
        break;
    case FORM_U64:
    case FORM_NTH:
        *(uint64_t *)place = (uint64_t)number;
        break;
    case FORM_LIST:
    case FORM_WIRE_ID:
    case FORM_NAME:
    case FORM_STATE:
        break;
    }
}

bool plan_field_is_plain(const struct plan_field *field, const void *whole, const void *plain)
{
    const struct message_pattern *wire = whole, *other = plain;
    switch (field->form) {
    case FORM_NAME:
        return strcmp((const char *)whole + field->offset, (const char *)plain + field->offset) ==
               0;
    case FORM_WIRE_ID:
        return wire->comm == other->comm && wire->comm_nth == other->comm_nth;
    case FORM_STATE:
        return ((const struct plan_condition *)whole)->states == 0;
    default:
        return plan_field_number(field, whole) == plan_field_number(field, plain);
    }
}

void plan_field_make_plain(const struct plan_field *field, void *whole, const void *plain)
{
    char *place = (char *)whole + field->offset;
    switch (field->form) {
    case FORM_NAME:
        memset(place, 0, PLAN_NAME_BYTES);
        break;
    case FORM_LIST:
        memset(place, 0, PLAN_MAX_VICTIMS * sizeof(int32_t));
        memset((char *)whole + field->counter, 0, sizeof(uint32_t));
        break;
    default:
        plan_field_set_number(field, whole, plan_field_number(field, plain));
    }
}

bool plan_field_belongs(const struct plan_field *field, enum plan_action action)
{
    return field == &step_fields[0] || action_field(action, field->name) != NULL;
}

/* --- words ------------------------------------------------------------------------------------ */
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
