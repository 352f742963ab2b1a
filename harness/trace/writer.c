/* See writer.h. */
#include "trace/writer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#ifndef MADV_POPULATE_WRITE
#define MADV_POPULATE_WRITE                                                                        \
    23 /* Linux 5.14; refused by older ones, which then fault page by page */
#endif

#define ZEROS_BYTES 65536u
#define RESERVING_PAUSE_NS 10000 /* between two looks at whether the one that is alone is done */

/* Beyond this the kernel answers with SIGXFSZ, which would kill the program under test. */
static bool size_allowed(uint64_t bytes)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_FSIZE, &limit) != 0)
        return true;
    return limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur;
}

/* Writing zeros brings the pages into memory in large pieces: about four times faster than touching
 * them one by one through the mapping. */
static bool write_zeros(int file, uint64_t from, uint64_t to)
{
    static const char zeros[ZEROS_BYTES];
    while (from < to) {
        struct iovec piece[TRACE_CHUNK_MAX_BYTES / ZEROS_BYTES];
        unsigned pieces = 0;
        for (uint64_t at = from; at < to && pieces < sizeof piece / sizeof piece[0]; pieces++) {
            uint64_t bytes = to - at < ZEROS_BYTES ? to - at : ZEROS_BYTES;
            piece[pieces] = (struct iovec){(void *)(uintptr_t)zeros, bytes};
            at += bytes;
        }
        ssize_t written = pwritev(file, piece, (int)pieces, (off_t)from);
        if (written < 0 && errno == EINTR)
            continue;
        if (written <= 0)
            return false;
        from += (uint64_t)written;
    }
    return true;
}

/* Blocks first: what is written into memory later must find its place on disk. Where a file system
 * cannot reserve, writing the zeros does it. */
static bool allocate_blocks(int file, uint64_t from, uint64_t to)
{
    int result;
    do
        result = fallocate(file, 0, (off_t)from, (off_t)(to - from));
    while (result != 0 && errno == EINTR);
    return result == 0 || errno == EOPNOTSUPP || errno == ENOSYS;
}

/* Programs close what they have not opened, and the number is given out again. */
static bool is_ours(const struct trace_writer *writer)
{
    struct stat facts;
    return fstat(writer->file, &facts) == 0 && facts.st_dev == writer->device &&
           facts.st_ino == writer->inode;
}

/* Makes the file `to` bytes long; unchanged (cut back) if that fails. errno says why. */
static bool allocate(struct trace_writer *writer, uint64_t to)
{
    uint64_t from = writer->allocated;
    if (!size_allowed(to)) {
        errno = EFBIG;
        return false;
    }
    if (!allocate_blocks(writer->file, from, to) || !write_zeros(writer->file, from, to)) {
        int reason = errno;
        if (ftruncate(writer->file, (off_t)from) != 0)
            errno = reason; /* longer than needed: readers go by header.next */
        errno = reason;
        return false;
    }
    madvise((char *)writer->header + from, to - from, MADV_POPULATE_WRITE);
    writer->allocated = to;
    return true;
}

/* Chunks end at multiples of their size, which lets the kernel use large pages. errno says why the
 * file cannot grow. */
static bool grow(struct trace_writer *writer)
{
    if (!is_ours(writer)) {
        errno = EBADF;
        return false;
    }
    errno = ENOMEM; /* the mapping ends here */
    uint64_t chunk = TRACE_CHUNK_BYTES;
    while (chunk < TRACE_CHUNK_MAX_BYTES && chunk < writer->allocated)
        chunk *= 2;
    for (; chunk >= TRACE_HEADER_BYTES; chunk /= 2) {
        uint64_t to = (writer->allocated / chunk + 1) * chunk;
        if (to > writer->mapped)
            continue;
        if (allocate(writer, to)) {
            uint64_t records = (to - TRACE_HEADER_BYTES) / TRACE_RECORD_BYTES;
            atomic_store(&writer->header->room, records);
            atomic_store(&writer->limit, records);
            return true;
        }
    }
    return false;
}

static uint64_t reserve_bytes(void)
{
    struct rlimit limit;
    uint64_t bytes = TRACE_RESERVE_BYTES;
    if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY)
        return bytes;
    while (bytes > TRACE_RESERVE_MIN_BYTES && bytes > limit.rlim_cur / TRACE_RESERVE_PART)
        bytes /= 2;
    return bytes;
}

/* The kernel gives what the limits of the process allow. */
static bool map(struct trace_writer *writer)
{
    uint64_t bytes = reserve_bytes();
    for (; bytes >= TRACE_RESERVE_MIN_BYTES; bytes /= 2) {
        void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, writer->file, 0);
        if (memory == MAP_FAILED)
            continue;
        madvise(memory, bytes, MADV_DONTDUMP); /* core files of the program under test */
        writer->header = memory;
        writer->record = (struct record *)((char *)memory + TRACE_HEADER_BYTES);
        writer->mapped = bytes;
        return true;
    }
    return false;
}

static void write_header(struct trace_header *to, const struct trace_header *from)
{
    uint64_t room = atomic_load(&to->room);
    memcpy(to, from, sizeof *to);
    atomic_store(&to->room, room);
    to->version = TRACE_VERSION;
    to->record_bytes = TRACE_RECORD_BYTES;
    atomic_store(&to->next, 0);
    atomic_store(&to->last_note, 0);
    atomic_store(&to->closed, 0);
    atomic_store(&to->lost, 0);
    memcpy(to->magic, TRACE_MAGIC, sizeof to->magic);
}

/* The descriptor of a new file, moved up if there is room; -1 with errno. */
static int create(const char *path)
{
    int file = open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    int moved = file < 0 ? -1 : fcntl(file, F_DUPFD_CLOEXEC, TRACE_DESCRIPTOR_MIN);
    if (moved < 0)
        return file;
    close(file);
    return moved;
}

static bool remember(struct trace_writer *writer)
{
    struct stat facts;
    if (fstat(writer->file, &facts) != 0)
        return false;
    writer->device = facts.st_dev;
    writer->inode = facts.st_ino;
    return true;
}

enum error_code trace_writer_open(struct trace_writer *writer, const char *path,
                                  const struct trace_header *header, struct error *error)
{
    memset(writer, 0, sizeof *writer);
    writer->file = create(path);
    if (writer->file < 0)
        return error_set(error, ERROR_IO, "cannot create trace %s: %s", path, strerror(errno));
    if (!remember(writer) || !map(writer) || !grow(writer)) {
        error_set(error, ERROR_IO, "cannot make room for trace %s: %s", path, strerror(errno));
        if (writer->header != NULL)
            munmap(writer->header, writer->mapped);
        close(writer->file);
        unlink(path);
        memset(writer, 0, sizeof *writer);
        writer->file = -1;
        return ERROR_IO;
    }
    write_header(writer->header, header);
    return OK;
}

/* Waits for a thread that makes the file grow, and lets no other begin. */
static void stop_growing(struct trace_writer *writer)
{
    uint32_t self = (uint32_t)gettid();
    uint32_t owner = 0;
    while (!atomic_compare_exchange_weak(&writer->growing, &owner, self)) {
        if (owner == self) /* exit() in a signal handler: what was interrupted never goes on */
            return;
        owner = 0;
        sched_yield();
    }
}

static int membarrier(int command)
{
    return (int)syscall(SYS_membarrier, command, 0, 0);
}

void trace_writer_alone(struct trace_writer *writer)
{
    writer->owner = gettid();
    if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0)
        atomic_store(&writer->alone, true);
}

/* After the barrier the owner sees that it is alone no more, or `reserving` is seen here. */
void trace_writer_shared(struct trace_writer *writer)
{
    atomic_store(&writer->alone, false);
    if (writer->owner == 0)
        return;
    membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED);
    while (atomic_load(&writer->reserving))
        nanosleep(&(struct timespec){.tv_nsec = RESERVING_PAUSE_NS}, NULL);
}

void trace_writer_close(struct trace_writer *writer)
{
    if (writer->header == NULL || atomic_exchange(&writer->closed, 1) != 0)
        return;
    if (writer->owner != gettid())
        trace_writer_shared(writer);
    stop_growing(writer);
    uint64_t limit = atomic_exchange(&writer->limit, 0);
    uint64_t next = atomic_load(&writer->header->next);
    if (next > limit) {
        next = limit;
        atomic_store(&writer->header->next, next);
    }
    /* A page that a thread still writes into is below `next`, so it stays. */
    off_t bytes = (off_t)(TRACE_HEADER_BYTES + next * TRACE_RECORD_BYTES);
    bool ours = is_ours(writer);
    if (!ours || ftruncate(writer->file, bytes) != 0)
        bytes = 0; /* longer than needed: readers go by header.next */
    atomic_store(&writer->header->closed, 1);
    if (ours)
        close(writer->file);
    writer->file = -1;
}

static void end_growth(struct trace_writer *writer, int reason)
{
    atomic_store(&writer->full, 1);
    if (writer->when_full != NULL)
        writer->when_full(reason);
}

/* false: there is no room and will be none. A thread that finds itself growing the file already (it
 * was interrupted by a signal in the middle of that) must not wait for itself. */
static bool wait_for_room(struct trace_writer *writer, uint64_t needed)
{
    uint32_t self = (uint32_t)gettid();
    while (atomic_load(&writer->limit) < needed) {
        uint32_t nobody = 0;
        if (atomic_load(&writer->full) || atomic_load(&writer->closed))
            return false;
        if (atomic_compare_exchange_strong(&writer->growing, &nobody, self)) {
            if (atomic_load(&writer->limit) < needed && !atomic_load(&writer->closed) &&
                !grow(writer))
                end_growth(writer, errno);
            atomic_store(&writer->growing, 0);
        } else if (nobody == self) {
            return false;
        } else {
            sched_yield();
        }
    }
    return true;
}

struct record *trace_reserve_beyond(struct trace_writer *writer, uint64_t index, unsigned count)
{
    int saved = errno;
    bool room = wait_for_room(writer, index + count);
    errno = saved;
    if (room)
        return writer->record + index;
    if (atomic_load(&writer->closed))
        atomic_fetch_sub(&writer->header->next, count);
    else
        atomic_fetch_add(&writer->header->lost, count);
    return NULL;
}
