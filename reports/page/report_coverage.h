/* What the runs of a set have shown of each claim, for a page or a terminal: how often its
 * situation arose, how often it was violated, and the coverage claims as matrices of regions. */
#ifndef REPORTS_PAGE_REPORT_COVERAGE_H
#define REPORTS_PAGE_REPORT_COVERAGE_H

#include "reports/page/stored_set.h"
#include "reports/text/xml.h"

/* Of one claim, over all runs. */
struct coverage {
    uint64_t runs;       /* that judged it */
    uint64_t situations; /* in which it could have been broken */
    uint64_t violations;
    uint64_t expected; /* of the violations, those of scenarios that ask for them */
};

/* Adds up one run; `all` has claim_count entries. expected: the claim or family of which its
 * scenario expects a violation, or "". */
void coverage_add(const struct stored_verdict *stored, const char *expected, struct coverage *all);

/* <claim> elements for what was judged, and a <matrix> with <cell> elements for each table of
 * regions of which a cell was judged. */
void coverage_write(struct xml *xml, const struct coverage *all);

/* The same tables as comments of TAP: how often each cell was seen, "-" for what cannot be. */
void coverage_print_matrices(FILE *out, const struct coverage *all);

#endif
