/* Files that a program under test, or a stranger, may have put there. Only regular files are read:
 * opening a FIFO waits for ever, a device has no end, and a link out of a run folder would show
 * what is none of its files. Whatever is written in a run folder takes the place of what stands
 * there. Must not know: what the files hold. libc only. */
#ifndef BASE_REGULAR_FILE_H
#define BASE_REGULAR_FILE_H

#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

enum regular_links {
    LINKS_REFUSED,  /* the last name may be no symbolic link: a file that is part of a folder */
    LINKS_FOLLOWED, /* a name that the user gave */
};

/* The size of a file, at most. */
#define REGULAR_TEXT_MOST (UINT64_C(64) << 20) /* of what is read into memory as a whole */
#define REGULAR_ANY UINT64_MAX                 /* of what is read piece by piece, or mapped */

/* Opens for reading, closed at exec. *file is to be closed by the caller, -1 after an error:
 * ERROR_IO, it cannot be opened (errno says why); ERROR_FORMAT, it is no regular file; ERROR_LIMIT,
 * it has more than `most` bytes. The text names the path. */
enum error_code regular_open(const char *path, enum regular_links links, uint64_t most, int *file,
                             struct error *error);

/* The same as a stream; NULL after an error. */
FILE *regular_stream(const char *path, enum regular_links links, uint64_t most,
                     struct error *error);

/* Whether an open file is regular and has at most `most` bytes; errors as for regular_open. To wait
 * for nothing, open it with O_NONBLOCK, which means nothing for regular files. */
enum error_code regular_check(int file, const char *path, uint64_t most, struct error *error);

/* A new empty file to be written at its end, in place of any file that stands there, which is not
 * opened. *file as for regular_open; ERROR_IO. */
enum error_code regular_make(const char *path, int *file, struct error *error);

/* To be written at the end of what is there, made if nothing is. ERROR_IO, ERROR_FORMAT. */
enum error_code regular_extend(const char *path, int *file, struct error *error);

/* The same two as streams; NULL after an error. */
FILE *regular_create(const char *path, struct error *error);
FILE *regular_append(const char *path, struct error *error);

/* A new file with the bytes of a regular one, in place of any that stands there. Errors as for
 * regular_open and regular_make. */
enum error_code regular_copy(const char *from, const char *to, struct error *error);

#endif
