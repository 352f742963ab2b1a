/* The functions of libc that give random bytes, in a rank of the step engine: drawn from the seed
 * of the run, a sequence for each rank. Everywhere else they are the kernel's. */
#include "base/mix.h"
#include "engine/core/core.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <unistd.h>

#define EXPORTED __attribute__((visibility("default")))

/* Not a number of a decision: both are drawn from the same seed. */
#define SEQUENCE 0x6368616e6365u
#define MOST_ENTROPY 256 /* bytes, as libc has it */

static void draw(void *to, size_t bytes)
{
    static uint64_t drawn;
    uint64_t own = mix_two(mix_two(engine->seed, SEQUENCE), (uint64_t)engine_self);
    for (size_t done = 0; done < bytes; done += sizeof own) {
        uint64_t number = mix_two(own, drawn++);
        size_t left = bytes - done;
        memcpy((char *)to + done, &number, left < sizeof number ? left : sizeof number);
    }
}

static bool is_rank(void)
{
    return engine != NULL && engine_self != ENGINE_NOBODY && engine_runs_thread();
}

EXPORTED ssize_t getrandom(void *to, size_t bytes, unsigned flags)
{
    if (!is_rank())
        return syscall(SYS_getrandom, to, bytes, flags);
    draw(to, bytes);
    return (ssize_t)bytes;
}

/* libc's own would go past getrandom. */
EXPORTED void arc4random_buf(void *to, size_t bytes)
{
    unsigned char *next = to;
    while (bytes > 0) {
        ssize_t got = getrandom(next, bytes, 0);
        next += got > 0 ? got : 0;
        bytes -= got > 0 ? (size_t)got : 0;
    }
}

EXPORTED uint32_t arc4random(void)
{
    uint32_t number;
    arc4random_buf(&number, sizeof number);
    return number;
}

/* What lies in the last part, which is not whole, is drawn again. */
EXPORTED uint32_t arc4random_uniform(uint32_t below)
{
    uint32_t number, least = below > 1 ? -below % below : 0;
    do
        number = arc4random();
    while (number < least);
    return below > 1 ? number % below : 0;
}

EXPORTED int getentropy(void *to, size_t bytes)
{
    if (bytes > MOST_ENTROPY) {
        errno = EIO;
        return -1;
    }
    for (size_t done = 0; done < bytes;) {
        ssize_t got = getrandom((char *)to + done, bytes - done, 0);
        if (got < 0 && errno != EINTR)
            return -1;
        done += got > 0 ? (size_t)got : 0;
    }
    return 0;
}
