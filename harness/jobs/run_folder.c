/* See run_folder.h. */
#include "jobs/run_folder.h"

#include "base/regular_file.h"
#include "board/shared_memory.h"
#include "system/path.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#define NAME "faultline-runs-"
#define MEMORY_TO_BEGIN (UINT64_C(1) << 30) /* bytes free: else runs are made on the disk */
#define MEMORY_LEFT (UINT64_C(256) << 20)   /* bytes free after a run that had enough */
#define MB UINT64_C(1000000)
#define OPEN_FOLDERS 16 /* descriptors that nftw may use */

static struct {
    bool tried;
    struct path folder; /* of this command; empty: there is none */
    int lock;
    unsigned count; /* of the folders made in it */
} memory;

static uint64_t bytes_free(void)
{
    struct statvfs facts;
    return statvfs(SHARED_MEMORY, &facts) == 0 ? (uint64_t)facts.f_bavail * facts.f_frsize : 0;
}

/* --- the command's folder in memory ----------------------------------------------------------- */

/* A folder on which nobody holds a lock is one of a command that has been killed. */
static void remove_left_folder(const char *name)
{
    struct path path;
    struct stat facts;
    if (path_format(&path, NULL, SHARED_MEMORY "/%s", name) != OK)
        return;
    int folder = open(path.text, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (folder >= 0 && fstat(folder, &facts) == 0 && facts.st_uid == geteuid() &&
        flock(folder, LOCK_EX | LOCK_NB) == 0)
        path_remove(path.text, NULL);
    if (folder >= 0)
        close(folder);
}

static void remove_left_folders(void)
{
    DIR *all = opendir(SHARED_MEMORY);
    if (all == NULL)
        return;
    for (const struct dirent *entry; (entry = readdir(all)) != NULL;)
        if (strncmp(entry->d_name, NAME, sizeof NAME - 1) == 0)
            remove_left_folder(entry->d_name);
    closedir(all);
}

/* The lock is inherited by the jobs, and ends with the last of them. */
static bool open_memory(void)
{
    if (memory.tried)
        return memory.folder.text[0] != '\0';
    memory.tried = true;
    remove_left_folders();
    snprintf(memory.folder.text, sizeof memory.folder.text, SHARED_MEMORY "/" NAME "XXXXXX");
    if (mkdtemp(memory.folder.text) != NULL) {
        memory.lock = open(memory.folder.text, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        if (memory.lock >= 0 && flock(memory.lock, LOCK_EX | LOCK_NB) == 0)
            return true;
        if (memory.lock >= 0)
            close(memory.lock);
        rmdir(memory.folder.text);
    }
    memory.folder.text[0] = '\0';
    return false;
}

void run_folder_close(void)
{
    if (memory.folder.text[0] != '\0') {
        path_remove(memory.folder.text, NULL);
        close(memory.lock);
    }
    memory.folder.text[0] = '\0';
    memory.tried = false;
}

/* --- one run folder --------------------------------------------------------------------------- */

/* Where it is in memory; false: it is not. */
static bool find_in_memory(const char *path, struct path *place)
{
    ssize_t length =
        memory.folder.text[0] != '\0' ? readlink(path, place->text, sizeof place->text - 1) : -1;
    if (length < 0)
        return false;
    place->text[length] = '\0';
    size_t above = strlen(memory.folder.text);
    return strncmp(place->text, memory.folder.text, above) == 0 && place->text[above] == '/';
}

void run_folder_begin(const char *path)
{
    struct path place;
    const char *wanted = getenv(RUN_FOLDER_ENVIRONMENT);
    if ((wanted != NULL && strcmp(wanted, "0") == 0) || bytes_free() < MEMORY_TO_BEGIN ||
        !open_memory() ||
        path_format(&place, NULL, "%s/%u", memory.folder.text, ++memory.count) != OK ||
        mkdir(place.text, 0777) != 0)
        return;
    if (symlink(place.text, path) != 0)
        rmdir(place.text);
}

bool run_folder_is_in_memory(const char *path)
{
    struct path place;
    return find_in_memory(path, &place);
}

static uint64_t bytes_written(const struct path *folder)
{
    static const char *const parts[] = {"trace", "output"};
    uint64_t bytes = 0;
    struct path part;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
        if (path_format(&part, NULL, "%s/%s", folder->text, parts[i]) == OK)
            bytes += path_bytes_in(part.text);
    return bytes;
}

bool run_folder_was_short(const char *path)
{
    struct path place;
    return find_in_memory(path, &place) &&
           (bytes_free() < MEMORY_LEFT || bytes_written(&place) >= RUN_FOLDER_MB * MB);
}

static int look_for_program(const char *path, const struct stat *facts, int kind, struct FTW *where)
{
    (void)path;
    (void)where;
    return kind == FTW_F && (facts->st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != 0;
}

bool run_folder_refused_program(const char *path)
{
    struct path place;
    struct statvfs facts;
    return find_in_memory(path, &place) && statvfs(place.text, &facts) == 0 &&
           (facts.f_flag & ST_NOEXEC) != 0 &&
           nftw(place.text, look_for_program, OPEN_FOLDERS, FTW_PHYS) > 0;
}

enum error_code run_folder_remove(const char *path, struct error *error)
{
    struct path place;
    enum error_code code = find_in_memory(path, &place) ? path_remove(place.text, error) : OK;
    return code == OK ? path_remove(path, error) : code;
}

/* --- to the disk ------------------------------------------------------------------------------ */

static struct {
    const char *to;
    const char *place; /* that is copied */
    size_t from;       /* its length */
    struct path whole; /* what the copy will be called, absolute */
    struct error *error;
} copying;

/* What leads into the place leads into the copy then. */
static int copy_link(const char *from, const char *to)
{
    char target[PATH_MAX];
    struct path other;
    ssize_t length = readlink(from, target, sizeof target - 1);
    if (length < 0)
        return -1;
    target[length] = '\0';
    const char *below = target + copying.from;
    bool leads_in =
        strncmp(target, copying.place, copying.from) == 0 && (*below == '/' || *below == '\0');
    if (leads_in && path_format(&other, NULL, "%s%s", copying.whole.text, below) == OK)
        return symlink(other.text, to);
    return symlink(target, to);
}

static int copy_one(const char *from, const struct stat *facts, int kind, struct FTW *where)
{
    struct path to;
    int failed = 0;
    (void)where;
    if (path_format(&to, copying.error, "%s%s", copying.to, from + copying.from) != OK)
        return -1;
    if (kind == FTW_D)
        failed = mkdir(to.text, facts->st_mode & 0777);
    else if (kind == FTW_SL)
        failed = copy_link(from, to.text);
    else if (S_ISREG(facts->st_mode) && regular_copy(from, to.text, copying.error) != OK)
        return -1;
    else if (S_ISREG(facts->st_mode))
        failed = chmod(to.text, facts->st_mode & 0777);
    if (failed != 0)
        error_set(copying.error, ERROR_IO, "%s: %s", to.text, strerror(errno));
    return failed;
}

/* Of the folder that `path` is in, and its name in there. */
static enum error_code name_whole(const char *path, struct path *whole, struct error *error)
{
    struct path above, absolute;
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    enum error_code code = path_format(&above, error, "%.*s.", (int)(name - path), path);
    if (code == OK)
        code = path_absolute(above.text, &absolute, error);
    return code == OK ? path_format(whole, error, "%s/%s", absolute.text, name) : code;
}

/* Sockets, pipes and devices are left out. */
static enum error_code copy_folder(const char *from, const char *to, struct error *error)
{
    copying.to = to;
    copying.place = from;
    copying.from = strlen(from);
    copying.error = error;
    error->code = OK;
    if (nftw(from, copy_one, OPEN_FOLDERS, FTW_PHYS) == 0)
        return OK;
    return error->code != OK
               ? error->code
               : error_set(error, ERROR_IO, "cannot read %s: %s", from, strerror(errno));
}

enum error_code run_folder_keep(const char *path, struct error *error)
{
    struct path place, copy;
    if (!find_in_memory(path, &place))
        return OK;
    enum error_code code = path_format(&copy, error, "%s.copy", path);
    if (code == OK) /* half of one, of a command that was killed */
        code = path_remove(copy.text, error);
    if (code == OK)
        code = name_whole(path, &copying.whole, error);
    if (code != OK)
        return code;
    path_give_access(place.text, S_IRUSR);
    code = copy_folder(place.text, copy.text, error);
    if (code == OK && (unlink(path) != 0 || rename(copy.text, path) != 0))
        code = error_set(error, ERROR_IO, "cannot rename %s: %s", copy.text, strerror(errno));
    if (code != OK)
        (void)path_remove(copy.text, NULL); /* the disk may be full of it */
    return code == OK ? path_remove(place.text, error) : code;
}
