/* What libc offers to look for files and to read them, with the store looked after: nothing is done
 * to these calls, but what comes of them depends on what other ranks did before. Each function is
 * libc's own unless its file lies below the store. Must not know: what a record is made of. */
#include "injectors/storage/storage.h"
#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"

#include <errno.h>

#define EXPORTED __attribute__((visibility("default")))

/* --- whether a file is there, and what it is -------------------------------------------------- */
struct looking {
    struct storage_file file;
    struct storage_event call;
    bool none; /* errno says why */
};

/* false: not below the store. */
static bool looking_begin(struct looking *looking, int folder, const char *path, bool follow)
{
    int number = errno;
    bool ours = storage_looks() && storage_file_at(folder, path, follow, &looking->file);
    errno = number;
    if (ours)
        looking->none = storage_look_begin(&looking->call, STORAGE_LOOK, &looking->file);
    return ours;
}

/* The body of a function that asks libc's own `real`. */
#define LOOK(folder, path, follow, real)                                                           \
    struct looking looking;                                                                        \
    if (!looking_begin(&looking, folder, path, follow))                                            \
        return real;                                                                               \
    return looking.none ? -1 : (int)storage_look_end(&looking.call, real)

#define IS_FOLLOWED(flags) (((flags)&AT_SYMLINK_NOFOLLOW) == 0)

EXPORTED int access(const char *path, int mode)
{
    LOOK(AT_FDCWD, path, true, REAL(access)(path, mode));
}

EXPORTED int euidaccess(const char *path, int mode)
{
    LOOK(AT_FDCWD, path, true, REAL(euidaccess)(path, mode));
}

EXPORTED int eaccess(const char *path, int mode)
{
    LOOK(AT_FDCWD, path, true, REAL(eaccess)(path, mode));
}

EXPORTED int faccessat(int folder, const char *path, int mode, int flags)
{
    LOOK(folder, path, IS_FOLLOWED(flags), REAL(faccessat)(folder, path, mode, flags));
}

EXPORTED int stat(const char *path, struct stat *facts)
{
    LOOK(AT_FDCWD, path, true, REAL(stat)(path, facts));
}

EXPORTED int stat64(const char *path, struct stat64 *facts)
{
    LOOK(AT_FDCWD, path, true, REAL(stat64)(path, facts));
}

EXPORTED int lstat(const char *path, struct stat *facts)
{
    LOOK(AT_FDCWD, path, false, REAL(lstat)(path, facts));
}

EXPORTED int lstat64(const char *path, struct stat64 *facts)
{
    LOOK(AT_FDCWD, path, false, REAL(lstat64)(path, facts));
}

EXPORTED int fstatat(int folder, const char *path, struct stat *facts, int flags)
{
    LOOK(folder, path, IS_FOLLOWED(flags), REAL(fstatat)(folder, path, facts, flags));
}

EXPORTED int fstatat64(int folder, const char *path, struct stat64 *facts, int flags)
{
    LOOK(folder, path, IS_FOLLOWED(flags), REAL(fstatat64)(folder, path, facts, flags));
}

EXPORTED int statx(int folder, const char *path, int flags, unsigned mask, struct statx *facts)
{
    LOOK(folder, path, IS_FOLLOWED(flags), REAL(statx)(folder, path, flags, mask, facts));
}

/* --- folders ---------------------------------------------------------------------------------- */
EXPORTED DIR *opendir(const char *path)
{
    struct looking looking;
    if (!looking_begin(&looking, AT_FDCWD, path, true))
        return REAL(opendir)(path);
    DIR *folder = looking.none ? NULL : REAL(opendir)(path);
    if (!looking.none)
        storage_look_end(&looking.call, folder != NULL ? 0 : -1);
    return folder;
}

struct reading {
    struct storage_file file;
    struct storage_event call;
};

/* false: not below the store. Else the call is to be made, in its turn. */
static bool reading_begin(struct reading *reading, int fd, uint64_t bytes, uint64_t offset)
{
    int number = errno;
    bool ours = storage_looks() && storage_file_of(fd, &reading->file);
    errno = number;
    if (ours) {
        storage_begin(&reading->call, STORAGE_READ, &reading->file, bytes, offset);
        storage_fails(&reading->call); /* nothing in a plan makes it */
    }
    return ours;
}

/* The names are asked of the kernel when the first is wanted. */
static bool listing_begin(struct reading *reading, DIR *folder)
{
    return storage_looks() && telldir(folder) == 0 &&
           reading_begin(reading, dirfd(folder), 0, STORAGE_NO_OFFSET);
}

EXPORTED struct dirent *readdir(DIR *folder)
{
    struct reading reading;
    if (!listing_begin(&reading, folder))
        return REAL(readdir)(folder);
    struct dirent *entry = REAL(readdir)(folder);
    storage_end(&reading.call, 0, 0);
    return entry;
}

EXPORTED struct dirent64 *readdir64(DIR *folder)
{
    struct reading reading;
    if (!listing_begin(&reading, folder))
        return REAL(readdir64)(folder);
    struct dirent64 *entry = REAL(readdir64)(folder);
    storage_end(&reading.call, 0, 0);
    return entry;
}

EXPORTED int scandir(const char *path, struct dirent ***list, int (*filter)(const struct dirent *),
                     int (*compare)(const struct dirent **, const struct dirent **))
{
    LOOK(AT_FDCWD, path, true, REAL(scandir)(path, list, filter, compare));
}

EXPORTED int scandir64(const char *path, struct dirent64 ***list,
                       int (*filter)(const struct dirent64 *),
                       int (*compare)(const struct dirent64 **, const struct dirent64 **))
{
    LOOK(AT_FDCWD, path, true, REAL(scandir64)(path, list, filter, compare));
}

/* --- contents --------------------------------------------------------------------------------- */
static ssize_t reading_end(struct reading *reading, ssize_t result)
{
    return storage_end(&reading->call, result, result > 0 ? (uint64_t)result : 0);
}

/* The body of a function that reads `bytes` with libc's own `real`. */
#define READ(fd, bytes, offset, real)                                                              \
    struct reading reading;                                                                        \
    if (!reading_begin(&reading, fd, bytes, offset))                                               \
        return real;                                                                               \
    return reading_end(&reading, real)

static uint64_t bytes_of(const struct iovec *part, int count)
{
    uint64_t bytes = 0;
    for (int i = 0; storage_looks() && i < count && i < IOV_MAX; i++)
        bytes += part[i].iov_len;
    return bytes;
}

EXPORTED ssize_t read(int fd, void *data, size_t bytes)
{
    if (__builtin_expect(fd == launcher_fd, 0))
        return launcher_read(data, bytes);
    READ(fd, bytes, STORAGE_NO_OFFSET, REAL(read)(fd, data, bytes));
}

EXPORTED ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
    READ(fd, bytes, (uint64_t)offset, REAL(pread)(fd, data, bytes, offset));
}

EXPORTED ssize_t pread64(int fd, void *data, size_t bytes, off64_t offset)
{
    READ(fd, bytes, (uint64_t)offset, REAL(pread64)(fd, data, bytes, offset));
}

EXPORTED ssize_t readv(int fd, const struct iovec *part, int count)
{
    READ(fd, bytes_of(part, count), STORAGE_NO_OFFSET, REAL(readv)(fd, part, count));
}

EXPORTED ssize_t preadv(int fd, const struct iovec *part, int count, off_t offset)
{
    READ(fd, bytes_of(part, count), (uint64_t)offset, REAL(preadv)(fd, part, count, offset));
}

EXPORTED ssize_t preadv64(int fd, const struct iovec *part, int count, off64_t offset)
{
    READ(fd, bytes_of(part, count), (uint64_t)offset, REAL(preadv64)(fd, part, count, offset));
}

EXPORTED ssize_t preadv2(int fd, const struct iovec *part, int count, off_t offset, int flags)
{
    READ(fd, bytes_of(part, count), (uint64_t)offset,
         REAL(preadv2)(fd, part, count, offset, flags));
}

EXPORTED ssize_t preadv64v2(int fd, const struct iovec *part, int count, off64_t offset, int flags)
{
    READ(fd, bytes_of(part, count), (uint64_t)offset,
         REAL(preadv64v2)(fd, part, count, offset, flags));
}

EXPORTED ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room)
{
    READ(fd, bytes, STORAGE_NO_OFFSET, REAL(__read_chk)(fd, data, bytes, room));
}

EXPORTED ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room)
{
    READ(fd, bytes, (uint64_t)offset, REAL(__pread_chk)(fd, data, bytes, offset, room));
}

EXPORTED ssize_t __pread64_chk(int fd, void *data, size_t bytes, off64_t offset, size_t room)
{
    READ(fd, bytes, (uint64_t)offset, REAL(__pread64_chk)(fd, data, bytes, offset, room));
}
