/* What libc offers to write to files and to bring them to stable storage, with the store looked
 * after. Each function is libc's own unless its file lies below the store. Must not know: names of
 * files, what a fault or a record is made of. */
#include "injectors/record/schedule.h"
#include "injectors/storage/storage.h"
#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"

#include <errno.h>
#include <limits.h>

#define EXPORTED __attribute__((visibility("default")))

/* --- writing --------------------------------------------------------------------------------- */
/* A write on a file of the store. */
struct writing {
    struct storage_file file;
    struct storage_event call;
    bool durable; /* on return */
};

static bool writing_begin(struct writing *writing, int fd, uint64_t bytes, uint64_t offset,
                          int flags)
{
    int number = errno;
    bool ours = storage_file_of(fd, &writing->file);
    errno = number;
    if (!ours)
        return false;
    int mode = fcntl(fd, F_GETFL);
    writing->durable = (mode & O_DSYNC) != 0 || (flags & (RWF_SYNC | RWF_DSYNC)) != 0;
    storage_begin(&writing->call, writing->durable ? STORAGE_WRITE_SYNC : STORAGE_WRITE,
                  &writing->file, bytes, offset);
    return true;
}

static ssize_t writing_end(struct writing *writing, int fd, ssize_t result)
{
    struct storage_sync sync;
    if (writing->durable && result >= 0 && writing->call.fault == NULL) {
        storage_sync_begin(&sync, fd, &writing->file);
        storage_sync_end(&sync, true, &writing->file);
    }
    return storage_end(&writing->call, result, result > 0 ? (uint64_t)result : 0);
}

EXPORTED ssize_t write(int fd, const void *data, size_t bytes)
{
    struct writing writing;
    if (__builtin_expect(fd == launcher_fd, 0))
        return launcher_write(data, bytes);
    if (!storage_looks() || !writing_begin(&writing, fd, bytes, STORAGE_NO_OFFSET, 0))
        return REAL(write)(fd, data, bytes);
    ssize_t result = -1;
    if (!storage_fails(&writing.call))
        result = REAL(write)(fd, data, storage_room(&writing.call, bytes));
    return writing_end(&writing, fd, result);
}

static ssize_t write_at(int fd, const void *data, size_t bytes, off64_t offset)
{
    struct writing writing;
    if (!storage_looks() || !writing_begin(&writing, fd, bytes, (uint64_t)offset, 0))
        return REAL(pwrite64)(fd, data, bytes, offset);
    ssize_t result = -1;
    if (!storage_fails(&writing.call))
        result = REAL(pwrite64)(fd, data, storage_room(&writing.call, bytes), offset);
    return writing_end(&writing, fd, result);
}

EXPORTED ssize_t pwrite(int fd, const void *data, size_t bytes, off_t offset)
{
    return write_at(fd, data, bytes, offset);
}

EXPORTED ssize_t pwrite64(int fd, const void *data, size_t bytes, off64_t offset)
{
    return write_at(fd, data, bytes, offset);
}

static uint64_t bytes_of(const struct iovec *part, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; i < count && count <= IOV_MAX; i++)
        bytes += part[i].iov_len;
    return bytes;
}

/* No more than `room` bytes of the parts, one after the other. offset < 0: where the file stands.
 */
static ssize_t write_parts(int fd, const struct iovec *part, int count, size_t room, off64_t offset)
{
    ssize_t done = 0;
    for (int i = 0; i < count && room > 0; i++) {
        size_t bytes = part[i].iov_len < room ? part[i].iov_len : room;
        ssize_t written = offset < 0 ? REAL(write)(fd, part[i].iov_base, bytes)
                                     : REAL(pwrite64)(fd, part[i].iov_base, bytes, offset + done);
        if (written < 0)
            return done > 0 ? done : -1;
        done += written;
        room -= (size_t)written;
        if ((size_t)written < bytes)
            break;
    }
    return done;
}

static ssize_t write_vector(int fd, const struct iovec *part, int count, off64_t offset, int flags)
{
    struct writing writing;
    uint64_t at = offset < 0 ? STORAGE_NO_OFFSET : (uint64_t)offset;
    if (!storage_looks() || !writing_begin(&writing, fd, bytes_of(part, count), at, flags))
        return REAL(pwritev64v2)(fd, part, count, offset, flags);
    size_t bytes = bytes_of(part, count);
    ssize_t result = -1;
    if (!storage_fails(&writing.call)) {
        size_t room = storage_room(&writing.call, bytes);
        result = room < bytes ? write_parts(fd, part, count, room, offset)
                              : REAL(pwritev64v2)(fd, part, count, offset, flags);
    }
    return writing_end(&writing, fd, result);
}

EXPORTED ssize_t writev(int fd, const struct iovec *part, int count)
{
    return storage_looks() ? write_vector(fd, part, count, -1, 0) : REAL(writev)(fd, part, count);
}

EXPORTED ssize_t pwritev(int fd, const struct iovec *part, int count, off_t offset)
{
    return storage_looks() && offset >= 0 ? write_vector(fd, part, count, offset, 0)
                                          : REAL(pwritev)(fd, part, count, offset);
}

EXPORTED ssize_t pwritev64(int fd, const struct iovec *part, int count, off64_t offset)
{
    return storage_looks() && offset >= 0 ? write_vector(fd, part, count, offset, 0)
                                          : REAL(pwritev64)(fd, part, count, offset);
}

EXPORTED ssize_t pwritev2(int fd, const struct iovec *part, int count, off_t offset, int flags)
{
    return storage_looks() && offset >= -1 ? write_vector(fd, part, count, offset, flags)
                                           : REAL(pwritev2)(fd, part, count, offset, flags);
}

EXPORTED ssize_t pwritev64v2(int fd, const struct iovec *part, int count, off64_t offset, int flags)
{
    return storage_looks() && offset >= -1 ? write_vector(fd, part, count, offset, flags)
                                           : REAL(pwritev64v2)(fd, part, count, offset, flags);
}

static ssize_t send_file(int to, int from, off64_t *offset, size_t bytes)
{
    struct writing writing;
    if (!storage_looks() || !writing_begin(&writing, to, bytes, STORAGE_NO_OFFSET, 0))
        return REAL(sendfile64)(to, from, offset, bytes);
    ssize_t result = -1;
    if (!storage_fails(&writing.call))
        result = REAL(sendfile64)(to, from, offset, storage_room(&writing.call, bytes));
    return writing_end(&writing, to, result);
}

EXPORTED ssize_t sendfile(int to, int from, off_t *offset, size_t bytes)
{
    return send_file(to, from, offset, bytes);
}

EXPORTED ssize_t sendfile64(int to, int from, off64_t *offset, size_t bytes)
{
    return send_file(to, from, offset, bytes);
}

EXPORTED ssize_t copy_file_range(int from, off64_t *from_offset, int to, off64_t *to_offset,
                                 size_t bytes, unsigned flags)
{
    struct writing writing;
    if (!storage_looks() || !writing_begin(&writing, to, bytes, STORAGE_NO_OFFSET, 0))
        return REAL(copy_file_range)(from, from_offset, to, to_offset, bytes, flags);
    ssize_t result = -1;
    if (!storage_fails(&writing.call))
        result = REAL(copy_file_range)(from, from_offset, to, to_offset,
                                       storage_room(&writing.call, bytes), flags);
    return writing_end(&writing, to, result);
}

/* --- lengths --------------------------------------------------------------------------------- */
static bool resizing_begin(struct writing *writing, int fd, off64_t bytes)
{
    int number = errno;
    bool ours = storage_file_of(fd, &writing->file);
    errno = number;
    if (ours)
        storage_begin(&writing->call, STORAGE_RESIZE, &writing->file, (uint64_t)bytes,
                      STORAGE_NO_OFFSET);
    return ours;
}

static int resize(int fd, off64_t bytes)
{
    struct writing writing;
    if (!storage_looks() || !resizing_begin(&writing, fd, bytes))
        return REAL(ftruncate64)(fd, bytes);
    int result = storage_fails(&writing.call) ? -1 : REAL(ftruncate64)(fd, bytes);
    return (int)storage_end(&writing.call, result, (uint64_t)bytes);
}

EXPORTED int ftruncate(int fd, off_t bytes)
{
    return resize(fd, bytes);
}

EXPORTED int ftruncate64(int fd, off64_t bytes)
{
    return resize(fd, bytes);
}

static int resize_path(const char *path, off64_t bytes)
{
    struct writing writing;
    int number = errno;
    bool ours = storage_looks() && storage_file_at(AT_FDCWD, path, true, &writing.file);
    errno = number;
    if (!ours)
        return REAL(truncate64)(path, bytes);
    storage_begin(&writing.call, STORAGE_RESIZE, &writing.file, (uint64_t)bytes, STORAGE_NO_OFFSET);
    storage_opened(writing.file.inode);
    int result = storage_fails(&writing.call) ? -1 : REAL(truncate64)(path, bytes);
    return (int)storage_end(&writing.call, result, (uint64_t)bytes);
}

EXPORTED int truncate(const char *path, off_t bytes)
{
    return resize_path(path, bytes);
}

EXPORTED int truncate64(const char *path, off64_t bytes)
{
    return resize_path(path, bytes);
}

static int allocate(int fd, int mode, off64_t offset, off64_t bytes)
{
    struct writing writing;
    if (!storage_looks() || !resizing_begin(&writing, fd, offset + bytes))
        return REAL(fallocate64)(fd, mode, offset, bytes);
    int result = storage_fails(&writing.call) ? -1 : REAL(fallocate64)(fd, mode, offset, bytes);
    return (int)storage_end(&writing.call, result, (uint64_t)(offset + bytes));
}

EXPORTED int fallocate(int fd, int mode, off_t offset, off_t bytes)
{
    return allocate(fd, mode, offset, bytes);
}

EXPORTED int fallocate64(int fd, int mode, off64_t offset, off64_t bytes)
{
    return allocate(fd, mode, offset, bytes);
}

/* Returns the error and leaves errno alone. */
static int allocate_portably(int fd, off64_t offset, off64_t bytes)
{
    struct writing writing;
    if (!storage_looks() || !resizing_begin(&writing, fd, offset + bytes))
        return REAL(posix_fallocate64)(fd, offset, bytes);
    int number = errno;
    int result = storage_fails(&writing.call) ? errno : REAL(posix_fallocate64)(fd, offset, bytes);
    errno = result;
    storage_end(&writing.call, result == 0 ? 0 : -1, (uint64_t)(offset + bytes));
    errno = number;
    return result;
}

EXPORTED int posix_fallocate(int fd, off_t offset, off_t bytes)
{
    return allocate_portably(fd, offset, bytes);
}

EXPORTED int posix_fallocate64(int fd, off64_t offset, off64_t bytes)
{
    return allocate_portably(fd, offset, bytes);
}

/* --- stable storage -------------------------------------------------------------------------- */
struct syncing {
    struct storage_file file;
    struct storage_event call;
    struct storage_sync sync;
};

static bool syncing_begin(struct syncing *syncing, int fd, enum storage_call kind)
{
    int number = errno;
    bool ours = storage_file_of(fd, &syncing->file);
    errno = number;
    if (!ours)
        return false;
    storage_begin(&syncing->call, kind, &syncing->file, 0, STORAGE_NO_OFFSET);
    return true;
}

/* What a power failure takes is taken by what is recorded here. The step engine runs hundreds of
 * jobs a second, and none of them is worth waiting for a disk. */
static int sync_really(int fd, int (*real)(int))
{
    bool is_handle = (fcntl(fd, F_GETFL) & O_PATH) != 0; /* that cannot be synced */
    return schedule != NULL && !is_handle ? 0 : real(fd);
}

static int sync_file(int fd, int (*real)(int))
{
    struct syncing syncing;
    if (!syncing_begin(&syncing, fd, STORAGE_SYNC))
        return real(fd);
    int result = -1;
    if (!storage_fails(&syncing.call)) {
        storage_sync_begin(&syncing.sync, fd, &syncing.file);
        result = sync_really(fd, real);
        storage_sync_end(&syncing.sync, result == 0, &syncing.file);
    }
    return (int)storage_end(&syncing.call, result, 0);
}

EXPORTED int fsync(int fd)
{
    return storage_looks() ? sync_file(fd, storage_real.fsync) : REAL(fsync)(fd);
}

EXPORTED int fdatasync(int fd)
{
    return storage_looks() ? sync_file(fd, storage_real.fdatasync) : REAL(fdatasync)(fd);
}

EXPORTED int sync_file_range(int fd, off64_t offset, off64_t bytes, unsigned flags)
{
    struct syncing syncing;
    if (!storage_looks() || !syncing_begin(&syncing, fd, STORAGE_SYNC_RANGE))
        return REAL(sync_file_range)(fd, offset, bytes, flags);
    int result = -1;
    if (!storage_fails(&syncing.call))
        result = REAL(sync_file_range)(fd, offset, bytes, flags);
    return (int)storage_end(&syncing.call, result, 0);
}

EXPORTED int msync(void *address, size_t bytes, int flags)
{
    struct syncing syncing;
    int fd, number = errno;
    bool ours = storage_looks() && (flags & MS_SYNC) != 0 &&
                storage_file_mapped(address, &syncing.file, &fd);
    errno = number;
    if (!ours)
        return REAL(msync)(address, bytes, flags);
    storage_begin(&syncing.call, STORAGE_SYNC, &syncing.file, bytes, STORAGE_NO_OFFSET);
    int result = -1;
    if (!storage_fails(&syncing.call)) {
        storage_sync_begin(&syncing.sync, fd, &syncing.file);
        result = REAL(msync)(address, bytes, flags);
        storage_sync_end(&syncing.sync, result == 0, &syncing.file);
    }
    number = errno;
    close(fd);
    errno = number;
    return (int)storage_end(&syncing.call, result, bytes);
}

/* The store is on the file system that is synced, or so it seems: its folder is there. */
static bool syncing_all_begin(struct syncing *syncing, int fd)
{
    struct stat store = {0}, other;
    int number = errno;
    bool ours = REAL(stat)(storage_root, &store) == 0 &&
                (fd < 0 || (fstat(fd, &other) == 0 && other.st_dev == store.st_dev)) &&
                storage_file_at(AT_FDCWD, storage_root, true, &syncing->file);
    errno = number;
    if (ours)
        storage_begin(&syncing->call, STORAGE_SYNC_ALL, &syncing->file, 0, STORAGE_NO_OFFSET);
    return ours;
}

EXPORTED int syncfs(int fd)
{
    struct syncing syncing;
    if (!storage_looks() || fd < 0 || !syncing_all_begin(&syncing, fd))
        return REAL(syncfs)(fd);
    int result = -1;
    if (!storage_fails(&syncing.call)) {
        uint64_t covers = storage_covers();
        result = REAL(syncfs)(fd);
        if (result == 0)
            storage_synced_all(covers);
    }
    return (int)storage_end(&syncing.call, result, 0);
}

/* It cannot fail: a step that wants it to is left to a later sync. */
EXPORTED void sync(void)
{
    struct syncing syncing;
    if (!storage_looks() || !syncing_all_begin(&syncing, -1)) {
        REAL(sync)();
        return;
    }
    uint64_t covers = storage_covers();
    REAL(sync)();
    storage_synced_all(covers);
    storage_end(&syncing.call, 0, 0);
}
