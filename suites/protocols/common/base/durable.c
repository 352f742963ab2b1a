/* See durable.h. */
#include "common/base/durable.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Closes without publishing. Harmless on a closed file. */
static void durable_abandon(struct durable_file *file)
{
    if (file->fd >= 0)
        close(file->fd);
    file->fd = -1;
}

/* Closes a file that cannot be written any further; its own name stays untouched. */
static enum error_code fail(struct durable_file *file, const char *what, int number,
                            struct error *error)
{
    durable_abandon(file);
    return error_set(error, ERROR_IO, "%s: cannot %s: %s", file->temporary, what, strerror(number));
}

/* Writes all of it, however the kernel cuts it. */
static enum error_code write_all(struct durable_file *file, const void *data, uint64_t bytes,
                                 struct error *error)
{
    const char *next = data;
    while (bytes > 0) {
        ssize_t written = write(file->fd, next, bytes);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return fail(file, "write", written < 0 ? errno : EIO, error);
        next += written;
        bytes -= (uint64_t)written;
    }
    return OK;
}

static enum error_code write_hashed(struct durable_file *file, const void *data, uint64_t bytes,
                                    struct error *error)
{
    if (bytes > 0)
        XXH3_64bits_update(&file->hash, data, bytes);
    return write_all(file, data, bytes, error);
}

enum error_code durable_create(struct durable_file *file, const char *path, const char *kind,
                               uint64_t bytes, struct error *error)
{
    file->fd = -1;
    file->left = bytes;
    XXH3_64bits_reset(&file->hash);
    if (strlen(path) + sizeof DURABLE_SUFFIX > PATH_MAX)
        return error_set(error, ERROR_LIMIT, "%.80s...: path longer than %d bytes", path, PATH_MAX);
    strcpy(file->path, path);
    strcpy(stpcpy(file->temporary, path), DURABLE_SUFFIX);

    file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file->fd < 0)
        return fail(file, "create", errno, error);
    struct durable_header header = {
        .version = DURABLE_VERSION, .byte_order = DURABLE_BYTE_ORDER, .bytes = bytes};
    memcpy(header.kind, kind, strnlen(kind, DURABLE_KIND_BYTES));
    return write_hashed(file, &header, sizeof header, error);
}

enum error_code durable_write(struct durable_file *file, const void *data, uint64_t bytes,
                              struct error *error)
{
    assert(file->fd >= 0 && bytes <= file->left);
    file->left -= bytes;
    return write_hashed(file, data, bytes, error);
}

enum error_code durable_finish(struct durable_file *file, struct error *error)
{
    assert(file->fd >= 0 && file->left == 0);
    uint64_t checksum = XXH3_64bits_digest(&file->hash);
    enum error_code code = write_all(file, &checksum, sizeof checksum, error);
    if (code != OK)
        return code;
    if (fsync(file->fd) != 0)
        return fail(file, "bring to stable storage", errno, error);
    int closed = close(file->fd);
    file->fd = -1;
    return closed == 0 ? OK : fail(file, "close", errno, error);
}

/* A name is stable when its folder is. */
static enum error_code sync_folder_of(const char *path, struct error *error)
{
    char copy[PATH_MAX];
    strcpy(copy, path);
    const char *folder = dirname(copy);
    int fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    bool good = fd >= 0 && fsync(fd) == 0;
    int number = errno;
    if (fd >= 0)
        close(fd);
    return good ? OK
                : error_set(error, ERROR_IO, "%s: cannot bring to stable storage: %s", folder,
                            strerror(number));
}

enum error_code durable_publish(struct durable_file *file, struct error *error)
{
    assert(file->fd < 0 && file->left == 0);
    if (rename(file->temporary, file->path) != 0)
        return fail(file, "rename", errno, error);
    return sync_folder_of(file->path, error);
}

enum error_code durable_folder(const char *path, struct error *error)
{
    char part[PATH_MAX];
    strcpy(part, path);
    for (char *slash = strchr(part + 1, '/');; slash = strchr(slash + 1, '/')) {
        if (slash && slash[-1] == '/') /* one of several in a row, which mean one */
            continue;
        if (slash)
            *slash = 0;
        bool made = mkdir(part, 0777) == 0;
        if (!made && errno != EEXIST)
            return error_set(error, ERROR_IO, "%s: cannot make the folder: %s", part,
                             strerror(errno));
        enum error_code code = made ? sync_folder_of(part, error) : OK;
        if (code != OK || !slash)
            return code;
        *slash = '/';
    }
}

bool durable_exists(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 || errno != ENOENT;
}

/* The whole file as it is. *content is owned by the caller. */
static enum error_code read_whole(int fd, const char *path, char **content, uint64_t *bytes,
                                  struct error *error)
{
    struct stat facts;
    if (fstat(fd, &facts) != 0 || !S_ISREG(facts.st_mode))
        return error_set(error, ERROR_IO, "%s: not a regular file", path);
    *bytes = (uint64_t)facts.st_size;
    *content = malloc(*bytes + 1);
    if (!*content)
        return error_set(error, ERROR_MEMORY, "%s: %" PRIu64 " bytes", path, *bytes);
    for (uint64_t done = 0; done < *bytes;) {
        ssize_t got = read(fd, *content + done, *bytes - done);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0) {
            const char *reason = got < 0 ? strerror(errno) : "it became shorter";
            free(*content);
            return error_set(error, ERROR_IO, "%s: cannot read: %s", path, reason);
        }
        done += (uint64_t)got;
    }
    return OK;
}

static enum error_code check(const char *path, const char *kind, const char *content,
                             uint64_t bytes, struct error *error)
{
    struct durable_header header;
    uint64_t checksum, around = sizeof header + sizeof checksum;
    size_t kind_bytes = bytes < DURABLE_KIND_BYTES ? bytes : DURABLE_KIND_BYTES;
    if (strncmp(content, kind, kind_bytes) != 0)
        return error_set(error, ERROR_FORMAT, "%s: foreign: it does not begin with '%.*s'", path,
                         DURABLE_KIND_BYTES, kind);
    if (bytes < around)
        return error_set(error, ERROR_FORMAT,
                         "%s: truncated: %" PRIu64 " bytes, fewer than its header", path, bytes);
    memcpy(&header, content, sizeof header);
    if (header.version != DURABLE_VERSION || header.byte_order != DURABLE_BYTE_ORDER)
        return error_set(error, ERROR_VERSION,
                         "%s: version %" PRIu32 ", byte order %08" PRIx32 "; accepted: %u, %08x",
                         path, header.version, header.byte_order, DURABLE_VERSION,
                         DURABLE_BYTE_ORDER);
    if (bytes - around != header.bytes)
        return error_set(error, ERROR_FORMAT,
                         "%s: %s: %" PRIu64 " bytes of content, its header says %" PRIu64, path,
                         bytes - around < header.bytes ? "truncated" : "too long", bytes - around,
                         header.bytes);
    memcpy(&checksum, content + bytes - sizeof checksum, sizeof checksum);
    if (checksum != XXH3_64bits(content, bytes - sizeof checksum))
        return error_set(error, ERROR_FORMAT, "%s: damaged: its checksum does not match", path);
    return OK;
}

enum error_code durable_read(const char *path, const char *kind, void **payload, uint64_t *bytes,
                             struct error *error)
{
    *payload = NULL;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return error_set(error, ERROR_IO, "%s: cannot open: %s", path, strerror(errno));
    char *content = NULL;
    enum error_code code = read_whole(fd, path, &content, bytes, error);
    close(fd);
    if (code != OK)
        return code;
    code = check(path, kind, content, *bytes, error);
    if (code != OK) {
        free(content);
        return code;
    }
    *bytes -= sizeof(struct durable_header) + sizeof(uint64_t);
    memmove(content, content + sizeof(struct durable_header), *bytes);
    *payload = content;
    return OK;
}
