/* See restore.h. Every name that does not lead to what it should (names.h: `found` and `wanted`) is
 * emptied first, by moving what stands there to gone/; then everything is put where it belongs,
 * from the top down. In one step it could not be done: two files may have to change places, and a
 * folder may have to go into one that is not there yet. What is not needed any more stays in gone/
 * if it is a folder, with all that is in it, so that the file system does not give its number to
 * another. */
#include "store/restore.h"

#include "base/memory.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static enum error_code failed(struct error *error, const char *what, const char *path)
{
    return error_set(error, ERROR_IO, "taking back what was not synced: cannot %s %s: %s", what,
                     path, strerror(errno));
}

static enum error_code too_long(struct error *error, const char *path)
{
    return error_set(error, ERROR_LIMIT, "a path is longer than %d bytes: %.200s...", PATH_MAX - 1,
                     path);
}

/* --- the list --------------------------------------------------------------------------------- */
struct listing {
    struct listed *listed;
    size_t count, room;
    struct error *error;
};

static void add_listed(struct listing *listing, uint64_t folder, const struct stat *facts,
                       const char *name)
{
    listing->listed =
        memory_room(listing->listed, listing->count, &listing->room, sizeof *listing->listed);
    struct listed *listed = &listing->listed[listing->count++];
    *listed = (struct listed){
        .folder = folder, .inode = facts->st_ino, .is_folder = S_ISDIR(facts->st_mode)};
    snprintf(listed->text, sizeof listed->text, "%s", name);
}

/* path: of the folder; has room for PATH_MAX bytes, and is as before on return. */
static enum error_code list_folder(struct listing *listing, char *path)
{
    struct stat facts;
    size_t length = strlen(path);
    DIR *entries = opendir(path);
    if (entries == NULL || fstat(dirfd(entries), &facts) != 0) {
        enum error_code code = failed(listing->error, "read", path);
        if (entries != NULL)
            closedir(entries);
        return code;
    }
    uint64_t folder = facts.st_ino;
    enum error_code code = OK;
    const struct dirent *entry;
    while (code == OK && (entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (length + 1 + strlen(entry->d_name) >= PATH_MAX)
            code = too_long(listing->error, path);
        else if (snprintf(path + length, PATH_MAX - length, "/%s", entry->d_name) > 0 &&
                 lstat(path, &facts) != 0)
            code = failed(listing->error, "read", path);
        else
            add_listed(listing, folder, &facts, entry->d_name);
        if (code == OK && S_ISDIR(facts.st_mode))
            code = list_folder(listing, path);
        path[length] = '\0';
    }
    closedir(entries);
    return code;
}

enum error_code restore_list(const char *store, struct listed **listed, size_t *count,
                             struct error *error)
{
    char path[PATH_MAX];
    struct listing listing = {.error = error};
    snprintf(path, sizeof path, "%s", store);
    enum error_code code = list_folder(&listing, path);
    *listed = listing.listed;
    *count = listing.count;
    return code;
}

/* --- paths ------------------------------------------------------------------------------------ */
struct restoring {
    const struct journal *journal;
    struct names *names;
    FILE *report;
    struct error *error;
};

/* Where a folder is to be, below the store: "" or "a/b/". false: too long. */
static bool home_of(const struct restoring *restoring, const struct object *folder, char *path)
{
    if (folder == restoring->names->top) {
        path[0] = '\0';
        return true;
    }
    if (!home_of(restoring, folder->home->folder, path))
        return false;
    size_t used = strlen(path);
    return snprintf(path + used, PATH_MAX - used, "%s/", folder->home->text) <
           (int)(PATH_MAX - used);
}

/* Where a name is to be; path has room for PATH_MAX bytes. */
static enum error_code goal_of(const struct restoring *restoring, const struct name *name,
                               char *path)
{
    char below[PATH_MAX];
    if (!home_of(restoring, name->folder, below) ||
        snprintf(path, PATH_MAX, "%s/%s%s", restoring->journal->store, below, name->text) >=
            PATH_MAX)
        return too_long(restoring->error, below);
    return OK;
}

/* Where a folder is now. */
static bool place_of(const struct restoring *restoring, const struct object *folder, char *path)
{
    if (folder->staged) {
        journal_gone_path(restoring->journal, folder->inode, path);
        return true;
    }
    if (folder == restoring->names->top)
        return snprintf(path, PATH_MAX, "%s", restoring->journal->store) < PATH_MAX;
    if (!place_of(restoring, folder->place->folder, path))
        return false;
    size_t used = strlen(path);
    return snprintf(path + used, PATH_MAX - used, "/%s", folder->place->text) <
           (int)(PATH_MAX - used);
}

/* --- telling ---------------------------------------------------------------------------------- */
static const char *kind_of(const struct object *object)
{
    return object->is_folder ? "folder" : "file";
}

static void report_name(const struct restoring *restoring, const struct name *name)
{
    char folder[PATH_MAX];
    if (!home_of(restoring, name->folder, folder))
        return;
    fprintf(restoring->report, "%s%s: ", folder, name->text);
    if (name->wanted == NULL)
        fprintf(restoring->report, "the name of this %s was not synced by rank %d: gone\n",
                kind_of(name->found), name->rank);
    else if (name->found == NULL)
        fprintf(restoring->report, "the %s that had this name is back\n", kind_of(name->wanted));
    else
        fprintf(restoring->report,
                "what rank %d gave this name to was not synced: the %s before is back\n",
                name->rank, kind_of(name->wanted));
}

/* --- moving ----------------------------------------------------------------------------------- */
static enum error_code take_away(struct restoring *restoring, struct name *name)
{
    char path[PATH_MAX], gone[PATH_MAX];
    struct object *object = name->found;
    if (object == NULL || object == name->wanted)
        return OK;
    if (!place_of(restoring, name->folder, path) ||
        strlen(path) + 1 + strlen(name->text) >= PATH_MAX)
        return too_long(restoring->error, path);
    strcat(strcat(path, "/"), name->text);
    journal_gone_path(restoring->journal, object->inode, gone);
    if ((object->staged ? unlink(path) : rename(path, gone)) != 0)
        return failed(restoring->error, "remove", path);
    object->staged = true;
    return OK;
}

/* The folder was removed from the disk. A new one takes its place; nothing but its inode number
 * differs. */
static enum error_code remake(struct restoring *restoring, struct object *folder, const char *path)
{
    struct stat facts;
    if (mkdir(path, 0777) != 0 || lstat(path, &facts) != 0)
        return failed(restoring->error, "restore the folder", path);
    folder->inode = facts.st_ino;
    folder->remade = true;
    return OK;
}

static enum error_code put_folder(struct restoring *restoring, struct object *folder)
{
    char from[PATH_MAX], to[PATH_MAX];
    if (folder == restoring->names->top)
        return OK;
    enum error_code code = put_folder(restoring, folder->home->folder);
    if (code != OK || (folder->place == folder->home && !folder->staged))
        return code;
    code = goal_of(restoring, folder->home, to);
    if (code == OK && !folder->staged) {
        code = remake(restoring, folder, to);
    } else if (code == OK) {
        journal_gone_path(restoring->journal, folder->inode, from);
        if (rename(from, to) != 0)
            code = failed(restoring->error, "restore", to);
    }
    folder->staged = false;
    folder->place = folder->home;
    return code;
}

static enum error_code put_file(struct restoring *restoring, const struct name *name)
{
    char from[PATH_MAX], to[PATH_MAX];
    enum error_code code = put_folder(restoring, name->folder);
    if (code == OK)
        code = goal_of(restoring, name, to);
    if (code != OK)
        return code;
    if (name->wanted->staged)
        journal_gone_path(restoring->journal, name->wanted->inode, from);
    else
        journal_kept_path(restoring->journal, name->wanted->number, from);
    return link(from, to) == 0 ? OK : failed(restoring->error, "restore", to);
}

static enum error_code put(struct restoring *restoring, const struct name *name)
{
    if (!name_changes(name) || name->wanted == NULL)
        return OK;
    return name->wanted->is_folder ? put_folder(restoring, name->wanted)
                                   : put_file(restoring, name);
}

/* Every file in gone/ has been linked to where it belongs, if anywhere: its name in gone/ goes. */
static enum error_code clear_up(struct restoring *restoring)
{
    char path[PATH_MAX];
    for (size_t i = 0; i < restoring->names->objects; i++) {
        struct object *object = &restoring->names->object[i];
        if (!object->staged || object->is_folder)
            continue;
        journal_gone_path(restoring->journal, object->inode, path);
        if (unlink(path) != 0)
            return failed(restoring->error, "remove", path);
        object->staged = false;
    }
    return OK;
}

enum error_code restore_names(const struct journal *journal, struct names *names, FILE *report,
                              struct error *error)
{
    struct restoring restoring = {journal, names, report, error};
    enum error_code code = OK;
    for (size_t i = 0; i < names->names; i++)
        if (name_changes(&names->name[i]))
            report_name(&restoring, &names->name[i]);
    for (size_t i = 0; i < names->names && code == OK; i++)
        code = take_away(&restoring, &names->name[i]);
    for (size_t i = 0; i < names->names && code == OK; i++)
        code = put(&restoring, &names->name[i]);
    return code == OK ? clear_up(&restoring) : code;
}
