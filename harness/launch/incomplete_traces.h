/* Traces that lack records, reported on the terminal. */
#ifndef LAUNCH_INCOMPLETE_TRACES_H
#define LAUNCH_INCOMPLETE_TRACES_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdio.h>

/* A line on `out` for each trace of *set that lacks records: rank, incarnation, how many. Returns
 * whether there is one. */
bool incomplete_traces_print(const struct trace_set *set, FILE *out);

#endif
