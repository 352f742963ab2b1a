/* Two runs held against each other, decision by decision. Must not know: the driver. */
#ifndef DECISIONS_COMPARE_H
#define DECISIONS_COMPARE_H

#include "decisions/decisions.h"

#define DIFFERENCE_TEXT_BYTES 512

struct difference {
    bool decisions; /* the ranks did not do the same */
    bool payload;   /* they did, with other data; `text` describes the first */
    char text[DIFFERENCE_TEXT_BYTES];
};

/* The first difference, in the order of incarnations and ranks. How often polls said no counts, in
 * what order several of them did does not. */
void decisions_compare(const struct decisions *recorded, const struct decisions *replayed,
                       struct difference *difference);

#endif
