/* One event of a trace as a line of text. Whatever comes from a trace is escaped (\xNN). Must not
 * know: other events (but for the call that a fault was done to), MPI, drivers. */
#ifndef REPORTS_TEXT_TRACE_LINE_H
#define REPORTS_TEXT_TRACE_LINE_H

#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

#define TRACE_LINE_BYTES 200 /* longer lines are cut and end in "..." */

/* The whole line, as trace_text.h describes its columns. start: ticks of the start of the run; at:
 * of the event. */
void trace_line(const struct trace *trace, uint64_t index, uint64_t start, uint64_t at,
                char text[TRACE_LINE_BYTES + 1]);

/* What the call was about, as in the last column, without the call's name. */
void trace_event_words(const struct trace *trace, uint64_t index, char text[TRACE_LINE_BYTES + 1]);

/* What the event is called: "MPI_Send" of the application, "PMPI_Send" below it, "note checkpoint",
 * "fault kill", "storage write". Of a closed list: nothing of it comes from the trace. */
#define TRACE_EVENT_NAME_BYTES 64
const char *trace_event_name(const struct record *record, char buffer[TRACE_EVENT_NAME_BYTES]);

/* The call on the store that the fault, a FAULT_STORAGE, was done to: the event before it on its
 * thread. false: it is not there. */
bool trace_fault_call(const struct trace *trace, uint64_t fault, uint64_t *call);

#endif
