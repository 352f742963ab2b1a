/* The last lines of a file, as ranks and launchers leave them. */
#ifndef SYSTEM_TAIL_H
#define SYSTEM_TAIL_H

#define TAIL_READ_BYTES 8192 /* looked at, from the end of the file */

/* At most `lines` lines, without a newline at the end; a byte 0 becomes a blank. NULL: the file is
 * empty or not there, or there is no memory. Owned by the caller. */
char *tail_read(const char *path, unsigned lines);

#endif
