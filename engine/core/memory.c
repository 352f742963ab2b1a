/* The mapping that all processes of an incarnation share, and its allocator: blocks of powers of
 * two, and of whole classes above. Only the holder of the token calls it. See core.h. */
#include "engine/core/core.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

/* Far from where the loader, the heap and stacks are. The file is as large as its pages in use. */
#define ENGINE_ADDRESS ((void *)0x500000000000)
#define ENGINE_BYTES ((size_t)16 << 30)

#define SMALLEST 32
#define FIRST_ROOM 64 /* things in an array that grows */
#define HEADER 16     /* before each block: its class */

struct engine *engine;
int engine_self = ENGINE_NOBODY;

struct block {
    uint32_t class;
    struct block *next; /* while it is free: where the caller's bytes begin otherwise */
};

_Static_assert(offsetof(struct block, next) < HEADER, "a free block's link fits");

bool engine_map(int ranks)
{
    int file = memfd_create("faultline-engine", MFD_CLOEXEC);
    if (file < 0)
        return false;
    void *map = MAP_FAILED;
    struct rlimit most = {RLIM_INFINITY, RLIM_INFINITY};
    getrlimit(RLIMIT_FSIZE, &most);
    errno = EFBIG; /* said here: a file beyond the limit is SIGXFSZ */
    if (most.rlim_cur >= ENGINE_BYTES && ftruncate(file, (off_t)ENGINE_BYTES) == 0)
        map = mmap(ENGINE_ADDRESS, ENGINE_BYTES, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED_NOREPLACE, file, 0);
    int number = errno;
    close(file);
    errno = number;
    if (map == MAP_FAILED)
        return false;
    engine = map;
    engine->used = (sizeof *engine + 63) & ~(size_t)63;
    engine->ranks = engine->processes = ranks;
    engine->most_processes = ENGINE_MAX_PROCESSES;
    engine->holder = ENGINE_NOBODY;
    engine->launcher = getpid();
    engine->events = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    return engine->events >= 0;
}

static unsigned class_of(size_t bytes)
{
    unsigned class = 0;
    for (size_t room = SMALLEST; room < bytes; room *= 2)
        class ++;
    return class;
}

void *engine_allocate(size_t bytes)
{
    unsigned class = class_of(bytes + HEADER);
    size_t room = (size_t)SMALLEST << class;
    struct block *block = engine->unused[class];
    if (block != NULL) {
        engine->unused[class] = block->next;
    } else if (room <= ENGINE_BYTES - engine->used) {
        block = (struct block *)((char *)engine + engine->used);
        engine->used += room;
    } else {
        fprintf(stderr, "faultline: the step engine's memory of %zu bytes is full\n", ENGINE_BYTES);
        abort();
    }
    block->class = class;
    return memset((char *)block + HEADER, 0, bytes);
}

void engine_release(void *memory)
{
    if (memory == NULL)
        return;
    struct block *block = (struct block *)((char *)memory - HEADER);
    block->next = engine->unused[block->class];
    engine->unused[block->class] = block;
}

void *engine_room(void *array, size_t count, size_t *room, size_t bytes)
{
    if (count < *room)
        return array;
    *room = *room == 0 ? FIRST_ROOM : 2 * *room;
    void *more = engine_allocate(*room * bytes);
    if (count > 0)
        memcpy(more, array, count * bytes);
    engine_release(array);
    return more;
}
