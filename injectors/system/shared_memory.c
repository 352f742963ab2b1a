/* Keeps the names of the shared memory that the MPI library makes; see board/shared_memory.h. Must
 * not know: what it is used for. */
#include "board/shared_memory.h"

#include "injectors/storage/storage_real.h"
#include "injectors/system/system.h"

#include <errno.h>
#include <limits.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))

static char list[PATH_MAX]; /* empty: this process is no rank */

void shared_memory_open(const char *run_folder)
{
    if (snprintf(list, sizeof list, "%s/" SHARED_MEMORY_LIST, run_folder) >= (int)sizeof list)
        list[0] = '\0';
}

void shared_memory_close(void)
{
    list[0] = '\0';
}

/* Where there is no list nobody would take anything away: the driver of a run has made it. */
void shared_memory_made(const char *path)
{
    char line[PATH_MAX + 32];
    struct stat facts;
    int number = errno;
    if (list[0] == '\0' || !shared_memory_is_of_mpi(path))
        return;
    int file = stat(path, &facts) == 0
                   ? REAL(open)(list, O_WRONLY | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
                   : -1;
    if (file >= 0) {
        int length = snprintf(line, sizeof line, "%ju %s\n", (uintmax_t)facts.st_ino, path);
        ssize_t written = REAL(write)(file, line, (size_t)length);
        (void)written; /* then it stays, as it does without Faultline */
        close(file);
    }
    errno = number;
}

EXPORTED int shm_open(const char *name, int flags, mode_t mode)
{
    char path[PATH_MAX];
    int fd = REAL(shm_open)(name, flags, mode);
    while (*name == '/')
        name++;
    if (fd >= 0 && (flags & O_CREAT) != 0 &&
        snprintf(path, sizeof path, SHARED_MEMORY "/%s", name) < (int)sizeof path)
        shared_memory_made(path);
    return fd;
}
