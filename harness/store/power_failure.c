/* See loss.h. The model of a power failure: each operation of a rank on the store was written to
 * the journal before it was made, and an entry when it was over. From the journal and what is on
 * the disk follows what was on stable storage. In this order:
 *   1. Each operation is paired with the entry that ended it (pair_all). An operation without
 *      one is that of a rank that died inside it; whether it happened is seen on the disk
 *      (settle), once and for all: later operations could hide it.
 *   2. names.c computes what each name of the store must lead to; restore.c moves files and folders
 *      there.
 *   3. Each file that an affected rank opened for writing gets the content of its last sync that
 *      counts, of which the journal keeps a copy, or none (revert_folder).
 *   4. The journal is marked, so that what was taken back once is not taken back again after the
 *      next power failure: lost operations by a flag, contents by JOURNAL_VOID, names by
 *      JOURNAL_DROPPED, folders that were made anew by JOURNAL_REMADE.
 *
 *     create a/x   write   fsync x   rename a/x to a/y   power failure (a was never synced)
 *
 * x's content is safe, but neither of its names is: the file is gone. With an fsync of the folder
 * before the rename it would be back as a/x.
 *
 * Files are known by their inode numbers and not by their names, because names change; names.c says
 * how a number that is used twice is told apart. Cost: pairing goes back from each end to its
 * operation, which is near; else the journal is gone through once or twice, and each file that is
 * to be put back is copied. */
#include "store/power_failure.h"

#include "base/memory.h"
#include "base/regular_file.h"
#include "store/names.h"
#include "store/restore.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define COPY_BYTES 65536

struct taking {
    const struct journal *journal;
    const struct loss *loss;
    struct journal_entry *entry; /* owned, as are the following */
    uint64_t count, room;
    struct ending *ending; /* by entry */
    struct listed *listed;
    size_t listed_count;
    struct names names;
    FILE *report;
    struct error *error;
};

__attribute__((format(printf, 2, 3))) static void print_line(struct taking *taking,
                                                             const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(taking->report, format, arguments);
    va_end(arguments);
    fputc('\n', taking->report);
}

static enum error_code broken(struct taking *taking, const char *what, const char *path)
{
    return error_set(taking->error, ERROR_IO, "taking back what was not synced: cannot %s %s: %s",
                     what, path, strerror(errno));
}

static void journal_file(const struct taking *taking, const char *name, char path[PATH_MAX])
{
    snprintf(path, PATH_MAX, "%.*s/%s", PATH_MAX - 16, taking->journal->folder, name);
}

/* --- the journal read ------------------------------------------------------------------------ */
/* Each operation without an end gets one; the names and folders of which an entry speaks, two of
 * each at most, may be dropped and made again. */
static uint64_t room_for(uint64_t count)
{
    return 6 * count + 1;
}

static enum error_code read_journal(struct taking *taking)
{
    char path[PATH_MAX];
    struct stat facts;
    struct error inner = {0};
    int file;
    journal_file(taking, "journal", path);
    enum error_code code = regular_open(path, LINKS_REFUSED, REGULAR_ANY, &file, &inner);
    if (code == ERROR_IO && errno == ENOENT)
        return OK;
    if (code != OK)
        return error_set(taking->error, code, "%s", inner.text);
    if (fstat(file, &facts) != 0)
        code = broken(taking, "read", path);
    else if (facts.st_size % JOURNAL_ENTRY_BYTES != 0)
        code = error_set(taking->error, ERROR_FORMAT, "%s: cut in the middle of an entry", path);
    if (code == OK) {
        size_t bytes = (size_t)facts.st_size;
        taking->count = bytes / JOURNAL_ENTRY_BYTES;
        taking->room = room_for(taking->count);
        taking->entry = memory_resized(NULL, (size_t)taking->room, JOURNAL_ENTRY_BYTES);
        taking->ending = memory_resized(NULL, (size_t)taking->room, sizeof *taking->ending);
        if (read(file, taking->entry, bytes) != (ssize_t)bytes)
            code = broken(taking, "read", path);
    }
    close(file);
    return code;
}

/* A path below the store: it ends, and leads nowhere else. */
static bool is_below(const char path[JOURNAL_PATH_BYTES])
{
    const char *at = path;
    if (memchr(path, '\0', JOURNAL_PATH_BYTES) == NULL || path[0] == '/')
        return false;
    while ((at = strstr(at, "..")) != NULL) {
        if ((at == path || at[-1] == '/') && (at[2] == '/' || at[2] == '\0'))
            return false;
        at += 2;
    }
    return true;
}

static enum error_code check_journal(struct taking *taking)
{
    for (uint64_t i = 0; i < taking->count; i++)
        if (taking->entry[i].kind >= JOURNAL_KINDS || !is_below(taking->entry[i].path) ||
            !is_below(taking->entry[i].other))
            return error_set(taking->error, ERROR_FORMAT,
                             "%s/journal is damaged: entry %" PRIu64 " of %" PRIu64,
                             taking->journal->folder, i + 1, taking->count);
    return OK;
}

/* --- how operations ended -------------------------------------------------------------------- */
static bool is_operation(uint32_t kind)
{
    return kind >= JOURNAL_CREATE && kind <= JOURNAL_RMDIR;
}

/* Entry `at` ends an operation: the newest one before it with the same rank and id. */
static void pair(struct taking *taking, uint64_t at)
{
    const struct journal_entry *end = &taking->entry[at];
    for (uint64_t i = at; i-- > 0;) {
        struct journal_entry *entry = &taking->entry[i];
        if (entry->id != end->id || entry->rank != end->rank || !is_operation(entry->kind))
            continue;
        taking->ending[i] = (struct ending){at, end->kind == JOURNAL_FAILED};
        if (end->inode != 0)
            entry->inode = end->inode;
        return;
    }
}

static void pair_all(struct taking *taking)
{
    for (uint64_t i = 0; i < taking->count; i++) {
        taking->ending[i] = (struct ending){NAMES_NEVER, false};
        if (taking->entry[i].kind == JOURNAL_DONE || taking->entry[i].kind == JOURNAL_FAILED)
            pair(taking, i);
    }
}

/* What has this name on the disk; 0: nothing. */
static uint64_t listed_at(const struct taking *taking, uint64_t folder, const char *path)
{
    for (size_t i = 0; i < taking->listed_count; i++)
        if (taking->listed[i].folder == folder &&
            strcmp(taking->listed[i].text, names_last(path)) == 0)
            return taking->listed[i].inode;
    return 0;
}

/* The rank died inside the operation: whether it happened can be seen on the disk. *made: the inode
 * of what it made, or 0. */
static bool has_happened(const struct taking *taking, const struct journal_entry *entry,
                         uint64_t *made)
{
    uint64_t there = listed_at(taking, entry->folder, entry->path);
    *made = 0;
    switch (entry->kind) {
    case JOURNAL_CREATE:
    case JOURNAL_MKDIR:
    case JOURNAL_LINK:
        *made = there;
        return there != 0;
    case JOURNAL_UNLINK:
    case JOURNAL_RMDIR:
        return there != entry->inode;
    default:
        return listed_at(taking, entry->other_folder, entry->other) != entry->inode;
    }
}

/* Ends each operation that is still open, by what is on the disk now. Later that could not be known
 * any more: the ranks of the next incarnation change the same names. */
static void settle(struct taking *taking)
{
    uint64_t count = taking->count;
    for (uint64_t i = 0; i < count; i++) {
        const struct journal_entry *entry = &taking->entry[i];
        uint64_t made;
        if (!is_operation(entry->kind) || taking->ending[i].at != NAMES_NEVER)
            continue;
        bool done = has_happened(taking, entry, &made);
        taking->entry[taking->count] =
            (struct journal_entry){.kind = done ? JOURNAL_DONE : JOURNAL_FAILED,
                                   .rank = entry->rank,
                                   .id = entry->id,
                                   .inode = made};
        taking->ending[taking->count] = (struct ending){NAMES_NEVER, false};
        pair(taking, taking->count++);
    }
}

/* --- contents -------------------------------------------------------------------------------- */
static bool copy_into(int from, int to)
{
    static char buffer[COPY_BYTES];
    ssize_t got;
    while ((got = read(from, buffer, sizeof buffer)) > 0)
        if (write(to, buffer, (size_t)got) != got)
            return false;
    return got == 0;
}

/* Whether two files hold the same; not if one cannot be read. */
static bool same_content(const char *left, const char *right)
{
    FILE *a = regular_stream(left, LINKS_REFUSED, REGULAR_ANY, NULL);
    FILE *b = regular_stream(right, LINKS_REFUSED, REGULAR_ANY, NULL);
    bool same = a != NULL && b != NULL;
    int c = 0;
    while (same && c != EOF) {
        c = getc(a);
        same = getc(b) == c;
    }
    if (a != NULL)
        fclose(a);
    if (b != NULL)
        fclose(b);
    return same;
}

/* In place, so that the file keeps its number. copy: where what was synced is; NULL: nowhere. */
static enum error_code put_back(struct taking *taking, const char *path, const char *copy)
{
    int to = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
    int from = -1;
    if (copy != NULL)
        (void)regular_open(copy, LINKS_REFUSED, REGULAR_ANY, &from, NULL);
    bool good = to >= 0 && (copy == NULL || (from >= 0 && copy_into(from, to)));
    int reason = errno;
    if (from >= 0)
        close(from);
    if (to >= 0)
        close(to);
    errno = reason;
    return good ? OK : broken(taking, "put back", path);
}

static enum error_code revert_file(struct taking *taking, const char *path,
                                   const struct stat *facts)
{
    char copy[PATH_MAX];
    struct object *object = names_object(&taking->names, (uint64_t)facts->st_ino, taking->count);
    if (object == NULL)
        return OK;
    struct content content = object->content;
    object->content.written = false;
    const char *name = path + strlen(taking->journal->store) + 1;
    if (!content.written || (!content.synced && !content.made))
        return OK;
    if (!content.synced) {
        if (facts->st_size > 0)
            print_line(taking, "%s: its content was never synced: empty", name);
        return facts->st_size > 0 ? put_back(taking, path, NULL) : OK;
    }
    journal_copy_path(taking->journal, facts->st_ino, content.rank, copy);
    if (same_content(copy, path))
        return OK;
    print_line(taking, "%s: its content is what rank %d synced last", name, content.rank);
    return put_back(taking, path, copy);
}

static enum error_code revert_folder(struct taking *taking, const char *folder)
{
    DIR *entries = opendir(folder);
    enum error_code code = OK;
    const struct dirent *entry;
    if (entries == NULL)
        return errno == ENOENT ? OK : broken(taking, "read", folder);
    while (code == OK && (entry = readdir(entries)) != NULL) {
        char path[PATH_MAX];
        struct stat facts;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name) >= (int)sizeof path ||
            lstat(path, &facts) != 0)
            continue;
        if (S_ISDIR(facts.st_mode))
            code = revert_folder(taking, path);
        else if (S_ISREG(facts.st_mode))
            code = revert_file(taking, path, &facts);
    }
    closedir(entries);
    return code;
}

/* --- the whole ------------------------------------------------------------------------------- */
static bool takes_anything(const struct taking *taking)
{
    bool any = taking->loss->everybody;
    for (int rank = 0; rank < taking->loss->ranks && !any; rank++)
        any = taking->loss->rank[rank];
    return any;
}

/* Content that was put back is put back again only after it was written again: the entries of its
 * opening no longer count. */
static void note_contents(struct taking *taking)
{
    for (uint64_t i = 0; i < taking->names.count; i++) {
        struct journal_entry *entry = &taking->entry[i];
        const struct object *object = names_object(&taking->names, entry->inode, i);
        if (entry->kind == JOURNAL_OPENED && power_failure_affects(taking->loss, entry->rank) &&
            object != NULL && !object->content.written)
            entry->kind = JOURNAL_VOID;
    }
}

static void note_names(struct taking *taking)
{
    const struct names *names = &taking->names;
    for (size_t i = 0; i < names->names; i++) {
        const struct name *name = &names->name[i];
        if (!name->dropped || name->folder->inode == 0 || strlen(name->text) >= JOURNAL_PATH_BYTES)
            continue;
        struct journal_entry *entry = &taking->entry[taking->count++];
        *entry = (struct journal_entry){
            .kind = JOURNAL_DROPPED, .rank = -1, .folder = name->folder->inode};
        strcpy(entry->path, name->text);
    }
}

static void note_folders(struct taking *taking)
{
    const struct names *names = &taking->names;
    for (size_t i = 0; i < names->objects; i++) {
        const struct object *object = &names->object[i];
        if (object->remade)
            taking->entry[taking->count++] =
                (struct journal_entry){.kind = JOURNAL_REMADE,
                                       .rank = -1,
                                       .inode = object->inode,
                                       .replaced = object->number,
                                       .covers = object->born > 0 ? object->born - 1 : 0};
    }
}

/* What was taken back once must not be taken back again. */
static enum error_code write_journal(struct taking *taking)
{
    char path[PATH_MAX];
    journal_file(taking, "journal", path);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    size_t bytes = (size_t)taking->count * JOURNAL_ENTRY_BYTES;
    bool good = file >= 0 && pwrite(file, taking->entry, bytes, 0) == (ssize_t)bytes;
    if (file >= 0)
        close(file);
    return good ? OK : broken(taking, "write", path);
}

static enum error_code take(struct taking *taking)
{
    struct stat top;
    if (stat(taking->journal->store, &top) != 0)
        return broken(taking, "read", taking->journal->store);
    names_read(&taking->names, taking->entry, taking->count, taking->ending, taking->loss,
               taking->listed, taking->listed_count, top.st_ino);
    enum error_code code =
        restore_names(taking->journal, &taking->names, taking->report, taking->error);
    if (code == OK)
        code = revert_folder(taking, taking->journal->store);
    if (code != OK)
        return code;
    note_contents(taking);
    note_folders(taking);
    note_names(taking);
    return OK;
}

static enum error_code settle_and_take(struct taking *taking)
{
    char path[PATH_MAX];
    uint64_t count = taking->count;
    bool takes = takes_anything(taking);
    pair_all(taking);
    enum error_code code =
        restore_list(taking->journal->store, &taking->listed, &taking->listed_count, taking->error);
    if (code == OK)
        settle(taking);
    if (code == OK && takes) {
        journal_file(taking, "lost", path);
        struct error inner = {0};
        taking->report = regular_append(path, &inner);
        code = taking->report != NULL ? take(taking)
                                      : error_set(taking->error, inner.code, "%s", inner.text);
        if (taking->report != NULL)
            fclose(taking->report);
    }
    return code == OK && (takes || taking->count > count) ? write_journal(taking) : code;
}

enum error_code power_failure_apply(const struct journal *journal, const struct loss *loss,
                                    struct error *error)
{
    struct taking taking = {.journal = journal, .loss = loss, .error = error};
    enum error_code code = read_journal(&taking);
    if (code == OK)
        code = check_journal(&taking);
    if (code == OK && taking.count > 0)
        code = settle_and_take(&taking);
    names_release(&taking.names);
    free(taking.entry);
    free(taking.ending);
    free(taking.listed);
    return code;
}
