/* TAP version 13 with YAML diagnostics. Knows nothing of runs: the driver says what to print.
 * Everything is bounded, and every scalar is a JSON string, so that no reader guesses a type. */
#ifndef REPORTS_RESULTS_TAP_H
#define REPORTS_RESULTS_TAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#define TAP_NAME_BYTES 256    /* longer names are cut */
#define TAP_STRING_BYTES 2048 /* so are longer strings */

/* "TAP version 13"; then "1..count", once, before or after all lines. */
void tap_header(FILE *out);
void tap_plan(FILE *out, size_t count);

/* For people; one line whatever the text holds (system/printable.h). */
void tap_bail_out(FILE *out, const char *why);
void tap_comment(FILE *out, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "not ok 17 - name # remark". remark may be NULL. Characters of the name outside
 * [A-Za-z0-9_./:+=,() -] become '_', since they would need escaping. */
void tap_line(FILE *out, bool ok, int number, const char *name, const char *remark);

/* One block between begin and end: `key: "text"`, `key: [ "a", "b" ]`, or a list one line each. */
void tap_block_begin(FILE *out);
void tap_string(FILE *out, const char *key, const char *text);
void tap_row(FILE *out, const char *key, const char *const *texts, size_t count);
void tap_list(FILE *out, const char *key);
void tap_item(FILE *out, const char *text);
void tap_block_end(FILE *out);

#endif
