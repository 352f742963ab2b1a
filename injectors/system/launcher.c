/* The rank's connection to its launcher: a socket on which both talk PMI, or what stands behind
 * PMIx, of which only the call that ends the job is looked at. See system.h.
 *
 * When the launcher ends, its ranks are ended too, by their parents or the driver. Until that has
 * reached this rank it waits: the MPI library would take the closed connection for an error of its
 * own and crash or exit, and that would be reported as the rank's end. */
#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"
#include "trace/clock.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define COMMAND_BYTES 64 /* the name of a command stands at the beginning */
#define ABORT "cmd=abort"
#define PMIX_LIBRARY "libpmix.so.2"

int launcher_fd = INT_MIN;

static ino_t connection; /* inode of the socket: a number of a descriptor may be given anew */
static struct board_slot *rank_slot;

void launcher_open(struct board_slot *slot)
{
    struct stat facts;
    const char *text = getenv("PMI_FD");
    char *end;
    long fd = text != NULL ? strtol(text, &end, 10) : -1;
    rank_slot = slot;
    /* Without a parent of ours nobody might end a rank that waits for its end. */
    if (text == NULL || end == text || *end != '\0' || fd < 0 || fd > INT_MAX ||
        atomic_load(&slot->parent_pid) == 0 || fstat((int)fd, &facts) != 0 ||
        !S_ISSOCK(facts.st_mode))
        return;
    connection = facts.st_ino;
    launcher_fd = (int)fd;
}

static bool is_connection(void)
{
    struct stat facts;
    int number = errno;
    bool is = fstat(launcher_fd, &facts) == 0 && facts.st_ino == connection;
    errno = number;
    return is;
}

void launcher_close(void)
{
    launcher_fd = INT_MIN;
    rank_slot = NULL;
}

static void note_abort(void)
{
    uint64_t not_yet = 0;
    if (rank_slot != NULL)
        atomic_compare_exchange_strong(&rank_slot->aborted_ns, &not_yet, clock_monotonic_ns());
}

/* Open MPI calls it for MPI_Abort and for an error that is fatal. mpirun may have ended the others
 * before this rank ends. */
__attribute__((visibility("default"))) int PMIx_Abort(int status, const char *message,
                                                      void *processes, size_t count);
__attribute__((visibility("default"))) int PMIx_Abort(int status, const char *message,
                                                      void *processes, size_t count)
{
    int (*next)(int, const char *, void *, size_t);
    void *library = dlopen(PMIX_LIBRARY, RTLD_LAZY | RTLD_NOLOAD);
    void *found = library != NULL ? dlsym(library, "PMIx_Abort") : NULL;
    note_abort();
    if (found == NULL)
        abort();
    memcpy(&next, &found, sizeof next);
    return next(status, message, processes, count);
}

_Noreturn static void wait_for_end(void)
{
    for (;;)
        pause();
}

ssize_t launcher_write(const void *data, size_t bytes)
{
    if (!is_connection())
        return REAL(write)(launcher_fd, data, bytes);
    if (memmem(data, bytes < COMMAND_BYTES ? bytes : COMMAND_BYTES, ABORT, strlen(ABORT)) != NULL)
        note_abort();
    ssize_t sent = send(launcher_fd, data, bytes, MSG_NOSIGNAL);
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
        wait_for_end();
    return sent;
}

ssize_t launcher_read(void *data, size_t bytes)
{
    ssize_t result = REAL(read)(launcher_fd, data, bytes);
    if (bytes > 0 && (result == 0 || (result < 0 && errno == ECONNRESET)) && is_connection())
        wait_for_end();
    return result;
}
