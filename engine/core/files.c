/* Files of the store by number: see core.h. */
#include "engine/core/core.h"

void engine_file_made(uint64_t inode)
{
    engine->file =
        engine_room(engine->file, engine->files, &engine->file_room, sizeof *engine->file);
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
