/* Who waits for whom at the end of a run that hung: a graph, its ranks on a circle, as XML. Must
 * not know: why the run ended, HTML. */
#ifndef REPORTS_DIAGRAM_WAITS_H
#define REPORTS_DIAGRAM_WAITS_H

#include "reports/text/xml.h"
#include "trace/reader.h"

#define WAITS_RANKS_MOST 48 /* more are only told in words */

/* One element <waits>; none if nobody waits. */
void waits_write(struct xml *xml, const struct trace_set *set);

#endif
