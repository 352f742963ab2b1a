/* See whole_file.h. */
#include "base/whole_file.h"

#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Those that are begun; a child that was forked since has its own number and leaves them alone. */
static struct whole_file *begun;
static pid_t beginner;

static enum error_code failed(const struct whole_file *file, int reason, struct error *error)
{
    return error_set(error, ERROR_IO, "cannot write %s: %s", file->path,
                     reason != 0 ? strerror(reason) : "some of it was lost");
}

/* A terminal, a pipe, /dev/null: nothing may take its place. */
static bool is_device(const char *path)
{
    struct stat facts;
    return stat(path, &facts) == 0 && !S_ISREG(facts.st_mode);
}

/* Standard output or error, if the path leads to the same file (/dev/stderr), else -1. It is
 * written on where it is: opened anew it would be cut off, and nothing may take the place of
 * /dev/stderr. */
static int standard_stream(const char *path)
{
    struct stat named, open;
    if (stat(path, &named) != 0)
        return -1;
    for (int fd = STDOUT_FILENO; fd <= STDERR_FILENO; fd++)
        if (fstat(fd, &open) == 0 && named.st_dev == open.st_dev && named.st_ino == open.st_ino)
            return fd;
    return -1;
}

static FILE *open_direct(const char *path, int standard)
{
    int fd = standard < 0 ? -1 : fcntl(standard, F_DUPFD_CLOEXEC, 0);
    FILE *out = standard < 0 ? fopen(path, "we") : fd < 0 ? NULL : fdopen(fd, "w");
    if (out == NULL && fd >= 0)
        close(fd);
    return out;
}

/* A child that begins one has nothing to do with those of its parent. */
static void note_begun(struct whole_file *file)
{
    if (beginner != getpid())
        begun = NULL;
    beginner = getpid();
    file->next = begun;
    begun = file;
}

static void note_ended(const struct whole_file *file)
{
    struct whole_file **place = &begun;
    while (*place != NULL && *place != file)
        place = &(*place)->next;
    if (*place != NULL)
        *place = file->next;
}

enum error_code whole_file_begin(struct whole_file *file, const char *path, enum whole_name name,
                                 struct error *error)
{
    file->out = NULL;
    int standard = name == WHOLE_NAMED ? standard_stream(path) : -1;
    file->direct = name == WHOLE_NAMED && (standard >= 0 || is_device(path));
    int length = file->direct
                     ? snprintf(file->fresh, sizeof file->fresh, "%s", path)
                     : snprintf(file->fresh, sizeof file->fresh, "%s.%d.new", path, (int)getpid());
    if (length >= (int)sizeof file->fresh)
        return error_set(error, ERROR_LIMIT, "%.200s...: the path is too long", path);
    strcpy(file->path, path); /* not longer */
    file->out = file->direct ? open_direct(path, standard) : regular_create(file->fresh, NULL);
    if (file->out == NULL)
        return failed(file, errno, error);
    note_begun(file);
    errno = 0;
    return OK;
}

/* A write in the middle that failed has left its reason in errno, and fclose does not know of it.
 */
static bool close_whole(FILE *out)
{
    bool lost = ferror(out) != 0;
    int reason = errno;
    bool whole = fclose(out) == 0 && !lost;
    if (lost)
        errno = reason;
    return whole;
}

enum error_code whole_file_end(struct whole_file *file, enum error_code code, struct error *error)
{
    if (code == ERROR_IO && ferror(file->out))
        code = OK; /* it is reported with the name of the file */
    bool whole = close_whole(file->out) && code == OK &&
                 (file->direct || rename(file->fresh, file->path) == 0);
    int reason = errno;
    file->out = NULL;
    note_ended(file);
    if (whole)
        return OK;
    if (!file->direct)
        unlink(file->fresh);
    return code != OK ? code : failed(file, reason, error);
}

void whole_file_abandon(void)
{
    for (; beginner == getpid() && begun != NULL; begun = begun->next)
        if (!begun->direct)
            unlink(begun->fresh);
}
