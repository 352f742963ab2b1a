/* Traces that lack records, told on the terminal. */
#ifndef RUN_LOST_H
#define RUN_LOST_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdio.h>

/* A line on `out` for each trace of *set that lacks records: rank, incarnation, how many. Returns
 * whether there is one. */
bool lost_tell(const struct trace_set *set, FILE *out);

#endif
