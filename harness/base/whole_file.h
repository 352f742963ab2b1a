/* A file that stands under its name whole or not at all: it is written beside its place, and takes
 * its name in the end, in one step. A process that is ended by a signal leaves NAME.PID.new after.
 * Must not know: what is written. libc only. */
#ifndef BASE_WHOLE_FILE_H
#define BASE_WHOLE_FILE_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdio.h>

enum whole_name {
    WHOLE_OURS,  /* a file of a folder of ours: it takes the place of whatever stands there */
    WHOLE_NAMED, /* a name that the user gave: what is no regular file (a pipe, a terminal,
                    /dev/null), and what standard output or error leads to, is written into */
};

struct whole_file {
    FILE *out;   /* to write into; NULL: not begun, or over */
    bool direct; /* `path` itself is written into */
    char path[PATH_MAX];
    char fresh[PATH_MAX];
    struct whole_file *next; /* of those that are begun */
};

/* ERROR_IO, ERROR_LIMIT: nothing is open, and there is nothing to end. Until it is ended *file must
 * stay where it is. */
enum error_code whole_file_begin(struct whole_file *file, const char *path, enum whole_name name,
                                 struct error *error);

/* Ends it, whatever came of the writing: in its place if `code` is OK and all that was put into
 * `out` is on disk; else it is gone, and what stood there before stays. Returns `code`, or ERROR_IO
 * with the name and the reason if it was OK, or an ERROR_IO of writing into `out`. */
enum error_code whole_file_end(struct whole_file *file, enum error_code code, struct error *error);

/* For who ends the process: removes those that are begun. */
void whole_file_abandon(void);

#endif
