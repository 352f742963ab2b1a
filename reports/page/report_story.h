/* For report_run.c: what happened in a run, moment by moment, for somebody who knows nothing of it:
 * the faults, who died of what, who went on from where, how it ended. */
#ifndef REPORTS_PAGE_REPORT_STORY_H
#define REPORTS_PAGE_REPORT_STORY_H

#include "reports/page/report_parts.h"

/* The element <story>, with <began> and <moment>s in the order of time; nothing without traces. All
 * deaths are told; of the faults that a step of the plan did to many, the first, and how many. */
void report_put_story(struct xml *xml, const struct report_source *source);

#endif
