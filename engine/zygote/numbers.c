/* See numbers.h. */
#include "engine/zygote/numbers.h"

#include "base/regular_file.h"
#include "engine/core/core.h"

#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#define NUMBERS_FILE "files" /* in the run folder: an inode a line */

static void path_of(char path[PATH_MAX], const char *folder)
{
    snprintf(path, PATH_MAX, "%.*s/" NUMBERS_FILE, PATH_MAX - (int)sizeof NUMBERS_FILE - 1, folder);
}

void numbers_read(const char *folder)
{
    char path[PATH_MAX];
    uint64_t inode;
    path_of(path, folder);
    if (access(path, F_OK) != 0)
        return;
    FILE *file = regular_stream(path, LINKS_REFUSED, REGULAR_TEXT_MOST, NULL);
    while (file != NULL && fscanf(file, "%" SCNu64, &inode) == 1)
        engine_file_made(inode);
    if (file != NULL)
        fclose(file);
}

void numbers_write(const char *folder)
{
    char path[PATH_MAX];
    path_of(path, folder);
    FILE *file = regular_create(path, NULL);
    for (size_t i = 0; file != NULL && i < engine->files; i++)
        fprintf(file, "%" PRIu64 "\n", engine->file[i]);
    if (file != NULL)
        fclose(file);
}
