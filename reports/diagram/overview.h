/* The whole run on a strip, by time: when each rank did how much, the faults, the witness. As XML
 * elements with coordinates; see reports/page/html/README.md. */
#ifndef REPORTS_DIAGRAM_OVERVIEW_H
#define REPORTS_DIAGRAM_OVERVIEW_H

#include "reports/diagram/figure.h"

/* One element <overview>; nothing of a run without events. */
void overview_write(const struct figure *figure);

#endif
