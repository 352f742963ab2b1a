/* For arrows.c: which events of a slice are calls of the same collective. The application's: the
 * k-th call of each member on a communicator, over effective histories. The wire's: as links.h has
 * them. Must not know: messages. */
#ifndef REPORTS_DIAGRAM_MEETINGS_H
#define REPORTS_DIAGRAM_MEETINGS_H

#include "reports/walk/arrows.h"

/* Fills arrows->meeting. ERROR_MEMORY. */
enum error_code meetings_read(const struct slice *slice, const struct links *links,
                              struct arrows *arrows, struct error *error);

#endif
