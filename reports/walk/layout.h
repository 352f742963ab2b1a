/* Where the events of a slice stand in a space-time diagram: a row for each rank, columns from left
 * to right. An event stands to the right of everything on its rank that was done before it, of the
 * send of its message, of the death or the revocation that it tells of, and of the lives before;
 * calls of one collective stand in one column. So columns show order, not time, and neither events
 * nor what is written at them overlap. Must not know: colours, words, XML. */
#ifndef REPORTS_DIAGRAM_LAYOUT_H
#define REPORTS_DIAGRAM_LAYOUT_H

#include "reports/walk/arrows.h"

/* In units of the picture (CSS pixels at scale 1). */
#define LAYOUT_ROW_HEIGHT 46
#define LAYOUT_TOP 26
#define LAYOUT_LEFT 62 /* names of ranks */
#define LAYOUT_RIGHT 24
#define LAYOUT_LETTER_WIDTH 6.1 /* of labels, which stand above the events, 10 high */
#define LAYOUT_NAME_WIDTH 5.5   /* names of lives, below the first event, 9 high */
#define LAYOUT_MARK_WIDTH 7.4   /* letters of witnesses, below the event, bold, 12 high */
#define LAYOUT_MARK_LEFT 10.0   /* they begin so far right of the event, */
#define LAYOUT_TEXT_GAP 5.0     /* and texts of a row stand so far apart at least */
#define LAYOUT_BEYOND                                                                              \
    16.0                        /* a life begins so far left of its first event, and ends right    \
                                   of its last */
#define LAYOUT_DEATH_LETTERS 10 /* "signal 11" */

struct layout_spot {
    bool shown;
    size_t column;
    int row;
    double x, y;
    double mark; /* right of x: where the letter of a witness begins */
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
    const unsigned *marks;   /* by event: letters of the witnesses that it is; NULL: none */
    double column_width;     /* at least */
    bool all_ranks;          /* also those without an event */
};

/* Owned by the caller: layout_release. */
void layout_make(const struct slice *slice, const struct arrows *arrows,
                 const struct layout_wish *wish, struct layout *layout);
void layout_release(struct layout *layout);

#endif
