/* See regular_file.h. */
#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFIFO:
        return "a FIFO";
    case S_IFDIR:
        return "a folder";
    case S_IFSOCK:
        return "a socket";
    case S_IFLNK:
        return "a symbolic link";
    default:
        return "a device";
    }
}

static enum error_code is_other(const char *path, mode_t mode, struct error *error)
{
    return error_set(error, ERROR_FORMAT, "%s: is %s; only regular files are read", path,
                     kind_of(mode));
}

/* What open(2) says of a link that it does not follow, a socket, or a FIFO without a reader does
 * not show what it is. */
static enum error_code not_opened(const char *path, struct error *error)
{
    struct stat facts;
    int reason = errno;
    enum error_code code;
    if (reason != ENOENT && lstat(path, &facts) == 0 && !S_ISREG(facts.st_mode) &&
        (reason == ELOOP || reason == ENXIO))
        code = is_other(path, facts.st_mode, error);
    else
        code = error_set(error, ERROR_IO, "%s: %s", path, strerror(reason));
    errno = reason;
    return code;
}

enum error_code regular_check(int file, const char *path, uint64_t most, struct error *error)
{
    struct stat facts;
    if (fstat(file, &facts) != 0)
        return error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
    if (!S_ISREG(facts.st_mode))
        return is_other(path, facts.st_mode, error);
    if ((uint64_t)facts.st_size > most)
        return error_set(error, ERROR_LIMIT, "%s: has more than %" PRIu64 " bytes", path, most);
    return OK;
}

/* With flags that wait for nobody. */
static enum error_code open_checked(const char *path, int flags, uint64_t most, int *file,
                                    struct error *error)
{
    *file = open(path, flags | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0666);
    if (*file < 0)
        return not_opened(path, error);
    enum error_code code = regular_check(*file, path, most, error);
    if (code != OK) {
        close(*file);
        *file = -1;
        errno = EINVAL;
    }
    return code;
}

static FILE *stream_of(int file, const char *mode, const char *path, struct error *error)
{
    FILE *stream = file >= 0 ? fdopen(file, mode) : NULL;
    if (file >= 0 && stream == NULL) {
        error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
        close(file);
    }
    return stream;
}

enum error_code regular_open(const char *path, enum regular_links links, uint64_t most, int *file,
                             struct error *error)
{
    int flags = O_RDONLY | (links == LINKS_REFUSED ? O_NOFOLLOW : 0);
    return open_checked(path, flags, most, file, error);
}

FILE *regular_stream(const char *path, enum regular_links links, uint64_t most, struct error *error)
{
    int file;
    (void)regular_open(path, links, most, &file, error);
    return stream_of(file, "r", path, error);
}

enum error_code regular_make(const char *path, int *file, struct error *error)
{
    *file = -1;
    if (unlink(path) == 0 || errno == ENOENT)
        *file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return *file >= 0 ? OK : error_set(error, ERROR_IO, "%s: %s", path, strerror(errno));
}

enum error_code regular_extend(const char *path, int *file, struct error *error)
{
    return open_checked(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW, REGULAR_ANY, file, error);
}

FILE *regular_create(const char *path, struct error *error)
{
    int file;
    (void)regular_make(path, &file, error);
    return stream_of(file, "a", path, error);
}

FILE *regular_append(const char *path, struct error *error)
{
    int file;
    (void)regular_extend(path, &file, error);
    return stream_of(file, "a", path, error);
}

static bool write_all(int file, const char *data, ssize_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(file, data, (size_t)bytes);
        if (written < 0)
            return false;
        data += written;
        bytes -= written;
    }
    return true;
}

/* From `at` up to `end`; `out` appends. */
static bool copy_stretch(int in, int out, off_t at, off_t end)
{
    char data[COPY_BYTES];
    if (ftruncate(out, at) != 0 || lseek(in, at, SEEK_SET) < 0)
        return false;
    while (at < end) {
        size_t bytes = end - at < COPY_BYTES ? (size_t)(end - at) : COPY_BYTES;
        ssize_t got = read(in, data, bytes);
        if (got <= 0 || !write_all(out, data, got))
            return got == 0;
        at += got;
    }
    return true;
}

/* Holes stay holes: a program may have made a file that is longer than the disk. */
static bool copy_data(int in, int out)
{
    off_t at = 0, end;
    struct stat facts;
    while ((at = lseek(in, at, SEEK_DATA)) >= 0) {
        end = lseek(in, at, SEEK_HOLE);
        if (end < 0 || !copy_stretch(in, out, at, end))
            return false;
        at = end;
    }
    return errno == ENXIO && fstat(in, &facts) == 0 && ftruncate(out, facts.st_size) == 0;
}

enum error_code regular_copy(const char *from, const char *to, struct error *error)
{
    int in, out;
    enum error_code code = regular_open(from, LINKS_REFUSED, REGULAR_ANY, &in, error);
    if (code != OK)
        return code;
    code = regular_make(to, &out, error);
    if (code == OK && !copy_data(in, out))
        code = error_set(error, ERROR_IO, "%s: %s", to, strerror(errno));
    if (out >= 0 && close(out) != 0 && code == OK)
        code = error_set(error, ERROR_IO, "%s: %s", to, strerror(errno));
    close(in);
    return code;
}
