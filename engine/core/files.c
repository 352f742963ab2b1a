/* Files of the store by number: see core.h. */
#include "engine/core/core.h"

#include <string.h>

#define FIRST_ROOM 64

static void make_room(void)
{
    size_t room = engine->file_room == 0 ? FIRST_ROOM : 2 * engine->file_room;
    uint64_t *more = engine_allocate(room * sizeof *more);
    if (engine->files > 0)
        memcpy(more, engine->file, engine->files * sizeof *more);
    engine_release(engine->file);
    engine->file = more;
    engine->file_room = room;
}

void engine_file_made(uint64_t inode)
{
    if (engine->files == engine->file_room)
        make_room();
    engine->file[engine->files++] = inode;
}

uint32_t engine_file(uint64_t inode)
{
    for (size_t i = engine->files; i > 0; i--)
        if (engine->file[i - 1] == inode)
            return (uint32_t)i;
    engine_file_made(inode);
    return (uint32_t)engine->files;
}
