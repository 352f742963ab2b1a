/* The rank's connection to its launcher: a socket on which both talk PMI. See system.h.
 *
 * When the launcher ends, its ranks are ended too, by their parents or the driver. Until that has
 * reached this rank it waits: the MPI library would take the closed connection for an error of its
 * own and crash or exit, and that would be told as the rank's end. */
#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"
#include "trace/clock.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>

#define COMMAND_BYTES 64 /* the name of a command stands at the beginning */
#define ABORT "cmd=abort"

int launcher_fd = INT_MIN;

static ino_t connection; /* inode of the socket: a number of a descriptor may be given anew */
static struct board_slot *rank_slot;

void launcher_open(struct board_slot *slot)
{
    struct stat facts;
    const char *text = getenv("PMI_FD");
    char *end;
    long fd = text != NULL ? strtol(text, &end, 10) : -1;
    /* Without a parent of ours nobody might end a rank that waits for its end. */
    if (text == NULL || end == text || *end != '\0' || fd < 0 || fd > INT_MAX ||
        atomic_load(&slot->parent_pid) == 0 || fstat((int)fd, &facts) != 0 ||
        !S_ISSOCK(facts.st_mode))
        return;
    connection = facts.st_ino;
    rank_slot = slot;
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
    uint64_t not_yet = 0;
    if (memmem(data, bytes < COMMAND_BYTES ? bytes : COMMAND_BYTES, ABORT, strlen(ABORT)) != NULL)
        atomic_compare_exchange_strong(&rank_slot->aborted_ns, &not_yet, clock_monotonic_ns());
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
