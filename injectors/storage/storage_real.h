/* libc's own functions behind those that storage_names.c, storage_data.c, storage_look.c and
 * storage_stream.c define. */
#ifndef INJECTORS_STORAGE_STORAGE_REAL_H
#define INJECTORS_STORAGE_STORAGE_REAL_H

#include "injectors/system/real.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* What programs compiled with _FORTIFY_SOURCE call. No header declares them otherwise. */
int __open_2(const char *path, int flags);
int __open64_2(const char *path, int flags);
int __openat_2(int folder, const char *path, int flags);
int __openat64_2(int folder, const char *path, int flags);
ssize_t __read_chk(int fd, void *data, size_t bytes, size_t room);
ssize_t __pread_chk(int fd, void *data, size_t bytes, off_t offset, size_t room);
ssize_t __pread64_chk(int fd, void *data, size_t bytes, off64_t offset, size_t room);

/* clang-format off */
#define STORAGE_REAL(X) \
    X(open) X(open64) X(openat) X(openat64) X(creat) X(creat64) \
    X(mkstemp) X(mkstemp64) X(mkostemp) X(mkostemp64) X(mkstemps) X(mkstemps64) X(mkostemps) \
    X(mkostemps64) \
    X(shm_open) X(write) X(pwrite) X(pwrite64) X(writev) X(pwritev) X(pwritev64) X(pwritev2) X(pwritev64v2) \
    X(sendfile) X(sendfile64) X(copy_file_range) X(truncate) X(truncate64) X(ftruncate) \
    X(ftruncate64) \
    X(fallocate) X(fallocate64) X(posix_fallocate) X(posix_fallocate64) \
    X(fsync) X(fdatasync) X(syncfs) X(sync) X(sync_file_range) X(msync) \
    X(rename) X(renameat) X(renameat2) X(link) X(linkat) X(symlink) X(symlinkat) \
    X(unlink) X(unlinkat) X(remove) X(rmdir) X(mkdir) X(mkdirat) \
    X(access) X(euidaccess) X(eaccess) X(faccessat) X(stat) X(stat64) X(lstat) X(lstat64) \
    X(fstatat) X(fstatat64) X(statx) X(opendir) X(readdir) X(readdir64) X(scandir) X(scandir64) \
    X(read) X(pread) X(pread64) X(readv) X(preadv) X(preadv64) X(preadv2) X(preadv64v2) \
    X(__read_chk) X(__pread_chk) X(__pread64_chk) \
    X(fopen) X(fopen64) X(fdopen) X(freopen) X(freopen64) X(fileno) X(fileno_unlocked)
/* clang-format on */

struct storage_real {
    STORAGE_REAL(REAL_MEMBER)
};

extern struct storage_real storage_real;

/* Finds them all. Called by the first of them, which may be before our constructor. */
void storage_resolve(void);

#undef REAL
#define REAL(name) REAL_OF(storage_real, storage_resolve, name)

#endif
