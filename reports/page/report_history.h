/* How a campaign went, from its journal: runs, kinds of failure and what was covered, over the time
 * that it took. */
#ifndef REPORTS_PAGE_REPORT_HISTORY_H
#define REPORTS_PAGE_REPORT_HISTORY_H

#include "reports/page/stored_set.h"
#include "reports/text/xml.h"

/* <history>, of a set that is a campaign; nothing if its journal has no runs. Lines that are
 * damaged are left out and counted. */
void history_write(struct xml *xml, const struct stored_set *set);

#endif
