/* Of a slice the little that fits on a screen: the witness (or the faults, where there is none),
 * the other ends of its messages, what stands next to it, and the faults that began it. Must not
 * know: XML. */
#ifndef REPORTS_TEXT_BRIEF_H
#define REPORTS_TEXT_BRIEF_H

#include "reports/walk/layout.h"

#define BRIEF_WIDTH 1180.0 /* of a picture that is seen without scrolling */
#define BRIEF_ROWS 6       /* ranks, as long as the witness itself does not need more */
#define BRIEF_EVENTS 40

/* As struct layout_wish; shown: by event, to be filled. */
struct brief_wish {
    bool *shown;
    const unsigned *letters, *marks;
    double column_width;
};

/* wish: how it will be laid out; `shown` is filled. False: there is nothing to be brief about (no
 * witness, no fault), or all of the slice fits. */
bool brief_choose(const struct slice *slice, const struct arrows *arrows,
                  const struct brief_wish *wish);

#endif
