/* Traces as text for people, side by side: a column for each rank, a line for each change of a
 * rank's state, in an order that respects what happened before what. Fits a terminal and a mail:
 * plain characters, no line longer than asked for. Must not know: MPI, drivers, verdicts. */
#ifndef REPORTS_TEXT_COLUMNS_H
#define REPORTS_TEXT_COLUMNS_H

#include "oracles/oracle.h"
#include "reports/text/trace_text.h"

#define COLUMNS_WIDTH_LEAST 40
#define COLUMNS_WIDTH_MOST 1000
#define COLUMNS_WIDTH_DEFAULT 100 /* where there is no terminal to ask */

/* What is shown. A change of state is a message sent or delivered, a collective, a communicator
 * made, MPI_Init and MPI_Finalize, a note, a fault, a failed call on the store, and whatever never
 * returned: of the wire and of Faultline itself. Events of the witness always are. */
struct columns_options {
    struct trace_print_options print; /* `level` or `kind` given: all of these */
    int width;                        /* characters in a line, COLUMNS_WIDTH_LEAST and up */
    const struct event_ref *witness;  /* borrowed; marked, and told in full below */
    size_t witness_count;
    uint64_t slice; /* 0: everything. Else the witness and what happened before it, the last so
                       many events; without a witness the last of the run */
};

/* Everything, without colour, as wide as a terminal has by default. */
struct columns_options columns_options_default(void);

/* Writes to `out`. Ranks for which the width has no room are left out, those of the witness last,
 * and a line says so. ERROR_IO: `out` took no more, or no temporary file. */
enum error_code columns_print(const struct trace_set *set, const struct columns_options *options,
                              FILE *out, struct error *error);

#endif
