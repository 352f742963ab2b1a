/* Text that others chose (names of phases, paths, what an archive holds), shown to people on a
 * terminal and to readers of lines. Must not know: what it means. libc only. */
#ifndef SYSTEM_PRINTABLE_H
#define SYSTEM_PRINTABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* Bytes of the UTF-8 character that begins at `text` [RFC 3629], 0 if none does. */
size_t character_bytes(const unsigned char *text);

/* Whether that character turns the direction of the text around it: U+200E, U+200F, U+202A to
 * U+202E and U+2066 to U+2069 [Unicode annex 9]. */
bool character_turns(const unsigned char *text, size_t bytes);

/* Writes `text` so that it neither ends a line nor steers a terminal: control characters (those
 * beyond ASCII too), characters that turn the direction of a text, and bytes that are no UTF-8 as
 * \xNN, one for each byte. Those in `kept` stay ("\n" where the text has lines of its own). */
void printable_write(FILE *out, const char *text, const char *kept);

#endif
