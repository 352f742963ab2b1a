/* What printing, parsing and checking the text of a plan share. Inside of harness/plan only. */
#ifndef PLAN_PLAN_TEXT_H
#define PLAN_PLAN_TEXT_H

#include "plan/field.h"

#define LENGTH(array) (sizeof(array) / sizeof((array)[0]))

/* One field of a line, unquoted; 64 numbers fit. */
#define PLAN_WORD_BYTES 1024
#define PLAN_PREFIX "release."

extern const struct plan_words plan_event_words;
extern const struct plan_words plan_action_words;
extern const struct plan_words plan_region_words;

/* The COUNT of the list if there is none. */
size_t plan_word_find(const struct plan_words *words, const char *text);

/* What no step of the action may or must have; the text of the plan says the same. */
enum error_code plan_step_check(const struct plan_step *step, struct error *error);
enum error_code message_pattern_check(const struct message_pattern *wire, struct error *error);

/* Text that may not fit: `length` goes on counting. */
struct output {
    char *buffer;
    size_t bytes;
    size_t length;
};
__attribute__((format(printf, 2, 3))) void plan_put(struct output *out, const char *format, ...);

#endif
