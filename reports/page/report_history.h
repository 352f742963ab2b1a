/* How a campaign went, from its journal: runs, kinds of failure and what was covered, over the time
 * that it took. */
#ifndef REPORTS_PAGE_REPORT_HISTORY_H
#define REPORTS_PAGE_REPORT_HISTORY_H

#include "reports/page/stored_set.h"
#include "reports/text/xml.h"

/* <history>, of a set that is a campaign; nothing if its journal has no runs. Lines that are
 * damaged are left out and counted. */
void history_write(struct xml *xml, const struct stored_set *set);

/* Attributes: how many runs ended in which way, and how many there are. */
void ends_write(struct xml *xml, const uint64_t count[STORED_ENDS]);

/* The parts of a bar, from below: <part> for each way to end. One of `highest` runs is
 * ENDS_BAR_HEIGHT high. */
#define ENDS_BAR_HEIGHT 96
void ends_write_bar(struct xml *xml, const uint64_t count[STORED_ENDS], uint64_t highest);

/* The sum over all ways to end. */
uint64_t ends_total(const uint64_t count[STORED_ENDS]);

#endif
