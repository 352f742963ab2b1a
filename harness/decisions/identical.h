/* Two runs of the step engine that have decided the same: a program that is deterministic leaves
 * the same traces then, byte by byte. Must not know: the driver. */
#ifndef DECISIONS_IDENTICAL_H
#define DECISIONS_IDENTICAL_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stddef.h>

/* false: all records are the same. true: `text` (bytes long) describes the first that is not, in
 * the order of time. `cut`: both runs were ended from outside, anywhere; what only one of them has
 * come to is no difference then. */
bool traces_differ(const struct trace_set *then, const struct trace_set *now, bool cut, char *text,
                   size_t bytes);

#endif
