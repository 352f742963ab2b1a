/* Traces as text for people: one line per event, merged over ranks by time. Reads the traces once,
 * from the first record to the last, and keeps nothing: its memory grows with the number of traces
 * only. Must not know: MPI, drivers, verdicts. */
#ifndef REPORTS_TEXT_TRACE_TEXT_H
#define REPORTS_TEXT_TRACE_TEXT_H

#include "base/error.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* What to print. Start from trace_print_options_default. */
struct trace_print_options {
    int rank;        /* -1: all */
    int incarnation; /* -1: all */
    int level;       /* enum level; -1: all */
    int kind;        /* enum record_kind; -1: all */
    uint64_t from;   /* index in its trace, as in r2#1:e9, of the first event and of the last; */
    uint64_t to;     /* UINT64_MAX: to the end */
    uint64_t limit;  /* lines; 0: no limit. The last line says how to see more */
    bool colour;
};

/* All events of all ranks, without limit and colour. */
struct trace_print_options trace_print_options_default(void);

/* Writes to `out`. Columns: seconds since the start of the run, event (r<rank>#<incarnation>:
 * e<index>), level, duration, call, what it was about. A call without an end is "in progress"; a
 * record that was never finished is "torn". A line has at most TRACE_LINE_BYTES
 * (trace_line.h). ERROR_IO: `out` took no more. */
enum error_code trace_print(const struct trace_set *set, const struct trace_print_options *options,
                            FILE *out, struct error *error);

/* Number of a record kind or a level by name, as an option gives it; -1 if there is none. */
int trace_kind_from_text(const char *text);
int trace_level_from_text(const char *text);

#endif
