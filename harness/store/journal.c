/* See journal.h. */
#include "store/journal.h"

#include "base/regular_file.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_ROOM 64     /* bytes that the names below durable/ add */
#define COPY_BYTES 16384 /* on the stack of whoever syncs */

/* Folder names are at most PATH_MAX - NAME_ROOM bytes long: journal_open sees to that. */
static void place(const struct journal *journal, const char *name, char *path)
{
    snprintf(path, PATH_MAX, "%.*s/%.*s", PATH_MAX - NAME_ROOM, journal->folder, NAME_ROOM - 2,
             name);
}

void journal_copy_path(const struct journal *journal, uint64_t inode, int rank, char *path)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "synced/%" PRIu64 ".%d", inode, rank);
    place(journal, name, path);
}

void journal_kept_path(const struct journal *journal, uint64_t inode, char *path)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "kept/%" PRIu64, inode);
    place(journal, name, path);
}

void journal_gone_path(const struct journal *journal, uint64_t inode, char *path)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "gone/%" PRIu64, inode);
    place(journal, name, path);
}

enum error_code journal_open(struct journal *journal, const char *run_folder, const char *store,
                             struct error *error)
{
    static const char *const folders[] = {"", "synced", "kept", "gone"};
    char path[PATH_MAX];
    if (strlen(run_folder) + 2 * NAME_ROOM > PATH_MAX || strlen(store) >= PATH_MAX)
        return error_set(error, ERROR_LIMIT, "the run folder's path is longer than %d bytes",
                         PATH_MAX - 2 * NAME_ROOM);
    snprintf(journal->folder, sizeof journal->folder, "%s/durable", run_folder);
    snprintf(journal->store, sizeof journal->store, "%s", store);
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        place(journal, folders[i], path);
        if (mkdir(path, 0777) != 0 && errno != EEXIST)
            return error_set(error, ERROR_IO, "cannot create %s: %s", path, strerror(errno));
    }
    return OK;
}

uint64_t journal_id(void)
{
    static _Atomic uint32_t numbers;
    return (uint64_t)getpid() << 32 | atomic_fetch_add(&numbers, 1);
}

bool journal_append(const struct journal *journal, const struct journal_entry *entry)
{
    char path[PATH_MAX];
    place(journal, "journal", path);
    int file;
    if (regular_extend(path, &file, NULL) != OK)
        return false;
    ssize_t written = write(file, entry, sizeof *entry);
    int reason = errno;
    /* Half an entry would put all that follow it out of step. */
    struct stat facts;
    if (written > 0 && written < (ssize_t)sizeof *entry && fstat(file, &facts) == 0 &&
        ftruncate(file, facts.st_size - written) == 0)
        reason = ENOSPC;
    close(file);
    errno = reason;
    return written == (ssize_t)sizeof *entry;
}

uint64_t journal_length(const struct journal *journal)
{
    char path[PATH_MAX];
    struct stat facts;
    place(journal, "journal", path);
    return stat(path, &facts) == 0 ? (uint64_t)facts.st_size / JOURNAL_ENTRY_BYTES : 0;
}

bool journal_keep(const struct journal *journal, const char *path, uint64_t inode)
{
    char kept[PATH_MAX];
    journal_kept_path(journal, inode, kept);
    return linkat(AT_FDCWD, path, AT_FDCWD, kept, 0) == 0 || errno == EEXIST;
}

static bool write_all(int to, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(to, data, bytes);
        if (written <= 0 && errno != EINTR)
            return false;
        if (written > 0) {
            data += written;
            bytes -= (size_t)written;
        }
    }
    return true;
}

static bool copy_content(int from, int to)
{
    char buffer[COPY_BYTES];
    off_t at = 0;
    for (;;) {
        ssize_t got = pread(from, buffer, sizeof buffer, at);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        if (!write_all(to, buffer, (size_t)got))
            return false;
        at += got;
    }
}

/* The file may be open for writing only: it is opened once more, by its descriptor. */
bool journal_copy(const struct journal *journal, int file, char *copy)
{
    char name[NAME_ROOM];
    snprintf(name, sizeof name, "synced/new.%" PRIu64, journal_id());
    place(journal, name, copy);
    snprintf(name, sizeof name, "/proc/self/fd/%d", file);
    int from = open(name, O_RDONLY | O_CLOEXEC);
    int to = open(copy, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    bool good = from >= 0 && to >= 0 && copy_content(from, to);
    int reason = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    if (!good)
        unlink(copy);
    errno = reason;
    return good;
}

bool journal_copy_publish(const struct journal *journal, const char *copy, uint64_t inode, int rank)
{
    char path[PATH_MAX];
    journal_copy_path(journal, inode, rank, path);
    return rename(copy, path) == 0;
}

void journal_copy_discard(const char *copy)
{
    unlink(copy);
}
