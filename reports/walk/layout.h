/* Where the events of a slice stand in a space-time diagram: a row for each rank, columns from left
 * to right. An event stands to the right of everything on its rank that was done before it, of the
 * send of its message, of the death or the revocation that it tells of, and of the lives before;
 * calls of one collective stand in one column. So columns show order, not time, and nothing
 * overlaps. Must not know: colours, words, XML. */
#ifndef REPORTS_DIAGRAM_LAYOUT_H
#define REPORTS_DIAGRAM_LAYOUT_H

#include "reports/walk/arrows.h"

/* In units of the picture (CSS pixels at scale 1). */
#define LAYOUT_ROW_HEIGHT 46
#define LAYOUT_TOP 26
#define LAYOUT_LEFT 62 /* names of ranks */
#define LAYOUT_RIGHT 24
#define LAYOUT_LETTER_WIDTH 6.2
#define LAYOUT_DEATH_LETTERS 10 /* "signal 11" */

struct layout_spot {
    bool shown;
    size_t column;
    int row;
    double x, y;
};

/* What one rank did in one life: a line from its first event to its last. */
struct layout_life {
    const struct trace *trace;
    size_t first, last; /* in the slice, of those shown */
    double from, to, y;
    double death; /* where the process died, right of its last event; 0: it is not known to have */
    bool died;    /* did not come to its end by itself */
};

struct layout {
    const struct slice *slice; /* borrowed */
    struct layout_spot *spot;  /* owned; by event of the slice */
    int row_count;
    int *rank; /* owned; by row */
    size_t column_count;
    double *column_x; /* owned; by column: its middle */
    size_t *death;    /* owned; by place of the slice's set: the column of the process's death;
                       * SLICE_NONE: it did not die, or nothing of it is shown */
    size_t life_count;
    struct layout_life *life; /* owned */
    double width, height;
};

struct layout_wish {
    const bool *shown;       /* by event; NULL: all */
    const unsigned *letters; /* by event: of its label; NULL: no labels */
    double column_width;     /* at least */
    bool all_ranks;          /* also those without an event */
};

/* Owned by the caller: layout_release. */
void layout_make(const struct slice *slice, const struct arrows *arrows,
                 const struct layout_wish *wish, struct layout *layout);
void layout_release(struct layout *layout);

#endif
