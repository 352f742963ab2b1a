/* See leftovers.h. */
#include "launch/leftovers.h"

#include "base/regular_file.h"
#include "board/shared_memory.h"
#include "system/path.h"

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
    struct error error;
    int file = -1;
    if (find_list(run_folder, &list) && regular_make(list.text, &file, &error) == OK)
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

static void remove_launcher_files(const char *run_folder)
{
    struct path files;
    if (path_format(&files, NULL, "%s/" LAUNCHER_FILES, run_folder) == OK)
        path_remove(files.text, NULL);
}

void leftovers_remove(const char *run_folder)
{
    struct path list;
    char path[NAME_BYTES];
    uintmax_t inode;
    struct error error;
    remove_launcher_files(run_folder);
    FILE *file = find_list(run_folder, &list)
                     ? regular_stream(list.text, LINKS_REFUSED, REGULAR_TEXT_MOST, &error)
                     : NULL;
    if (file == NULL)
        return;
    while (fscanf(file, "%ju %255s", &inode, path) == 2)
        remove_one(inode, path);
    fclose(file);
    unlink(list.text);
}
