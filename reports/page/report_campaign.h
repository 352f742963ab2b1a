/* What campaign.json says of a set of runs, for a page. */
#ifndef REPORTS_PAGE_REPORT_CAMPAIGN_H
#define REPORTS_PAGE_REPORT_CAMPAIGN_H

#include "reports/page/report_coverage.h"

/* <campaign>: what was asked for, why it ended, canaries, subjects with their bounds. */
void campaign_write(struct xml *xml, const struct stored_set *set);

/* <groups>, as for other sets: the campaign has counted all of its failures, its folders hold some.
 */
void campaign_write_groups(struct xml *xml, const struct stored_set *set);

/* Attributes of a run: its folder as seen from the page, and its own page if it has one. */
void stored_put_place(struct xml *xml, const char *folder, bool has_page);

/* Adds up, of all subjects: runs, runs in which a claim's situation arose, and violations. */
void campaign_coverage_add(const struct stored_set *set, struct coverage *all);

#endif
