/* A bit of a file of the store is inverted when a call on that file has returned: what a disk that
 * decays does to a checkpoint. The rank gets no error. */
#include "injectors/rules/injection.h"
#include "injectors/rules/rules.h"

#include <fcntl.h>
#include <unistd.h>

static bool fits(const struct plan_step *step, unsigned call, uint64_t bytes)
{
    (void)step;
    (void)call;
    (void)bytes;
    return true;
}

static bool invert(int fd, uint64_t at)
{
    unsigned char byte;
    if (pread(fd, &byte, 1, (off_t)at) != 1)
        return false;
    byte ^= 1;
    return pwrite(fd, &byte, 1, (off_t)at) == 1;
}

/* A file that is too short yet, a folder and a call that failed are left: a later call may do. */
static bool flip(uint32_t step, const char *path, long result)
{
    uint64_t at = rules_step(step)->count;
    int fd = result < 0 ? -1 : open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    bool done = fd >= 0 && invert(fd, at);
    if (fd >= 0)
        close(fd);
    if (done)
        rules_stored(step, at, 0);
    return done;
}

const struct injection inject_flip = {.fits = fits, .after = flip};
