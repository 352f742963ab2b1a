/* The space-time diagram of a run as XML elements, for the templates to make SVG and tables of:
 * coordinates and words, no colours. The form is described in reports/page/html/README.md. Must not
 * know: verdicts, HTML. */
#ifndef REPORTS_DIAGRAM_DIAGRAM_H
#define REPORTS_DIAGRAM_DIAGRAM_H

#include "oracles/oracle.h"
#include "plan/plan.h"
#include "reports/text/xml.h"
#include "trace/reader.h"

#define DIAGRAM_EVENTS_MOST 1200

/* All borrowed. */
struct diagram_wish {
    const char *id; /* what the ids of its events begin with: letters */
    const struct trace_set *set;
    const struct event_ref *witness; /* in the order in which they are lettered: A, B, ... */
    size_t witness_count;
    const struct event_ref *near; /* no witness, but to be shown with what is around them */
    size_t near_count;
    const struct plan *plan; /* of the run; NULL: not known */
};

/* One element <diagram>. ERROR_IO: no temporary file for the links; nothing is written then. */
enum error_code diagram_write(struct xml *xml, const struct diagram_wish *wish,
                              struct error *error);

/* "r1-0-83", the id of an event in a page. Returns buffer. */
#define DIAGRAM_ID_BYTES 64
const char *diagram_id(const struct event_ref *event, char buffer[DIAGRAM_ID_BYTES]);

/* "killed-r1-0": what a row of the table of events says of the rank that is killed there. */
const char *diagram_killed_id(int rank, int incarnation, char buffer[DIAGRAM_ID_BYTES]);

#endif
