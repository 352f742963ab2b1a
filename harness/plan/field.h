/* The fields of steps, conditions and wires, a list for each: text is printed and parsed by them,
 * steps are checked, read from scenarios and written as such, and made smaller. */
#ifndef PLAN_FIELD_H
#define PLAN_FIELD_H

#include "plan/plan.h"

/* A choice among words: count texts, the number is the index. */
struct plan_words {
    const char *const *text;
    size_t count;
};

/* How a field is written, and what it is in its struct. */
enum field_form {
    FORM_EVENT,   /* enum plan_event */
    FORM_WORD,    /* uint8_t, one of `words` */
    FORM_YES,     /* bool: yes, or left out */
    FORM_INT,     /* int32_t */
    FORM_STEP,    /* int32_t: an index of the plan, in text from 1; -1 none */
    FORM_AFTER,   /* the same, or "start" */
    FORM_COMM,    /* uint32_t id, hexadecimal */
    FORM_WIRE_ID, /* struct message_pattern's communicator: an id or world#n */
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
    bool lowers;    /* a number that may be lowered while a plan is made smaller */
    int64_t lowest; /* to this */
};

struct plan_fields {
    const struct plan_field *field;
    size_t count;
};

/* In the order of printing. */
extern const struct plan_fields plan_step_fields;
extern const struct plan_fields plan_condition_fields;
extern const struct plan_fields plan_state_fields; /* of a condition, in scenarios */
extern const struct plan_fields message_pattern_fields;

/* Of steps, of conditions; NULL: there is none of this name. */
const struct plan_field *plan_step_field(const char *name);
const struct plan_field *plan_condition_field(const char *name);

/* `whole` is the step, condition or wire that has the field, `plain` one with nothing asked for. */

/* A number; of a word its index, of a list its length. Not of names, states and wires' ids: 0. */
int64_t plan_field_number(const struct plan_field *field, const void *whole);
/* The same; nothing is set of lists, names, states and wires' ids. */
void plan_field_set_number(const struct plan_field *field, void *whole, int64_t number);

/* The field has in `whole` what it has in `plain`: nothing is asked for by it. */
bool plan_field_is_plain(const struct plan_field *field, const void *whole, const void *plain);
/* Not of states and wires' ids. */
void plan_field_make_plain(const struct plan_field *field, void *whole, const void *plain);

/* Steps of the action have the field (those that all have among them). */
bool plan_field_belongs(const struct plan_field *field, enum plan_action action);

#endif
