/* Running text for a terminal or a mail: lines broken between words, nothing in it that a terminal
 * would obey. Must not know: what is told. */
#ifndef REPORTS_TEXT_PROSE_H
#define REPORTS_TEXT_PROSE_H

#include <stdio.h>

#define PROSE_WIDTH 78

/* One paragraph, its lines at most PROSE_WIDTH characters of UTF-8 where the words allow. `first`
 * stands in front of the first line, as many blanks in front of the others. Control characters
 * become \xNN, and so do bytes that are no UTF-8 [RFC 3629]. */
void prose_print(FILE *out, const char *first, const char *text);

#endif
