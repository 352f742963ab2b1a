/* Which file of the store a call is about: asked of the kernel each time. Safe in signal handlers
 * and forked children. Must not know: events, the journal. */
#include "injectors/storage/storage.h"
#include "injectors/storage/storage_real.h"

#include <errno.h>
#include <string.h>

#define LINK_BYTES 32 /* "/proc/self/fd/<number>" */
#define MAPS_BYTES 8192

char storage_root[PATH_MAX];

static const char deleted[] = " (deleted)";

static void link_of(int fd, char name[LINK_BYTES])
{
    char digits[12];
    int count = 0;
    unsigned number = (unsigned)fd;
    char *at = stpcpy(name, "/proc/self/fd/");
    do
        digits[count++] = (char)('0' + number % 10);
    while ((number /= 10) > 0);
    while (count > 0)
        *at++ = digits[--count];
    *at = '\0';
}

/* What the kernel calls the open file; false if it has no path. */
static bool path_of(int fd, char path[PATH_MAX])
{
    char name[LINK_BYTES];
    if (fd < 0)
        return false;
    link_of(fd, name);
    ssize_t length = readlink(name, path, PATH_MAX - 1);
    if (length <= 0 || path[0] != '/')
        return false;
    path[length] = '\0';
    size_t tail = sizeof deleted - 1;
    if ((size_t)length > tail && strcmp(path + (size_t)length - tail, deleted) == 0)
        path[(size_t)length - tail] = '\0';
    return true;
}

/* Cuts the store off in front; false if it is not there. "." is the store itself. */
static bool cut_root(const char *path, char below[PATH_MAX])
{
    size_t length = strlen(storage_root);
    if (length == 0 || strncmp(path, storage_root, length) != 0)
        return false;
    if (path[length] == '\0') {
        strcpy(below, ".");
        return true;
    }
    if (path[length] != '/')
        return false;
    memmove(below, path + length + 1, strlen(path + length + 1) + 1);
    return true;
}

/* The inode of the folder that holds it. */
static uint64_t folder_of(const char *below)
{
    char path[2 * PATH_MAX];
    struct stat facts = {0};
    if (strcmp(below, ".") == 0)
        return 0;
    char *end = stpcpy(stpcpy(stpcpy(path, storage_root), "/"), below);
    while (*end != '/')
        end--;
    *end = '\0';
    return REAL(stat)(path, &facts) == 0 ? (uint64_t)facts.st_ino : 0;
}

const char *storage_whole(const struct storage_file *file, char buffer[STORAGE_WHOLE_BYTES])
{
    strcpy(stpcpy(stpcpy(buffer, storage_root), "/"), file->path);
    return buffer;
}

static void fill(struct storage_file *file, const struct stat *facts)
{
    file->inode = facts != NULL ? (uint64_t)facts->st_ino : 0;
    file->is_folder = facts != NULL && S_ISDIR(facts->st_mode);
    file->folder = folder_of(file->path);
}

void storage_file_refresh(struct storage_file *file)
{
    char whole[STORAGE_WHOLE_BYTES];
    struct stat facts = {0};
    fill(file, REAL(lstat)(storage_whole(file, whole), &facts) == 0 ? &facts : NULL);
}

bool storage_file_of(int fd, struct storage_file *file)
{
    char path[PATH_MAX];
    struct stat facts;
    if (fstat(fd, &facts) != 0 || !(S_ISREG(facts.st_mode) || S_ISDIR(facts.st_mode)))
        return false; /* a socket, a terminal: most of what is written to */
    if (!path_of(fd, path) || !cut_root(path, file->path))
        return false;
    fill(file, &facts);
    return true;
}

/* A file that is there: the kernel says where. */
static bool find_there(int folder, const char *path, struct storage_file *file, bool *there)
{
    int fd = REAL(openat)(folder, path, O_PATH | O_CLOEXEC);
    *there = fd >= 0;
    if (fd < 0)
        return false;
    bool found = storage_file_of(fd, file);
    close(fd);
    return found;
}

/* A name in a folder, whether or not anything has it, and without following it. */
static bool find_name(int folder, const char *path, struct storage_file *file)
{
    char parent[PATH_MAX], whole[PATH_MAX];
    struct stat facts;
    size_t length = strnlen(path, PATH_MAX);
    while (length > 1 && path[length - 1] == '/')
        length--;
    size_t start = length;
    while (start > 0 && path[start - 1] != '/')
        start--;
    if (length >= PATH_MAX || start == length)
        return false;
    memcpy(parent, path, start);
    strcpy(parent + start, start == 0 ? "." : "");
    int fd = REAL(openat)(folder, parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
    bool found = fd >= 0 && path_of(fd, whole) && strlen(whole) + length - start + 2 <= PATH_MAX;
    if (fd >= 0)
        close(fd);
    if (!found)
        return false;
    char *end = whole + strlen(whole);
    *end++ = '/';
    memcpy(end, path + start, length - start);
    end[length - start] = '\0';
    if (!cut_root(whole, file->path))
        return false;
    fill(file, REAL(lstat)(whole, &facts) == 0 ? &facts : NULL);
    return true;
}

bool storage_file_at(int folder, const char *path, bool follow, struct storage_file *file)
{
    bool there = false;
    if (path == NULL || storage_root[0] == '\0')
        return false;
    if (follow && find_there(folder, path, file, &there))
        return true;
    return !there && find_name(folder, path, file);
}

/* --- mappings -------------------------------------------------------------------------------- */
static uint64_t hex_number(const char **text)
{
    uint64_t number = 0;
    for (;; (*text)++) {
        char c = **text;
        if (c >= '0' && c <= '9')
            number = number * 16 + (uint64_t)(c - '0');
        else if (c >= 'a' && c <= 'f')
            number = number * 16 + (uint64_t)(c - 'a' + 10);
        else
            return number;
    }
}

/* A line of /proc/self/maps: does it hold the address, and which file is it? NULL: no. */
static const char *file_in_line(const char *line, uint64_t address)
{
    uint64_t from = hex_number(&line);
    if (*line++ != '-' || address < from || address >= hex_number(&line))
        return NULL;
    return strchr(line, '/');
}

bool storage_file_mapped(const void *address, struct storage_file *file, int *fd)
{
    static const char maps[] = "/proc/self/maps";
    char text[MAPS_BYTES], path[MAPS_BYTES] = "";
    size_t used = 0;
    ssize_t got;
    *fd = -1;
    int list = REAL(open)(maps, O_RDONLY | O_CLOEXEC);
    while (list >= 0 && path[0] == '\0' &&
           (got = REAL(read)(list, text + used, sizeof text - 1 - used)) > 0) {
        char *line = text, *end;
        text[used + (size_t)got] = '\0';
        while (path[0] == '\0' && (end = strchr(line, '\n')) != NULL) {
            *end = '\0';
            const char *found = file_in_line(line, (uint64_t)(uintptr_t)address);
            if (found != NULL)
                strcpy(path, found);
            line = end + 1;
        }
        used = strlen(line);
        memmove(text, line, used);
    }
    if (list >= 0)
        close(list);
    if (path[0] != '\0' && strlen(path) < PATH_MAX && cut_root(path, file->path))
        *fd = REAL(open)(path, O_RDONLY | O_CLOEXEC);
    if (*fd >= 0 && storage_file_of(*fd, file))
        return true;
    if (*fd >= 0)
        close(*fd);
    return false;
}
