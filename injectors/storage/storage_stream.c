/* Streams (FILE *) on files of the store. glibc reads and writes from inside itself, past our read
 * and write, so a stream on the store is made of our own read, write, seek and close
 * (fopencookie), and fileno still gives its descriptor. Must not know: events, the journal. */
#include "injectors/storage/storage.h"
#include "injectors/storage/storage_real.h"

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#define EXPORTED __attribute__((visibility("default")))

/* Streams of ours that can be open at a time; the reads and writes of more are not seen. */
#define STREAMS_MAX 128

/* A stream of glibc's own reads much at once, past its buffer; one made of functions fills its
 * buffer over and over. So this is what a call of a stream that only reads may ask for. */
#define READ_BUFFER_BYTES 65536

enum { REPORT_STREAMS = 16, REPORT_REOPENED, REPORT_CODED };

/* A slot is free while stream is NULL; TAKEN while it is being filled. */
static struct {
    _Atomic(FILE *) stream;
    _Atomic int fd;
    char buffer[READ_BUFFER_BYTES]; /* of a stream that only reads */
} streams[STREAMS_MAX];
static _Atomic int stream_count;

#define TAKEN ((FILE *)streams)

/* --- the four functions of a stream; the cookie is its slot ---------------------------------- */
static int fd_of(void *cookie)
{
    return atomic_load(&streams[(uintptr_t)cookie].fd);
}

static ssize_t stream_read(void *cookie, char *data, size_t bytes)
{
    return read(fd_of(cookie), data, bytes);
}

/* All of it, as glibc's own streams do: they know short writes only as errors, which errno names.
 */
static ssize_t stream_write(void *cookie, const char *data, size_t bytes)
{
    size_t done = 0;
    while (done < bytes) {
        ssize_t written = write(fd_of(cookie), data + done, bytes - done);
        if (written < 0)
            break;
        done += (size_t)written;
    }
    return (ssize_t)done;
}

static int stream_seek(void *cookie, off64_t *offset, int whence)
{
    off64_t at = lseek64(fd_of(cookie), *offset, whence);
    if (at < 0)
        return -1;
    *offset = at;
    return 0;
}

static int stream_close(void *cookie)
{
    int fd = fd_of(cookie);
    atomic_store(&streams[(uintptr_t)cookie].stream, NULL);
    atomic_fetch_sub(&stream_count, 1);
    return close(fd);
}

/* --- making one ------------------------------------------------------------------------------ */
static bool writes(const char *mode)
{
    return mode[0] == 'w' || mode[0] == 'a' || strchr(mode, '+') != NULL;
}

static FILE *make_stream(int fd, const char *mode)
{
    static const cookie_io_functions_t functions = {stream_read, stream_write, stream_seek,
                                                    stream_close};
    for (uintptr_t i = 0; i < STREAMS_MAX; i++) {
        FILE *free_slot = NULL;
        if (!atomic_compare_exchange_strong(&streams[i].stream, &free_slot, TAKEN))
            continue;
        atomic_store(&streams[i].fd, fd);
        FILE *stream = fopencookie((void *)i, mode, functions);
        if (stream != NULL && !writes(mode))
            setvbuf(stream, streams[i].buffer, _IOFBF, READ_BUFFER_BYTES);
        atomic_fetch_add(&stream_count, stream != NULL);
        atomic_store(&streams[i].stream, stream);
        return stream;
    }
    storage_report(REPORT_STREAMS, "too many streams on the store at once: some are not seen", "");
    return REAL(fdopen)(fd, mode);
}

/* How open says it; -1: not a mode. */
static int flags_of(const char *mode)
{
    int flags = mode[0] == 'r'   ? O_RDONLY
                : mode[0] == 'w' ? O_WRONLY | O_CREAT | O_TRUNC
                : mode[0] == 'a' ? O_WRONLY | O_CREAT | O_APPEND
                                 : -1;
    for (const char *at = mode + 1; flags >= 0 && *mode != '\0' && *at != '\0' && *at != ','; at++)
        flags = *at == '+'   ? (flags & ~O_ACCMODE) | O_RDWR
                : *at == 'x' ? flags | O_EXCL
                : *at == 'e' ? flags | O_CLOEXEC
                             : flags;
    return flags;
}

static bool is_below(const char *path)
{
    struct storage_file file;
    int number = errno;
    bool ours = storage_file_at(AT_FDCWD, path, true, &file);
    errno = number;
    return ours;
}

static bool is_coded(const char *mode, const char *path)
{
    if (strstr(mode, ",ccs=") == NULL)
        return false;
    storage_report(REPORT_CODED, "a stream that converts characters is not seen", path);
    return true;
}

static FILE *open_stream(const char *path, const char *mode)
{
    int flags = flags_of(mode);
    if (flags < 0 || !is_below(path) || is_coded(mode, path))
        return REAL(fopen64)(path, mode);
    int fd = open64(path, flags, 0666);
    if (fd < 0)
        return NULL;
    FILE *stream = make_stream(fd, mode);
    if (stream == NULL)
        close(fd);
    return stream;
}

EXPORTED FILE *fopen(const char *path, const char *mode)
{
    return storage_looks() ? open_stream(path, mode) : REAL(fopen)(path, mode);
}

EXPORTED FILE *fopen64(const char *path, const char *mode)
{
    return storage_looks() ? open_stream(path, mode) : REAL(fopen64)(path, mode);
}

EXPORTED FILE *fdopen(int fd, const char *mode)
{
    struct storage_file file;
    int number = errno;
    bool ours = storage_looks() && storage_file_of(fd, &file);
    errno = number;
    return ours && !is_coded(mode, file.path) ? make_stream(fd, mode) : REAL(fdopen)(fd, mode);
}

/* --- what else takes a stream ---------------------------------------------------------------- */
static void note_reopened(const char *path, const char *mode)
{
    if (storage_looks() && path != NULL && writes(mode) && is_below(path))
        storage_report(REPORT_REOPENED, "writes through freopen are not seen", path);
}

EXPORTED FILE *freopen(const char *path, const char *mode, FILE *stream)
{
    note_reopened(path, mode);
    return REAL(freopen)(path, mode, stream);
}

EXPORTED FILE *freopen64(const char *path, const char *mode, FILE *stream)
{
    note_reopened(path, mode);
    return REAL(freopen64)(path, mode, stream);
}

/* -1: not a stream of ours. */
static int own_descriptor(FILE *stream)
{
    for (int i = 0; i < STREAMS_MAX && atomic_load(&stream_count) > 0; i++)
        if (atomic_load(&streams[i].stream) == stream)
            return atomic_load(&streams[i].fd);
    return -1;
}

EXPORTED int fileno(FILE *stream)
{
    int fd = own_descriptor(stream);
    return fd >= 0 ? fd : REAL(fileno)(stream);
}

EXPORTED int fileno_unlocked(FILE *stream)
{
    int fd = own_descriptor(stream);
    return fd >= 0 ? fd : REAL(fileno_unlocked)(stream);
}
