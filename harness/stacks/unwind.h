/* Call stacks out of snapshots (stacks/snapshot.h): walked and named when the process is long gone,
 * from what was kept of it and the files that it had in its memory. Must not know: runs, verdicts.
 */
#ifndef STACKS_UNWIND_H
#define STACKS_UNWIND_H

#include "base/error.h"

#include <stdio.h>

/* Writes the frames of the snapshot in the file `path`, a line each (frames.h). ERROR_IO: it cannot
 * be read, or there is nothing to be walked; ERROR_FORMAT: it is no snapshot; ERROR_VERSION: one of
 * another version, or a file that the process had in its memory was changed since. Nothing is
 * written then. */
enum error_code unwind_write(const char *path, FILE *out, struct error *error);

#endif
