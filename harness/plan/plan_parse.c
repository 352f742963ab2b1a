/* Steps and wires from text: see plan_text.h. */
#include "plan/plan_text.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define FIELD_NAME_BYTES 32
#define NAMES_MAX 64 /* fields of one kind of line, those of `release` counted too */

/* ERROR_FORMAT: "<what> "<text>"; did you mean ...? accepted are a, b, c". */
static enum error_code not_one_of(struct error *error, const char *what, const char *text,
                                  const struct plan_words *words)
{
    char list[384];
    struct output out = {list, sizeof list, 0};
    for (size_t i = 0; i < words->count; i++)
        plan_put(&out, "%s%s", i > 0 ? ", " : "", words->text[i]);
    const char *near = nearest_name(text, words->text, words->count);
    if (near == NULL)
        return error_set(error, ERROR_FORMAT, "unknown %s \"%s\"; accepted are %s", what, text,
                         list);
    return error_set(error, ERROR_FORMAT, "unknown %s \"%s\"; did you mean \"%s\"? accepted are %s",
                     what, text, near, list);
}

static enum error_code parse_choice(const char *what, const char *text,
                                    const struct plan_words *words, size_t *choice,
                                    struct error *error)
{
    *choice = plan_word_find(words, text);
    return *choice < words->count ? OK : not_one_of(error, what, text, words);
}

/* A whole number from least to most, in decimal or, with 0x, hexadecimal. */
static enum error_code parse_number(const char *what, const char *text, int64_t least, int64_t most,
                                    int64_t *value, struct error *error)
{
    char *end;
    errno = 0;
    int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    long long number = strtoll(text, &end, base);
    if (end == text || *end != '\0' || errno != 0 || isspace((unsigned char)*text) ||
        number < least || number > most)
        return error_set(error, ERROR_FORMAT,
                         "field \"%s\": \"%s\"; accepted are whole numbers from %" PRId64
                         " to %" PRId64,
                         what, text, least, most);
    *value = number;
    return OK;
}

static enum error_code parse_unsigned(const char *what, const char *text, uint64_t least,
                                      uint64_t *value, struct error *error)
{
    char *end;
    errno = 0;
    int base = strncmp(text, "0x", 2) == 0 ? 16 : 10;
    unsigned long long number = strtoull(text, &end, base);
    if (end == text || *end != '\0' || errno != 0 || !isdigit((unsigned char)*text) ||
        number < least)
        return error_set(error, ERROR_FORMAT,
                         "field \"%s\": \"%s\"; accepted are whole numbers from %" PRIu64
                         " to %" PRIu64,
                         what, text, least, UINT64_MAX);
    *value = number;
    return OK;
}

static enum error_code parse_list(const char *what, const char *text, int32_t *number,
                                  uint32_t *count, struct error *error)
{
    char copy[PLAN_WORD_BYTES];
    char *rest = copy;
    char *word;
    snprintf(copy, sizeof copy, "%s", text);
    *count = 0;
    while ((word = strsep(&rest, ",")) != NULL) {
        int64_t value;
        enum error_code code = parse_number(what, word, 0, INT32_MAX, &value, error);
        if (code != OK)
            return code;
        if (*count >= PLAN_MAX_VICTIMS)
            return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d numbers", what,
                             PLAN_MAX_VICTIMS);
        number[(*count)++] = (int32_t)value;
    }
    return OK;
}

static enum error_code copy_name(const char *what, const char *text, char *name,
                                 struct error *error)
{
    if (strlen(text) >= PLAN_NAME_BYTES)
        return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d bytes", what,
                         PLAN_NAME_BYTES - 1);
    strcpy(name, text);
    return OK;
}

/* --- values of several parts ------------------------------------------------------------------ */
/* The piece of `text` up to the next colon; *text is moved after it, to NULL at the end. */
static const char *next_piece(char **text)
{
    return *text != NULL ? strsep(text, ":") : NULL;
}

static enum error_code parse_region(const char *what, const char *region, const char *line,
                                    struct plan_state *state, struct error *error)
{
    size_t choice;
    int64_t number;
    enum error_code code = parse_choice("region", region, &plan_region_words, &choice, error);
    if (code != OK)
        return code;
    if (line == NULL || choice == REGION_ANY)
        return error_set(error, ERROR_FORMAT,
                         "field \"%s\": accepted are RANK:REGION:LINE, with before, logging, "
                         "beyond for REGION, and RANK:blocked:CALL",
                         what);
    code = parse_number("line of state", line, 1, INT64_MAX, &number, error);
    state->region = (uint8_t)choice;
    state->line = number;
    return code;
}

/* See put_state in plan_print.c. */
static enum error_code parse_state(const char *what, const char *text,
                                   struct plan_condition *condition, struct error *error)
{
    char copy[PLAN_WORD_BYTES];
    char *rest = copy;
    int64_t rank = PLAN_ANY;
    enum error_code code = OK;
    if (condition->states == PLAN_MAX_STATES)
        return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d of them", what,
                         PLAN_MAX_STATES);
    struct plan_state *state = &condition->state[condition->states];
    snprintf(copy, sizeof copy, "%s", text);
    const char *word = next_piece(&rest), *region = next_piece(&rest);
    if (strcmp(word, "own") != 0)
        code = parse_number("rank of state", word, 0, INT32_MAX, &rank, error);
    if (code == OK && (region == NULL || strcmp(region, "blocked") != 0))
        code = parse_region(what, region == NULL ? "" : region, next_piece(&rest), state, error);
    else if (code == OK && (rest == NULL || *rest == '\0'))
        code = error_set(error, ERROR_FORMAT,
                         "field \"%s\": RANK:blocked: needs the name of a call", what);
    if (code == OK && rest != NULL)
        code = copy_name(what, rest, state->blocked, error);
    state->rank = (int32_t)rank;
    condition->states++;
    return code;
}

static enum error_code parse_wire_id(const char *text, struct message_pattern *wire,
                                     struct error *error)
{
    static const char world[] = "world#";
    int64_t number;
    bool made = strncmp(text, world, sizeof world - 1) == 0;
    enum error_code code =
        made ? parse_number("comm", text + sizeof world - 1, 1, UINT32_MAX, &number, error)
             : parse_number("comm", text, 0, UINT32_MAX, &number, error);
    if (code != OK)
        return code;
    wire->comm = made ? 1 : (uint32_t)number;
    wire->comm_nth = made ? (uint32_t)number : 0;
    return OK;
}

static enum error_code parse_step_number(const struct plan_field *field, const char *text,
                                         int64_t *step, struct error *error)
{
    if (field->form == FORM_AFTER && strcmp(text, "start") == 0) {
        *step = PLAN_AFTER_START;
        return OK;
    }
    enum error_code code = parse_number(field->name, text, 1, PLAN_MAX_STEPS, step, error);
    *step -= 1;
    return code;
}

/* --- one value -------------------------------------------------------------------------------- */
static enum error_code parse_small(const struct plan_field *field, const char *text, int64_t *value,
                                   struct error *error)
{
    static const char *const yes[] = {"no", "yes"}, *const sizes[] = {"1", "2", "4", "8"};
    static const struct plan_words yes_words = {yes, LENGTH(yes)};
    static const struct plan_words size_words = {sizes, LENGTH(sizes)};
    const struct plan_words *words = field->form == FORM_EVENT  ? &plan_event_words
                                     : field->form == FORM_WORD ? field->words
                                     : field->form == FORM_YES  ? &yes_words
                                                                : &size_words;
    size_t choice = 0;
    enum error_code code = parse_choice(field->name, text, words, &choice, error);
    *value = field->form == FORM_SIZE ? 1 << choice % LENGTH(sizes) : (int64_t)choice;
    return code;
}

/* A value that is one number in the struct. */
static enum error_code parse_as_number(const struct plan_field *field, const char *name,
                                       const char *text, int64_t *number, struct error *error)
{
    switch (field->form) {
    case FORM_INT:
        return parse_number(name, text, INT32_MIN, INT32_MAX, number, error);
    case FORM_COMM:
    case FORM_U32:
        return parse_number(name, text, 0, UINT32_MAX, number, error);
    case FORM_LINE:
        return parse_number(name, text, -1, INT64_MAX, number, error);
    case FORM_U64:
        return parse_unsigned(name, text, 0, (uint64_t *)number, error);
    case FORM_NTH:
        return parse_unsigned(name, text, 1, (uint64_t *)number, error);
    case FORM_STEP:
    case FORM_AFTER:
        return parse_step_number(field, text, number, error);
    default:
        return parse_small(field, text, number, error);
    }
}

static enum error_code parse_value(const struct plan_field *field, const char *name,
                                   const char *text, void *whole, struct error *error)
{
    void *place = (char *)whole + field->offset;
    int64_t number = 0;
    enum error_code code;
    switch (field->form) {
    case FORM_WIRE_ID:
        return parse_wire_id(text, whole, error);
    case FORM_NAME:
        return copy_name(name, text, place, error);
    case FORM_LIST:
        return parse_list(name, text, place, (uint32_t *)(void *)((char *)whole + field->counter),
                          error);
    case FORM_STATE:
        return parse_state(name, text, whole, error);
    default:
        code = parse_as_number(field, name, text, &number, error);
        if (code == OK)
            plan_field_set_number(field, whole, number);
        return code;
    }
}

/* --- words of a line -------------------------------------------------------------------------- */
static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, tolower((unsigned char)c));
    return found == NULL ? -1 : (int)(found - digits);
}

/* One character after a backslash, or \xHH. Returns how many bytes were read, 0 if malformed. */
static size_t parse_escape(const char *text, char *out)
{
    if (text[0] == '"' || text[0] == '\\') {
        *out = text[0];
        return 1;
    }
    if (text[0] != 'x' || hex_digit(text[1]) < 0 || hex_digit(text[2]) < 0)
        return 0;
    *out = (char)(hex_digit(text[1]) * 16 + hex_digit(text[2]));
    return *out == '\0' ? 0 : 3;
}

/* The value at *text, plain or quoted, up to a blank or the end; *text is moved after it. */
static enum error_code parse_word(const char *name, const char **text, char *word,
                                  struct error *error)
{
    const char *at = *text;
    size_t length = 0;
    bool quoted = *at == '"';
    at += quoted ? 1 : 0;
    while (*at != '\0' && (quoted ? *at != '"' : !isspace((unsigned char)*at))) {
        size_t read = 1;
        word[length] = *at;
        if (quoted && *at == '\\' && (read += parse_escape(at + 1, &word[length])) == 1)
            return error_set(error, ERROR_FORMAT,
                             "field \"%s\": after \\ accepted are \\, \" and xHH", name);
        at += read;
        if (++length == PLAN_WORD_BYTES)
            return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d bytes", name,
                             PLAN_WORD_BYTES - 1);
    }
    if (quoted && *at++ != '"')
        return error_set(error, ERROR_FORMAT, "field \"%s\": no closing quote", name);
    if (*at != '\0' && !isspace((unsigned char)*at))
        return error_set(error, ERROR_FORMAT, "field \"%s\": a blank must follow its quote", name);
    word[length] = '\0';
    *text = at;
    return OK;
}

/* --- lines ------------------------------------------------------------------------------------ */
/* Fields of a kind of line, with where they go. */
struct part {
    const struct plan_fields *fields;
    const char *prefix;
    void *whole;
    uint64_t seen; /* a bit per field */
};

static const struct plan_field *find_field(struct part *parts, size_t count, const char *name,
                                           struct part **part, size_t *number)
{
    for (*part = parts; *part < parts + count; ++*part) {
        size_t prefix = strlen((*part)->prefix);
        if (strncmp(name, (*part)->prefix, prefix) != 0)
            continue;
        for (*number = 0; *number < (*part)->fields->count; ++*number)
            if (strcmp((*part)->fields->field[*number].name, name + prefix) == 0)
                return &(*part)->fields->field[*number];
    }
    return NULL;
}

static enum error_code unknown_field(const struct part *parts, size_t count, const char *name,
                                     struct error *error)
{
    char texts[NAMES_MAX][FIELD_NAME_BYTES];
    const char *names[NAMES_MAX];
    struct plan_words words = {names, 0};
    for (size_t p = 0; p < count; p++) {
        bool shown = parts[p].prefix[0] == '\0' || strncmp(name, parts[p].prefix, 3) == 0;
        for (size_t i = 0; shown && i < parts[p].fields->count && words.count < NAMES_MAX; i++) {
            snprintf(texts[words.count], FIELD_NAME_BYTES, "%s%s", parts[p].prefix,
                     parts[p].fields->field[i].name);
            names[words.count] = texts[words.count];
            words.count++;
        }
    }
    return not_one_of(error, "field", name, &words);
}

/* "name=value" at *text; *text is moved after it. */
static enum error_code parse_field(const char **text, struct part *parts, size_t count,
                                   struct error *error)
{
    char name[FIELD_NAME_BYTES];
    char word[PLAN_WORD_BYTES];
    size_t length = strcspn(*text, "= \t");
    struct part *part;
    size_t number;
    snprintf(name, sizeof name, "%.*s", (int)length, *text);
    const struct plan_field *field = find_field(parts, count, name, &part, &number);
    if (field == NULL)
        return unknown_field(parts, count, name, error);
    if ((*text)[length] != '=')
        return error_set(error, ERROR_FORMAT, "field \"%s\": needs a value, %s=...", name, name);
    if (field->form != FORM_STATE && (part->seen & UINT64_C(1) << number) != 0)
        return error_set(error, ERROR_FORMAT, "field \"%s\" is given twice", name);
    part->seen |= UINT64_C(1) << number;
    *text += length + 1;
    enum error_code code = parse_word(name, text, word, error);
    return code == OK ? parse_value(field, name, word, part->whole, error) : code;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

static enum error_code parse_fields(const char *text, struct part *parts, size_t count,
                                    struct error *error)
{
    enum error_code code = OK;
    for (text = skip_blanks(text); code == OK && *text != '\0'; text = skip_blanks(text))
        code = parse_field(&text, parts, count, error);
    return code;
}

static bool has(const struct part *part, const char *name)
{
    for (size_t i = 0; i < part->fields->count; i++)
        if (strcmp(part->fields->field[i].name, name) == 0)
            return (part->seen & UINT64_C(1) << i) != 0;
    return false;
}

/* A protocol's message is a thing of the wire. */
static void imply_level(const struct part *part, struct plan_condition *condition)
{
    if (condition->message[0] != '\0' && !has(part, "level"))
        condition->level = 1;
}

enum error_code plan_step_parse(const char *line, struct plan_step *step, struct error *error)
{
    char action[FIELD_NAME_BYTES];
    const char *at = skip_blanks(line);
    size_t length = strcspn(at, " \t\r\n");
    size_t choice;
    snprintf(action, sizeof action, "%.*s", (int)length, at);
    enum error_code code = parse_choice("action", action, &plan_action_words, &choice, error);
    if (code != OK)
        return code;
    struct plan_step parsed = plan_step_default((enum plan_action)choice);
    struct part parts[] = {{&plan_step_fields, "", &parsed, 0},
                           {&plan_condition_fields, "", &parsed.when, 0},
                           {&plan_condition_fields, PLAN_PREFIX, &parsed.release, 0}};
    code = parse_fields(at + length, parts, LENGTH(parts), error);
    imply_level(&parts[1], &parsed.when);
    imply_level(&parts[2], &parsed.release);
    if (code == OK)
        code = plan_step_check(&parsed, error);
    if (code == OK)
        *step = parsed;
    return code;
}

enum error_code message_pattern_parse(const char *line, struct message_pattern *wire,
                                      struct error *error)
{
    struct message_pattern parsed = message_pattern_default();
    struct part part = {&message_pattern_fields, "", &parsed, 0};
    const char *at = skip_blanks(line);
    size_t length = strcspn(at, " \t\r\n");
    if (length != 4 || strncmp(at, "wire", 4) != 0)
        return error_set(error, ERROR_FORMAT, "a message of the wire begins with \"wire\"");
    enum error_code code = parse_fields(at + length, &part, 1, error);
    if (code == OK)
        code = message_pattern_check(&parsed, error);
    if (code == OK)
        *wire = parsed;
    return code;
}
