/* Traces as text, for tests: written by hand in oracles/golden, and by a test that keeps what it
 * found. */
#ifndef TESTS_TRACES_TEXT_TRACE_H
#define TESTS_TRACES_TEXT_TRACE_H

#include "trace/reader.h"

#include <stdio.h>

/* A text trace; its format is described in oracles/README.md and is what trace_set_write writes.
 * Errors name path, line, field and accepted values. */
enum error_code trace_set_parse(const char *path, struct trace_set *set, struct error *error);

/* The inverse, exact to the byte (padding of the header page excepted). ERROR_IO; ERROR_FORMAT, and
 * nothing is written, for a record of a kind that does not exist. */
enum error_code trace_set_write(const struct trace_set *set, FILE *out, struct error *error);

#endif
