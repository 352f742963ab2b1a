/* See loss.h. */
#include "store/loss.h"

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

#define NEVER UINT64_MAX
#define COPY_BYTES 65536

/* How far the syncs of one file or folder by one rank reach. */
struct reach {
    uint64_t inode; /* 0: everything */
    int32_t rank;
    uint64_t covers;
};

struct taking {
    const struct journal *journal;
    const struct loss *loss;
    struct journal_entry *entry;
    uint64_t count;
    uint64_t *done; /* by entry: of an operation, where its DONE is; NEVER: nowhere */
    bool *failed;   /* by entry: the operation did not happen */
    size_t reaches;
    struct reach *reach; /* sorted, farthest first */
    FILE *told;
    struct error *error;
};

static bool is_affected(const struct taking *taking, int rank)
{
    const struct loss *loss = taking->loss;
    return loss->everybody || (rank >= 0 && rank < loss->ranks && loss->rank[rank]);
}

__attribute__((format(printf, 2, 3))) static void tell(struct taking *taking, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    vfprintf(taking->told, format, arguments);
    va_end(arguments);
    fputc('\n', taking->told);
}

static enum error_code broken(struct taking *taking, const char *what, const char *path)
{
    return error_set(taking->error, ERROR_IO, "taking back what was not synced: cannot %s %s: %s",
                     what, path, strerror(errno));
}

/* A path below the store; false if it does not fit. */
static bool below(const struct taking *taking, const char *name, char *path)
{
    return snprintf(path, PATH_MAX, "%s/%s", taking->journal->store, name) < PATH_MAX;
}

static uint64_t inode_at(const char *path)
{
    struct stat facts;
    return lstat(path, &facts) == 0 ? (uint64_t)facts.st_ino : 0;
}

/* --- the journal read ------------------------------------------------------------------------ */
static enum error_code read_journal(struct taking *taking)
{
    char path[PATH_MAX];
    struct stat facts;
    snprintf(path, sizeof path, "%.*s/journal", PATH_MAX - 16, taking->journal->folder);
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0)
        return errno == ENOENT ? OK : broken(taking, "read", path);
    enum error_code code = OK;
    if (fstat(file, &facts) != 0)
        code = broken(taking, "read", path);
    else if (facts.st_size % JOURNAL_ENTRY_BYTES != 0)
        code = error_set(taking->error, ERROR_FORMAT, "%s: cut in the middle of an entry", path);
    if (code == OK) {
        size_t bytes = (size_t)facts.st_size;
        taking->entry = malloc(bytes + 1);
        taking->count = bytes / JOURNAL_ENTRY_BYTES;
        if (taking->entry == NULL)
            code = error_set(taking->error, ERROR_MEMORY, "%s: %zu bytes", path, bytes);
        else if (read(file, taking->entry, bytes) != (ssize_t)bytes)
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
        if (taking->entry[i].kind > JOURNAL_MADE || !is_below(taking->entry[i].path) ||
            !is_below(taking->entry[i].other))
            return error_set(taking->error, ERROR_FORMAT,
                             "%s/journal is damaged: entry %" PRIu64 " of %" PRIu64,
                             taking->journal->folder, i + 1, taking->count);
    return OK;
}

static bool is_operation(uint32_t kind)
{
    return kind >= JOURNAL_CREATE && kind <= JOURNAL_RMDIR;
}

/* The operation that entry `at` says to be done: the newest with its id. */
static void pair(struct taking *taking, uint64_t at)
{
    const struct journal_entry *done = &taking->entry[at];
    for (uint64_t i = at; i-- > 0;) {
        struct journal_entry *entry = &taking->entry[i];
        if (entry->id != done->id || entry->rank != done->rank || !is_operation(entry->kind))
            continue;
        taking->done[i] = at;
        taking->failed[i] = done->kind == JOURNAL_FAILED;
        if (entry->kind == JOURNAL_CREATE || entry->kind == JOURNAL_LINK)
            entry->inode = done->inode;
        return;
    }
}

static int by_inode_and_rank(const void *left, const void *right)
{
    const struct reach *a = left, *b = right;
    if (a->inode != b->inode)
        return a->inode < b->inode ? -1 : 1;
    if (a->rank != b->rank)
        return a->rank < b->rank ? -1 : 1;
    return a->covers > b->covers ? -1 : a->covers < b->covers;
}

static enum error_code understand(struct taking *taking)
{
    size_t room = (size_t)taking->count + 1;
    taking->done = malloc(room * sizeof *taking->done);
    taking->failed = calloc(room, sizeof *taking->failed);
    taking->reach = calloc(room, sizeof *taking->reach);
    if (taking->done == NULL || taking->failed == NULL || taking->reach == NULL)
        return error_set(taking->error, ERROR_MEMORY, "out of memory");
    for (uint64_t i = 0; i < taking->count; i++) {
        const struct journal_entry *entry = &taking->entry[i];
        taking->done[i] = NEVER;
        if (entry->kind == JOURNAL_DONE || entry->kind == JOURNAL_FAILED)
            pair(taking, i);
        else if (entry->kind == JOURNAL_SYNCED || entry->kind == JOURNAL_ALL)
            taking->reach[taking->reaches++] =
                (struct reach){entry->inode, entry->rank, entry->covers};
    }
    qsort(taking->reach, taking->reaches, sizeof *taking->reach, by_inode_and_rank);
    return OK;
}

/* --- names ----------------------------------------------------------------------------------- */
/* Whether a sync of `folder` by whoever counts for `rank` came behind entry `at`. */
static bool was_synced(const struct taking *taking, uint64_t folder, int rank, uint64_t at)
{
    if (at == NEVER)
        return false;
    for (size_t i = 0; i < taking->reaches; i++) {
        const struct reach *reach = &taking->reach[i];
        if (reach->inode > folder)
            return false;
        if ((reach->inode == folder || reach->inode == 0) && reach->covers > at &&
            (taking->loss->everybody || reach->rank == rank))
            return true;
    }
    return false;
}

static enum error_code remove_name(struct taking *taking, const struct journal_entry *entry)
{
    char path[PATH_MAX];
    if (!below(taking, entry->path, path) || inode_at(path) == 0 ||
        (entry->inode != 0 && inode_at(path) != entry->inode))
        return OK;
    if (unlink(path) != 0)
        return broken(taking, "remove", path);
    tell(taking, "%s: its name was not synced by rank %d: gone", entry->path, entry->rank);
    return OK;
}

/* The file `inode` gets back the name that was taken from it, where that is free. */
static enum error_code restore_name(struct taking *taking, const char *name, uint64_t inode)
{
    char path[PATH_MAX], kept[PATH_MAX];
    if (inode == 0 || !below(taking, name, path) || inode_at(path) != 0)
        return OK;
    journal_kept_path(taking->journal, inode, kept);
    if (link(kept, path) != 0)
        return broken(taking, "restore", path);
    tell(taking, "%s: the file that had this name is back", name);
    return OK;
}

/* Each end for itself: what its folder did not sync. Between two folders the file may have gone on
 * from its new name; then it is found by the link that was kept. */
static enum error_code undo_rename(struct taking *taking, const struct journal_entry *entry,
                                   bool old_durable, bool new_durable)
{
    char from[PATH_MAX], to[PATH_MAX];
    enum error_code code = OK;
    if (!below(taking, entry->path, from) || !below(taking, entry->other, to) ||
        entry->inode == entry->replaced) /* two names of one file: nothing was done */
        return OK;
    bool there = inode_at(from) == entry->inode;
    if (!old_durable && inode_at(to) == 0) {
        if (there && (new_durable ? link(from, to) : rename(from, to)) != 0)
            return broken(taking, "rename back to", to);
        if (there)
            tell(taking, "%s: its rename to %s was not synced by rank %d: taken back", entry->other,
                 entry->path, entry->rank);
        else
            code = restore_name(taking, entry->other, entry->inode);
    } else if (!new_durable && there && unlink(from) != 0) {
        return broken(taking, "remove", from);
    }
    return new_durable || code != OK ? code : restore_name(taking, entry->path, entry->replaced);
}

static enum error_code undo_folder(struct taking *taking, const struct journal_entry *entry)
{
    char path[PATH_MAX], gone[PATH_MAX];
    if (!below(taking, entry->path, path) || inode_at(path) == 0)
        return OK;
    snprintf(gone, sizeof gone, "%.*s/gone.%" PRIu64, PATH_MAX - 32, taking->journal->folder,
             entry->id);
    if (rename(path, gone) != 0)
        return broken(taking, "remove", path);
    tell(taking, "%s: the name of this folder was not synced by rank %d: gone", entry->path,
         entry->rank);
    return OK;
}

static enum error_code undo(struct taking *taking, const struct journal_entry *entry,
                            bool old_durable, bool new_durable)
{
    char path[PATH_MAX];
    switch (entry->kind) {
    case JOURNAL_CREATE:
    case JOURNAL_LINK:
        return remove_name(taking, entry);
    case JOURNAL_RENAME:
        return undo_rename(taking, entry, old_durable, new_durable);
    case JOURNAL_UNLINK:
        return restore_name(taking, entry->path, entry->inode);
    case JOURNAL_MKDIR:
        return undo_folder(taking, entry);
    case JOURNAL_RMDIR:
        if (!below(taking, entry->path, path) || mkdir(path, 0777) == 0 || errno == EEXIST)
            return OK;
        return broken(taking, "restore the folder", path);
    default:
        return OK;
    }
}

/* Newest first, so that every operation finds what it left. */
static enum error_code undo_names(struct taking *taking)
{
    enum error_code code = OK;
    for (uint64_t i = taking->count; i-- > 0 && code == OK;) {
        struct journal_entry *entry = &taking->entry[i];
        if (!is_operation(entry->kind) || taking->failed[i] || !is_affected(taking, entry->rank))
            continue;
        bool new_durable = was_synced(taking, entry->folder, entry->rank, taking->done[i]);
        bool old_durable = new_durable;
        if (entry->kind == JOURNAL_RENAME && entry->other_folder != entry->folder)
            old_durable = was_synced(taking, entry->other_folder, entry->rank, taking->done[i]);
        if (new_durable && old_durable)
            continue;
        code = undo(taking, entry, old_durable, new_durable);
        entry->kind = entry->kind == JOURNAL_CREATE ? JOURNAL_MADE : JOURNAL_VOID;
    }
    return code;
}

/* --- contents -------------------------------------------------------------------------------- */
/* What the journal says of one file. A number that begins again is another file. */
struct content {
    bool made;    /* in this run */
    bool written; /* maybe, by somebody whose work is lost */
    bool synced;  /* by somebody whose syncs count, or else by anybody */
    bool own;     /* the first of the two */
    int rank;     /* whose copy it is */
};

static struct content content_of(const struct taking *taking, uint64_t inode)
{
    struct content content = {0};
    for (uint64_t i = 0; i < taking->count; i++) {
        const struct journal_entry *entry = &taking->entry[i];
        bool affected = is_affected(taking, entry->rank);
        if (entry->inode != inode)
            continue;
        if (entry->kind == JOURNAL_CREATE || entry->kind == JOURNAL_MADE)
            content = (struct content){.made = true, .written = affected};
        if (entry->kind == JOURNAL_OPENED)
            content.written |= affected;
        if (entry->kind == JOURNAL_SYNCED && (affected || !content.own)) {
            content.synced = true;
            content.own = affected;
            content.rank = entry->rank;
        }
    }
    return content;
}

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
    FILE *a = fopen(left, "re"), *b = fopen(right, "re");
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
    int from = copy != NULL ? open(copy, O_RDONLY | O_CLOEXEC) : -1;
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
    struct content content = content_of(taking, facts->st_ino);
    const char *name = path + strlen(taking->journal->store) + 1;
    if (!content.written || (!content.synced && !content.made))
        return OK;
    if (!content.synced) {
        if (facts->st_size > 0)
            tell(taking, "%s: its content was never synced: empty", name);
        return facts->st_size > 0 ? put_back(taking, path, NULL) : OK;
    }
    journal_copy_path(taking->journal, facts->st_ino, content.rank, copy);
    if (same_content(copy, path))
        return OK;
    tell(taking, "%s: its content is what rank %d synced last", name, content.rank);
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
/* What was taken back once must not be taken back again. */
static enum error_code write_journal(struct taking *taking)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/journal", PATH_MAX - 16, taking->journal->folder);
    int file = open(path, O_WRONLY | O_CLOEXEC);
    size_t bytes = (size_t)taking->count * JOURNAL_ENTRY_BYTES;
    bool good = file >= 0 && pwrite(file, taking->entry, bytes, 0) == (ssize_t)bytes;
    if (file >= 0)
        close(file);
    return good ? OK : broken(taking, "write", path);
}

static enum error_code take(struct taking *taking)
{
    enum error_code code = understand(taking);
    if (code == OK)
        code = undo_names(taking);
    if (code == OK)
        code = revert_folder(taking, taking->journal->store);
    return code == OK ? write_journal(taking) : code;
}

enum error_code loss_apply(const struct journal *journal, const struct loss *loss,
                           struct error *error)
{
    struct taking taking = {.journal = journal, .loss = loss, .error = error};
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%.*s/lost", PATH_MAX - 16, journal->folder);
    enum error_code code = read_journal(&taking);
    if (code == OK)
        code = check_journal(&taking);
    if (code == OK && taking.count > 0) {
        taking.told = fopen(path, "ae");
        code = taking.told != NULL ? take(&taking) : broken(&taking, "write", path);
        if (taking.told != NULL)
            fclose(taking.told);
    }
    free(taking.entry);
    free(taking.done);
    free(taking.failed);
    free(taking.reach);
    return code;
}
