/* What libc offers to open files and to change their names, with the store looked after. Each
 * function is libc's own unless its file lies below the store. Must not know: contents, what a
 * fault or a record is made of. */
#include "injectors/record/schedule.h"
#include "injectors/storage/storage.h"
#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"
#include "store/journal.h"

#include <errno.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

enum { REPORT_EXCHANGE = 8 };

/* --- opening --------------------------------------------------------------------------------- */
static enum storage_call kind_of_open(int flags, const struct storage_file *file)
{
    if ((flags & O_TMPFILE) == O_TMPFILE || (flags & O_CREAT && file->inode == 0))
        return STORAGE_CREATE;
    if ((flags & O_ACCMODE) == O_RDONLY || (flags & O_PATH) != 0)
        return STORAGE_OPEN;
    return flags & O_TRUNC ? STORAGE_OPEN_EMPTY : STORAGE_OPEN_WRITE;
}

static uint64_t inode_of(int fd)
{
    struct stat facts;
    int number = errno;
    uint64_t inode = fd >= 0 && fstat(fd, &facts) == 0 ? (uint64_t)facts.st_ino : 0;
    errno = number;
    return inode;
}

static void note_made(uint64_t inode)
{
    if (schedule != NULL && inode != 0)
        schedule->file_made(inode);
}

/* A file that somebody makes meanwhile is not made here: *kind says which it was. */
static int create(int folder, const char *path, int flags, mode_t mode, struct storage_file *file,
                  enum storage_call *kind)
{
    uint64_t operation = storage_name_begin(JOURNAL_CREATE, file, NULL);
    int fd = REAL(openat64)(folder, path, flags | O_EXCL, mode);
    storage_name_end(operation, fd >= 0, inode_of(fd));
    note_made(inode_of(fd));
    if (fd >= 0 || errno != EEXIST)
        return fd;
    *kind = kind_of_open(flags & ~O_CREAT, file);
    return flags & O_EXCL ? fd : REAL(openat64)(folder, path, flags, mode);
}

static bool is_followed(int flags)
{
    return (flags & (O_NOFOLLOW | O_EXCL)) == 0;
}

/* In its turn: whether the file is there may have changed since it was looked for. */
static int open_in_turn(int folder, const char *path, int flags, mode_t mode,
                        struct storage_file *file, enum storage_call *kind)
{
    if ((flags & O_TMPFILE) == O_TMPFILE || !(flags & O_CREAT))
        return REAL(openat64)(folder, path, flags, mode);
    if (storage_file_at(folder, path, is_followed(flags), file))
        *kind = kind_of_open(flags, file);
    return *kind == STORAGE_CREATE ? create(folder, path, flags, mode, file, kind)
                                   : REAL(openat64)(folder, path, flags, mode);
}

static int open_ours(int folder, const char *path, int flags, mode_t mode,
                     struct storage_file *file)
{
    struct storage_event call;
    enum storage_call kind = kind_of_open(flags, file);
    int fd = -1;
    storage_begin(&call, kind, file, 0, STORAGE_NO_OFFSET);
    if (!storage_fails(&call)) {
        fd = open_in_turn(folder, path, flags, mode, file, &kind);
        uint64_t inode = inode_of(fd);
        storage_becomes(&call, kind);
        if (fd >= 0 && kind != STORAGE_OPEN)
            storage_opened(inode);
        if (fd >= 0)
            storage_is(&call, inode);
    }
    return (int)storage_end(&call, fd, 0);
}

/* What seems not to be there, and is not to be made. */
static int look_for(int folder, const char *path, int flags, const struct storage_file *file)
{
    struct storage_event call;
    if (storage_look_begin(&call, kind_of_open(flags, file), file))
        return -1;
    int fd = REAL(openat64)(folder, path, flags, 0);
    uint64_t inode = inode_of(fd);
    if (fd >= 0 && kind_of_open(flags, file) != STORAGE_OPEN)
        storage_opened(inode);
    if (fd >= 0)
        storage_is(&call, inode);
    return (int)storage_look_end(&call, fd);
}

static int open_any(int folder, const char *path, int flags, mode_t mode)
{
    struct storage_file file;
    int number = errno;
    bool ours = storage_looks() && storage_file_at(folder, path, is_followed(flags), &file);
    errno = number;
    if (!ours)
        return REAL(openat64)(folder, path, flags, mode);
    bool looks = !(flags & O_CREAT) && storage_is_folded(&file);
    return looks ? look_for(folder, path, flags, &file)
                 : open_ours(folder, path, flags, mode, &file);
}

/* The mode is there only where a file may be made. */
#define MODE_OF(flags, last)                                                                       \
    __extension__({                                                                                \
        mode_t mode_ = 0;                                                                          \
        if ((flags)&O_CREAT || ((flags)&O_TMPFILE) == O_TMPFILE) {                                 \
            va_list arguments;                                                                     \
            va_start(arguments, last);                                                             \
            mode_ = va_arg(arguments, mode_t);                                                     \
            va_end(arguments);                                                                     \
        }                                                                                          \
        mode_;                                                                                     \
    })

EXPORTED int open(const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags, flags);
    int fd =
        storage_looks() ? open_any(AT_FDCWD, path, flags, mode) : REAL(open)(path, flags, mode);
    if (fd >= 0 && (flags & O_CREAT) != 0)
        shared_memory_made(path);
    return fd;
}

EXPORTED int open64(const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags, flags);
    return storage_looks() ? open_any(AT_FDCWD, path, flags | O_LARGEFILE, mode)
                           : REAL(open64)(path, flags, mode);
}

EXPORTED int openat(int folder, const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags, flags);
    return storage_looks() ? open_any(folder, path, flags, mode)
                           : REAL(openat)(folder, path, flags, mode);
}

EXPORTED int openat64(int folder, const char *path, int flags, ...)
{
    mode_t mode = MODE_OF(flags, flags);
    return storage_looks() ? open_any(folder, path, flags | O_LARGEFILE, mode)
                           : REAL(openat64)(folder, path, flags, mode);
}

EXPORTED int __open_2(const char *path, int flags)
{
    return storage_looks() ? open_any(AT_FDCWD, path, flags, 0) : REAL(open)(path, flags);
}

EXPORTED int __open64_2(const char *path, int flags)
{
    return storage_looks() ? open_any(AT_FDCWD, path, flags | O_LARGEFILE, 0)
                           : REAL(open64)(path, flags);
}

EXPORTED int __openat_2(int folder, const char *path, int flags)
{
    return storage_looks() ? open_any(folder, path, flags, 0) : REAL(openat)(folder, path, flags);
}

EXPORTED int __openat64_2(int folder, const char *path, int flags)
{
    return storage_looks() ? open_any(folder, path, flags | O_LARGEFILE, 0)
                           : REAL(openat64)(folder, path, flags);
}

EXPORTED int creat(const char *path, mode_t mode)
{
    return storage_looks() ? open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC, mode)
                           : REAL(creat)(path, mode);
}

EXPORTED int creat64(const char *path, mode_t mode)
{
    return storage_looks()
               ? open_any(AT_FDCWD, path, O_WRONLY | O_CREAT | O_TRUNC | O_LARGEFILE, mode)
               : REAL(creat64)(path, mode);
}

/* --- names that libc makes up: known only when the file is there ------------------------------ */
static int made_up(int fd)
{
    struct storage_file file;
    struct storage_event call;
    char whole[STORAGE_WHOLE_BYTES];
    int number = errno;
    if (!storage_looks() || fd < 0 || !storage_file_of(fd, &file)) {
        errno = number;
        return fd;
    }
    note_made(file.inode);
    storage_begin(&call, STORAGE_CREATE, &file, 0, STORAGE_NO_OFFSET);
    if (storage_fails(&call)) {
        number = errno;
        REAL(unlink)(storage_whole(&file, whole));
        close(fd);
        errno = number;
        fd = -1;
    } else {
        storage_name_end(storage_name_begin(JOURNAL_CREATE, &file, NULL), true, file.inode);
        storage_opened(file.inode);
    }
    return (int)storage_end(&call, fd, 0);
}

EXPORTED int mkstemp(char *pattern)
{
    int fd = REAL(mkstemp)(pattern);
    if (fd >= 0)
        shared_memory_made(pattern);
    return made_up(fd);
}

EXPORTED int mkstemp64(char *pattern)
{
    return made_up(REAL(mkstemp64)(pattern));
}

EXPORTED int mkostemp(char *pattern, int flags)
{
    return made_up(REAL(mkostemp)(pattern, flags));
}

EXPORTED int mkostemp64(char *pattern, int flags)
{
    return made_up(REAL(mkostemp64)(pattern, flags));
}

EXPORTED int mkstemps(char *pattern, int tail)
{
    return made_up(REAL(mkstemps)(pattern, tail));
}

EXPORTED int mkstemps64(char *pattern, int tail)
{
    return made_up(REAL(mkstemps64)(pattern, tail));
}

EXPORTED int mkostemps(char *pattern, int tail, int flags)
{
    return made_up(REAL(mkostemps)(pattern, tail, flags));
}

EXPORTED int mkostemps64(char *pattern, int tail, int flags)
{
    return made_up(REAL(mkostemps64)(pattern, tail, flags));
}

/* --- changing names -------------------------------------------------------------------------- */
/* A name that is made or taken away. */
struct naming {
    struct storage_file file;
    struct storage_event call;
    uint64_t operation;
    bool fails;
    bool makes; /* a file or folder, not another name of one */
};

/* false: not below the store. */
static bool naming_begin(struct naming *naming, int folder, const char *path,
                         enum storage_call kind, unsigned operation)
{
    int number = errno;
    bool ours = storage_looks() && storage_file_at(folder, path, false, &naming->file);
    errno = number;
    if (!ours)
        return false;
    storage_begin(&naming->call, kind, &naming->file, 0, STORAGE_NO_OFFSET);
    naming->fails = storage_fails(&naming->call);
    naming->makes = operation == JOURNAL_CREATE || operation == JOURNAL_MKDIR;
    naming->operation = naming->fails ? 0 : storage_name_begin(operation, &naming->file, NULL);
    return true;
}

static int naming_end(struct naming *naming, int result)
{
    struct stat facts = {0};
    char whole[STORAGE_WHOLE_BYTES];
    int number = errno;
    uint64_t inode = result == 0 && REAL(lstat)(storage_whole(&naming->file, whole), &facts) == 0
                         ? (uint64_t)facts.st_ino
                         : 0;
    errno = number;
    storage_name_end(naming->operation, result == 0, inode);
    if (naming->makes)
        note_made(inode);
    if (inode != 0)
        storage_is(&naming->call, inode);
    return (int)storage_end(&naming->call, result, 0);
}

/* A rename, if it has an end in the store. What leaves the store is taken away, what comes into it
 * is made. */
static int rename_any(int from, const char *old, int to, const char *new, unsigned flags)
{
    struct storage_file source, target;
    struct storage_event call;
    int number = errno;
    bool leaves = storage_file_at(from, old, false, &source);
    bool arrives = storage_file_at(to, new, false, &target);
    errno = number;
    if (!leaves && !arrives)
        return REAL(renameat2)(from, old, to, new, flags);
    bool exchange = (flags & RENAME_EXCHANGE) != 0, both = leaves && arrives;
    if (exchange && !both)
        storage_report(REPORT_EXCHANGE,
                       "an exchange with a file elsewhere is durable at once, as far as losses go",
                       leaves ? source.path : target.path);
    struct storage_file *file = arrives ? &target : &source;
    storage_begin(&call, STORAGE_RENAME, file, 0, STORAGE_NO_OFFSET);
    if (leaves && arrives && call.record != NULL && schedule != NULL)
        schedule->store_file(STORAGE_UNLINK, source.path, source.is_folder);
    if (leaves)
        storage_is(&call, source.inode);
    int result = -1;
    if (!storage_fails(&call)) {
        unsigned kind = exchange   ? JOURNAL_EXCHANGE
                        : !arrives ? JOURNAL_UNLINK
                        : !leaves  ? JOURNAL_LINK
                                   : JOURNAL_RENAME;
        uint64_t operation =
            exchange && !both ? 0 : storage_name_begin(kind, file, both ? &source : NULL);
        result = REAL(renameat2)(from, old, to, new, flags);
        storage_name_end(operation, result == 0, 0);
    }
    return (int)storage_end(&call, result, 0);
}

EXPORTED int rename(const char *old, const char *new)
{
    return storage_looks() ? rename_any(AT_FDCWD, old, AT_FDCWD, new, 0) : REAL(rename)(old, new);
}

EXPORTED int renameat(int from, const char *old, int to, const char *new)
{
    return storage_looks() ? rename_any(from, old, to, new, 0) : REAL(renameat)(from, old, to, new);
}

EXPORTED int renameat2(int from, const char *old, int to, const char *new, unsigned flags)
{
    return storage_looks() ? rename_any(from, old, to, new, flags)
                           : REAL(renameat2)(from, old, to, new, flags);
}

EXPORTED int linkat(int from, const char *old, int to, const char *new, int flags)
{
    struct naming naming;
    if (!naming_begin(&naming, to, new, STORAGE_LINK, JOURNAL_LINK))
        return REAL(linkat)(from, old, to, new, flags);
    return naming_end(&naming, naming.fails ? -1 : REAL(linkat)(from, old, to, new, flags));
}

EXPORTED int link(const char *old, const char *new)
{
    return storage_looks() ? linkat(AT_FDCWD, old, AT_FDCWD, new, 0) : REAL(link)(old, new);
}

EXPORTED int symlinkat(const char *target, int folder, const char *path)
{
    struct naming naming;
    if (!naming_begin(&naming, folder, path, STORAGE_CREATE, JOURNAL_CREATE))
        return REAL(symlinkat)(target, folder, path);
    return naming_end(&naming, naming.fails ? -1 : REAL(symlinkat)(target, folder, path));
}

EXPORTED int symlink(const char *target, const char *path)
{
    return storage_looks() ? symlinkat(target, AT_FDCWD, path) : REAL(symlink)(target, path);
}

EXPORTED int unlinkat(int folder, const char *path, int flags)
{
    struct naming naming;
    unsigned operation = flags & AT_REMOVEDIR ? JOURNAL_RMDIR : JOURNAL_UNLINK;
    if (!naming_begin(&naming, folder, path, STORAGE_UNLINK, operation))
        return REAL(unlinkat)(folder, path, flags);
    return naming_end(&naming, naming.fails ? -1 : REAL(unlinkat)(folder, path, flags));
}

EXPORTED int unlink(const char *path)
{
    return storage_looks() ? unlinkat(AT_FDCWD, path, 0) : REAL(unlink)(path);
}

EXPORTED int rmdir(const char *path)
{
    return storage_looks() ? unlinkat(AT_FDCWD, path, AT_REMOVEDIR) : REAL(rmdir)(path);
}

EXPORTED int remove(const char *path)
{
    struct stat facts = {0};
    if (!storage_looks())
        return REAL(remove)(path);
    int number = errno;
    bool folder = REAL(lstat)(path, &facts) == 0 && S_ISDIR(facts.st_mode);
    errno = number;
    return unlinkat(AT_FDCWD, path, folder ? AT_REMOVEDIR : 0);
}

EXPORTED int mkdirat(int folder, const char *path, mode_t mode)
{
    struct naming naming;
    if (!naming_begin(&naming, folder, path, STORAGE_MKDIR, JOURNAL_MKDIR))
        return REAL(mkdirat)(folder, path, mode);
    return naming_end(&naming, naming.fails ? -1 : REAL(mkdirat)(folder, path, mode));
}

EXPORTED int mkdir(const char *path, mode_t mode)
{
    return storage_looks() ? mkdirat(AT_FDCWD, path, mode) : REAL(mkdir)(path, mode);
}
