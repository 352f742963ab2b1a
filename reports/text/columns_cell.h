/* The words of one event in a column: as many of them as there is room for. Of columns.c. */
#ifndef REPORTS_TEXT_COLUMNS_CELL_H
#define REPORTS_TEXT_COLUMNS_CELL_H

#include "oracles/matching/walk.h"

#define CELL_BYTES 1024

enum cell_mark { CELL_PLAIN = ' ', CELL_WITNESS = '*', CELL_FAULT = '!' };

/* Whether the event changes the state of its rank, as columns.h says. */
bool cell_is_change(const struct walk_event *event);

/* "*e118 <0:e97 t7": at most `width` characters (below CELL_BYTES), all of them plain ASCII. */
void cell_words(const struct walk_event *event, enum cell_mark mark, size_t width,
                char text[CELL_BYTES]);

#endif
