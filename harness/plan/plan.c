/* See plan.h. The text form is listed once, in `fields`: printing and parsing both go by it. */
#include "plan/plan.h"

#include "base/nearest.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))
#define WORD_BYTES 1024 /* one field of a line, unquoted; 64 victims fit */

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

/* How a field is written. */
enum field_form {
    FORM_EVENT,
    FORM_LEVEL,
    FORM_POSITION,
    FORM_INT,
    FORM_ID,
    FORM_EPOCH,
    FORM_NTH,
    FORM_NAME,
    FORM_VICTIMS,
};

/* In the order of printing. offset: in struct plan_step. */
static const struct field {
    const char *name;
    enum field_form form;
    size_t offset;
} fields[] = {
#define FIELD(member) offsetof(struct plan_step, when.member)
    {"victims", FORM_VICTIMS, offsetof(struct plan_step, victim)},
    {"event", FORM_EVENT, FIELD(event)},
    {"rank", FORM_INT, FIELD(rank)},
    {"incarnation", FORM_INT, FIELD(incarnation)},
    {"peer", FORM_INT, FIELD(peer)},
    {"tag", FORM_INT, FIELD(tag)},
    {"comm", FORM_ID, FIELD(comm)},
    {"epoch", FORM_EPOCH, FIELD(epoch)},
    {"nth", FORM_NTH, FIELD(nth)},
    {"level", FORM_LEVEL, FIELD(level)},
    {"position", FORM_POSITION, FIELD(position)},
    {"call", FORM_NAME, FIELD(call)},
    {"name", FORM_NAME, FIELD(name)},
#undef FIELD
};

/* --- the list --------------------------------------------------------------------------------- */
void plan_init(struct plan *plan)
{
    memset(plan, 0, sizeof *plan);
}

void plan_release(struct plan *plan)
{
    free(plan->steps);
    plan_init(plan);
}

static struct plan_condition condition_default(void)
{
    struct plan_condition condition;
    memset(&condition, 0, sizeof condition);
    condition.rank = condition.incarnation = condition.peer = condition.tag = PLAN_ANY;
    condition.epoch = -1;
    condition.nth = 1;
    return condition;
}

struct plan_step plan_step_default(enum plan_action action)
{
    struct plan_step step;
    memset(&step, 0, sizeof step);
    step.action = action;
    step.after = PLAN_AFTER_PREVIOUS;
    step.when = step.release = condition_default();
    step.choice_tag = PLAN_ANY;
    step.count = 1;
    return step;
}

enum error_code plan_add(struct plan *plan, const struct plan_step *step, struct error *error)
{
    if (plan->count >= PLAN_MAX_STEPS)
        return error_set(error, ERROR_LIMIT, "a plan has at most %d steps", PLAN_MAX_STEPS);
    struct plan_step *steps = realloc(plan->steps, (plan->count + 1) * sizeof *steps);
    if (steps == NULL)
        return error_set(error, ERROR_MEMORY, "no memory for step %zu of a plan", plan->count + 1);
    plan->steps = steps;
    steps[plan->count++] = *step;
    return OK;
}

/* --- names ------------------------------------------------------------------------------------ */
static size_t index_of(const char *text, const char *const *texts, size_t count)
{
    size_t i = 0;
    while (i < count && strcmp(texts[i], text) != 0)
        i++;
    return i;
}

enum plan_event plan_event_from_text(const char *text)
{
    return (enum plan_event)index_of(text, event_texts, EVENT_COUNT);
}

enum plan_action plan_action_from_text(const char *text)
{
    return (enum plan_action)index_of(text, action_texts, ACTION_COUNT);
}

const char *plan_event_text(enum plan_event event)
{
    return (unsigned)event < EVENT_COUNT ? event_texts[event] : "?";
}

const char *plan_action_text(enum plan_action action)
{
    return (unsigned)action < ACTION_COUNT ? action_texts[action] : "?";
}

/* --- printing --------------------------------------------------------------------------------- */
/* Text that may not fit: `length` goes on counting. */
struct output {
    char *buffer;
    size_t bytes;
    size_t length;
};

__attribute__((format(printf, 2, 3))) static void put(struct output *out, const char *format, ...)
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
        if (!isalnum((unsigned char)*text) && strchr("_-.:/+", *text) == NULL)
            return false;
    return true;
}

/* Quoted where needed, so that a line stays one line and words stay words. */
static void put_name(struct output *out, const char *name)
{
    if (is_plain(name)) {
        put(out, "%s", name);
        return;
    }
    put(out, "\"");
    for (; *name != '\0'; name++) {
        unsigned char c = (unsigned char)*name;
        if (c == '"' || c == '\\')
            put(out, "\\%c", c);
        else if (c < ' ' || c == 127)
            put(out, "\\x%02x", c);
        else
            put(out, "%c", c);
    }
    put(out, "\"");
}

static void put_victims(struct output *out, const struct plan_step *step)
{
    for (uint32_t i = 0; i < step->victims && i < PLAN_MAX_VICTIMS; i++)
        put(out, "%s%" PRId32, i > 0 ? "," : "", step->victim[i]);
}

static void put_value(struct output *out, const struct plan_step *step, const struct field *field)
{
    const void *value = (const char *)step + field->offset;
    switch (field->form) {
    case FORM_EVENT:
        put(out, "%s", plan_event_text(step->when.event));
        break;
    case FORM_LEVEL:
        put(out, "%s", level_texts[step->when.level % LENGTH(level_texts)]);
        break;
    case FORM_POSITION:
        put(out, "%s", position_texts[step->when.position % LENGTH(position_texts)]);
        break;
    case FORM_INT:
        put(out, "%" PRId32, *(const int32_t *)value);
        break;
    case FORM_ID:
        put(out, "0x%" PRIx32, *(const uint32_t *)value);
        break;
    case FORM_EPOCH:
        put(out, "%" PRId64, *(const int64_t *)value);
        break;
    case FORM_NTH:
        put(out, "%" PRIu64, *(const uint64_t *)value);
        break;
    case FORM_NAME:
        put_name(out, value);
        break;
    case FORM_VICTIMS:
        put_victims(out, step);
        break;
    }
}

/* Two steps agree in a field: used against the default step, to leave the field out. */
static bool same_value(const struct plan_step *a, const struct plan_step *b,
                       const struct field *field)
{
    const char *left = (const char *)a + field->offset;
    const char *right = (const char *)b + field->offset;
    switch (field->form) {
    case FORM_EVENT:
        return a->when.event == b->when.event;
    case FORM_LEVEL:
    case FORM_POSITION:
        return *left == *right;
    case FORM_INT:
    case FORM_ID:
        return memcmp(left, right, sizeof(int32_t)) == 0;
    case FORM_EPOCH:
    case FORM_NTH:
        return memcmp(left, right, sizeof(int64_t)) == 0;
    case FORM_NAME:
        return strcmp(left, right) == 0;
    case FORM_VICTIMS:
        return a->victims == b->victims;
    }
    return false;
}

size_t plan_step_print(const struct plan_step *step, char *buffer, size_t bytes)
{
    struct plan_step plain = plan_step_default(step->action);
    struct output out = {buffer, bytes, 0};
    put(&out, "%s", plan_action_text(step->action));
    for (size_t i = 0; i < LENGTH(fields); i++) {
        if (same_value(step, &plain, &fields[i]))
            continue;
        put(&out, " %s=", fields[i].name);
        put_value(&out, step, &fields[i]);
    }
    return out.length;
}

/* --- parsing ---------------------------------------------------------------------------------- */
/* ERROR_FORMAT: "<what> "<text>"; did you mean ...? accepted are a, b, c". */
static enum error_code not_one_of(struct error *error, const char *what, const char *text,
                                  const char *const *texts, size_t count)
{
    char list[256];
    struct output out = {list, sizeof list, 0};
    for (size_t i = 0; i < count; i++)
        put(&out, "%s%s", i > 0 ? ", " : "", texts[i]);
    const char *near = nearest_name(text, texts, count);
    if (near == NULL)
        return error_set(error, ERROR_FORMAT, "unknown %s \"%s\"; accepted are %s", what, text,
                         list);
    return error_set(error, ERROR_FORMAT, "unknown %s \"%s\"; did you mean \"%s\"? accepted are %s",
                     what, text, near, list);
}

static enum error_code parse_choice(const char *what, const char *text, const char *const *texts,
                                    size_t count, size_t *choice, struct error *error)
{
    *choice = index_of(text, texts, count);
    return *choice < count ? OK : not_one_of(error, what, text, texts, count);
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

static enum error_code parse_victims(const char *text, struct plan_step *step, struct error *error)
{
    char copy[WORD_BYTES];
    char *rest = copy;
    char *word;
    snprintf(copy, sizeof copy, "%s", text);
    step->victims = 0;
    while ((word = strsep(&rest, ",")) != NULL) {
        int64_t rank;
        enum error_code code = parse_number("victims", word, 0, INT32_MAX, &rank, error);
        if (code != OK)
            return code;
        if (step->victims >= PLAN_MAX_VICTIMS)
            return error_set(error, ERROR_FORMAT, "field \"victims\": at most %d ranks",
                             PLAN_MAX_VICTIMS);
        step->victim[step->victims++] = (int32_t)rank;
    }
    return OK;
}

static enum error_code parse_value(const struct field *field, const char *text,
                                   struct plan_step *step, struct error *error)
{
    void *place = (char *)step + field->offset;
    int64_t number = 0;
    size_t choice = 0;
    enum error_code code = OK;
    switch (field->form) {
    case FORM_EVENT:
        code = parse_choice("event", text, event_texts, EVENT_COUNT, &choice, error);
        step->when.event = code == OK ? (enum plan_event)choice : EVENT_NONE;
        break;
    case FORM_LEVEL:
        code = parse_choice("level", text, level_texts, LENGTH(level_texts), &choice, error);
        step->when.level = (uint8_t)choice;
        break;
    case FORM_POSITION:
        code =
            parse_choice("position", text, position_texts, LENGTH(position_texts), &choice, error);
        step->when.position = (uint8_t)choice;
        break;
    case FORM_INT:
        code = parse_number(field->name, text, INT32_MIN, INT32_MAX, &number, error);
        *(int32_t *)place = (int32_t)number;
        break;
    case FORM_ID:
        code = parse_number(field->name, text, 0, UINT32_MAX, &number, error);
        *(uint32_t *)place = (uint32_t)number;
        break;
    case FORM_EPOCH:
        code = parse_number(field->name, text, -1, INT64_MAX, &number, error);
        *(int64_t *)place = number;
        break;
    case FORM_NTH:
        code = parse_number(field->name, text, 1, INT64_MAX, &number, error);
        *(uint64_t *)place = (uint64_t)number;
        break;
    case FORM_NAME:
        if (strlen(text) >= PLAN_NAME_BYTES)
            return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d bytes", field->name,
                             PLAN_NAME_BYTES - 1);
        strcpy(place, text);
        break;
    case FORM_VICTIMS:
        code = parse_victims(text, step, error);
        break;
    }
    return code;
}

static int hex_digit(char c)
{
    const char *digits = "0123456789abcdef";
    const char *found = c == '\0' ? NULL : strchr(digits, tolower((unsigned char)c));
    return found == NULL ? -1 : (int)(found - digits);
}

/* One character behind a backslash, or \xHH. Returns how many bytes were read, 0 if malformed. */
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

/* The value at *text, plain or quoted, up to a blank or the end; *text is moved behind it. */
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
        if (++length == WORD_BYTES)
            return error_set(error, ERROR_FORMAT, "field \"%s\": at most %d bytes", name,
                             WORD_BYTES - 1);
    }
    if (quoted && *at++ != '"')
        return error_set(error, ERROR_FORMAT, "field \"%s\": no closing quote", name);
    if (*at != '\0' && !isspace((unsigned char)*at))
        return error_set(error, ERROR_FORMAT, "field \"%s\": a blank must follow its quote", name);
    word[length] = '\0';
    *text = at;
    return OK;
}

/* "name=value" at *text; *text is moved behind it. `seen` has a bit per field. */
static enum error_code parse_field(const char **text, struct plan_step *step, unsigned *seen,
                                   struct error *error)
{
    const char *names[LENGTH(fields)];
    for (size_t i = 0; i < LENGTH(fields); i++)
        names[i] = fields[i].name;
    char name[32];
    char word[WORD_BYTES];
    size_t length = strcspn(*text, "= \t");
    snprintf(name, sizeof name, "%.*s", (int)length, *text);
    size_t i = index_of(name, names, LENGTH(fields));
    if (i == LENGTH(fields))
        return not_one_of(error, "field", name, names, LENGTH(fields));
    if ((*text)[length] != '=')
        return error_set(error, ERROR_FORMAT, "field \"%s\": needs a value, %s=...", name, name);
    if (*seen & 1u << i)
        return error_set(error, ERROR_FORMAT, "field \"%s\" is given twice", name);
    *seen |= 1u << i;
    *text += length + 1;
    enum error_code code = parse_word(name, text, word, error);
    return code == OK ? parse_value(&fields[i], word, step, error) : code;
}

static enum error_code validate(const struct plan_step *step, struct error *error)
{
    if (step->action == ACTION_KILL && step->victims == 0)
        return error_set(error, ERROR_FORMAT, "kill needs field \"victims\": ranks, as in 1,2");
    if (step->action != ACTION_KILL && step->victims > 0)
        return error_set(error, ERROR_FORMAT, "field \"victims\" belongs to kill, not to %s",
                         plan_action_text(step->action));
    if (step->action != ACTION_KILL && step->when.position == POSITION_INSIDE)
        return error_set(error, ERROR_FORMAT,
                         "field \"position\": inside belongs to kill; accepted for %s are before, "
                         "after",
                         plan_action_text(step->action));
    return OK;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r\n");
}

enum error_code plan_step_parse(const char *line, struct plan_step *step, struct error *error)
{
    char action[32];
    const char *at = skip_blanks(line);
    size_t length = strcspn(at, " \t\r\n");
    unsigned seen = 0;
    size_t choice;
    snprintf(action, sizeof action, "%.*s", (int)length, at);
    enum error_code code =
        parse_choice("action", action, action_texts, ACTION_COUNT, &choice, error);
    if (code != OK)
        return code;
    struct plan_step parsed = plan_step_default((enum plan_action)choice);
    for (at = skip_blanks(at + length); *at != '\0'; at = skip_blanks(at))
        if ((code = parse_field(&at, &parsed, &seen, error)) != OK)
            return code;
    if ((code = validate(&parsed, error)) != OK)
        return code;
    *step = parsed;
    return OK;
}

/* --- files ------------------------------------------------------------------------------------ */
static enum error_code read_lines(FILE *file, const char *path, struct plan *plan,
                                  struct error *error)
{
    char *line = NULL;
    size_t bytes = 0;
    enum error_code code = OK;
    for (unsigned number = 1; code == OK && getline(&line, &bytes, file) >= 0; number++) {
        struct plan_step step;
        struct error reason = {OK, ""};
        const char *text = skip_blanks(line);
        if (*text == '\0' || *text == '#')
            continue;
        code = plan_step_parse(text, &step, &reason);
        if (code == OK)
            code = plan_add(plan, &step, &reason);
        if (code != OK)
            error_set(error, code, "%s:%u: %.400s", path, number, reason.text);
    }
    if (code == OK && ferror(file))
        code = error_set(error, ERROR_IO, "cannot read plan %s: %s", path, strerror(errno));
    free(line);
    return code;
}

enum error_code plan_read(const char *path, struct plan *plan, struct error *error)
{
    plan_init(plan);
    FILE *file = fopen(path, "re");
    if (file == NULL)
        return error_set(error, ERROR_IO, "cannot read plan %s: %s", path, strerror(errno));
    enum error_code code = read_lines(file, path, plan, error);
    fclose(file);
    if (code != OK)
        plan_release(plan);
    return code;
}

static bool print_step(FILE *file, const struct plan_step *step)
{
    size_t length = plan_step_print(step, NULL, 0);
    char *line = malloc(length + 1);
    if (line == NULL)
        return false;
    plan_step_print(step, line, length + 1);
    bool good = fprintf(file, "%s\n", line) >= 0;
    free(line);
    return good;
}

static bool print_steps(const char *path, const struct plan *plan)
{
    FILE *file = fopen(path, "we");
    if (file == NULL)
        return false;
    bool good = fputs("# One step a line, done one after the other.\n", file) >= 0;
    for (size_t i = 0; good && i < plan->count; i++)
        good = print_step(file, &plan->steps[i]);
    return fclose(file) == 0 && good;
}

enum error_code plan_write(const char *path, const struct plan *plan, struct error *error)
{
    char temporary[4096];
    if (snprintf(temporary, sizeof temporary, "%s.%d", path, (int)getpid()) >=
        (int)sizeof temporary)
        return error_set(error, ERROR_LIMIT, "path of plan is too long: %s", path);
    if (print_steps(temporary, plan) && rename(temporary, path) == 0)
        return OK;
    error_set(error, ERROR_IO, "cannot write plan %s: %s", path, strerror(errno));
    unlink(temporary);
    return ERROR_IO;
}
