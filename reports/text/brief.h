/* Of a slice the little that fits on a screen: the witness (or the deaths, where there is none),
 * the other ends of its messages, and what stands next to it. Must not know: XML. */
#ifndef REPORTS_TEXT_BRIEF_H
#define REPORTS_TEXT_BRIEF_H

#include "reports/walk/layout.h"

#define BRIEF_WIDTH 1180.0 /* of a picture that is seen without scrolling */
#define BRIEF_ROWS 6       /* ranks, as long as the witness itself does not need more */
#define BRIEF_EVENTS 40

/* shown: by event, to be filled. letters, column_width: as for layout_wish. False: there is nothing
 * to be brief about (no witness, no death), or all of the slice fits. */
bool brief_choose(const struct slice *slice, const struct arrows *arrows, const unsigned *letters,
                  double column_width, bool *shown);

#endif
