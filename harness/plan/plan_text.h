/* The text form of a plan, as printing and parsing share it: one list of fields. Inside of
 * harness/plan only. */
#ifndef PLAN_PLAN_TEXT_H
#define PLAN_PLAN_TEXT_H

#include "plan/plan.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* One field of a line, unquoted; 64 numbers fit. */
#define PLAN_WORD_BYTES 1024
#define PLAN_PREFIX "release."

/* A choice among words: count texts, the number is the index. */
struct plan_words {
    const char *const *text;
    size_t count;
};

/* How a field is written. */
enum field_form {
    FORM_EVENT,   /* enum plan_event */
    FORM_WORD,    /* uint8_t, one of `words` */
    FORM_YES,     /* bool: yes, or left out */
    FORM_INT,     /* int32_t */
    FORM_STEP,    /* int32_t: an index of the plan, in text from 1; -1 none */
    FORM_AFTER,   /* the same, or "start" */
    FORM_COMM,    /* uint32_t id, hexadecimal */
    FORM_WIRE_ID, /* struct plan_wire's communicator: an id or world#n */
    FORM_LINE,    /* int64_t from -1 */
    FORM_U32,
    FORM_U64,
    FORM_NTH,  /* uint64_t from 1 */
    FORM_SIZE, /* uint8_t: 1, 2, 4 or 8 */
    FORM_NAME, /* char[PLAN_NAME_BYTES] */
    FORM_LIST, /* int32_t[PLAN_MAX_VICTIMS], used entries in a uint32_t at `counter` */
    FORM_STATE /* all of a condition's states; the field is repeated */
};

/* A field; offsets are in its step, condition or wire. */
struct plan_field {
    const char *name;
    enum field_form form;
    size_t offset;
    size_t counter;
    const struct plan_words *words;
    unsigned actions; /* of a step: bit per enum plan_action that it belongs to; 0: all */
};

struct plan_fields {
    const struct plan_field *field;
    size_t count;
};

/* In the order of printing. */
extern const struct plan_fields plan_step_fields;
extern const struct plan_fields plan_condition_fields;
extern const struct plan_fields plan_wire_fields;

extern const struct plan_words plan_event_words;
extern const struct plan_words plan_action_words;
extern const struct plan_words plan_region_words;

/* The COUNT of the list if there is none. */
size_t plan_word_find(const struct plan_words *words, const char *text);

#define ACTION_BIT(action) (1u << ACTION_##action)

/* What no step of the action may or must have; the text of the plan says the same. */
enum error_code plan_step_check(const struct plan_step *step, struct error *error);
enum error_code plan_wire_check(const struct plan_wire *wire, struct error *error);

/* Text that may not fit: `length` goes on counting. */
struct output {
    char *buffer;
    size_t bytes;
    size_t length;
};
__attribute__((format(printf, 2, 3))) void plan_put(struct output *out, const char *format, ...);

#endif
