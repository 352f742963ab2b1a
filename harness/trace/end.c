/* See end.h. */
#include "trace/end.h"

#include "base/regular_file.h"
#include "trace/record.h"

#include <fcntl.h>
#include <stddef.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static bool read_header(int file, struct trace_header *header)
{
    return pread(file, header, sizeof *header, 0) == (ssize_t)sizeof *header &&
           memcmp(header->magic, TRACE_MAGIC, sizeof header->magic) == 0 &&
           header->version == TRACE_VERSION && atomic_load(&header->lost) == 0;
}

/* The record first: a reader never counts one that is not there. */
static bool append(int file, const struct trace_header *header, const struct record *end)
{
    uint64_t next = atomic_load(&header->next);
    off_t at = (off_t)(TRACE_HEADER_BYTES + next * TRACE_RECORD_BYTES);
    next++;
    return pwrite(file, end, sizeof *end, at) == (ssize_t)sizeof *end &&
           pwrite(file, &next, sizeof next, offsetof(struct trace_header, next)) ==
               (ssize_t)sizeof next;
}

bool trace_write_end(const char *path, int wait_status, uint64_t ticks)
{
    struct record end = {.kind = RECORD_END, .level = LEVEL_SELF, .enter = ticks, .leave = ticks};
    struct trace_header header;
    if (WIFSIGNALED(wait_status))
        end.tag = WTERMSIG(wait_status);
    else
        end.bytes = (uint64_t)WEXITSTATUS(wait_status);
    int file = open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
        return false;
    bool written = regular_check(file, path, REGULAR_ANY, NULL) == OK &&
                   read_header(file, &header) && append(file, &header, &end);
    close(file);
    return written;
}
