/* See leftovers.h. */
#include "launch/leftovers.h"

#include "board/shared_memory.h"
#include "system/path.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define NAME_BYTES 256

static bool find_list(const char *run_folder, struct path *list)
{
    return path_format(list, NULL, "%s/" SHARED_MEMORY_LIST, run_folder) == OK;
}

void leftovers_begin(const char *run_folder)
{
    struct path list;
    int file = find_list(run_folder, &list)
                   ? open(list.text, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666)
                   : -1;
    if (file >= 0)
        close(file);
}

/* The library may have taken it away, and somebody else may have one of the same name by now. */
static void remove_one(uintmax_t inode, const char *path)
{
    struct stat facts;
    if (shared_memory_is_of_mpi(path) && lstat(path, &facts) == 0 && S_ISREG(facts.st_mode) &&
        facts.st_ino == inode)
        unlink(path);
}

void leftovers_remove(const char *run_folder)
{
    struct path list;
    char path[NAME_BYTES];
    uintmax_t inode;
    FILE *file = find_list(run_folder, &list) ? fopen(list.text, "re") : NULL;
    if (file == NULL)
        return;
    while (fscanf(file, "%ju %255s", &inode, path) == 2)
        remove_one(inode, path);
    fclose(file);
    unlink(list.text);
}
