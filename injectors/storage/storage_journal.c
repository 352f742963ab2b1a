/* The journal of this rank: what it does to names below the store and what it syncs. See
 * store/journal.h. Must not know: events, records.
 *
 * An operation on names has two entries, one before it and one after it: a rank can be killed in
 * between, and then the first entry says what to look for on the disk. A sync has one, after it,
 * because a sync that did not return promises nothing. What it promises is fixed when it begins:
 * the operations that had ended by then (`covers`), and the content of then, of which a copy is
 * made:
 *
 *     rank 0:  rename f     fsync folder begins      rename g     fsync returns
 *
 * The sync covers the rename of f. That of g may have missed it, and counts as not synced.
 *
 * errno is kept by what is called after the program's operation, since the program reads it. A
 * journal that cannot be written must not disturb the program: it is reported once, and a power
 * failure then takes less than it could. */
#include "injectors/storage/storage.h"

#include "store/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPORT_PATH = 1, REPORT_JOURNAL, REPORT_COPY, REPORT_KEEP };

static struct journal journal;
static int own_rank;

bool storage_journal_open(const char *run_folder, int rank)
{
    struct error error;
    own_rank = rank;
    if (journal_open(&journal, run_folder, storage_root, &error) == OK)
        return true;
    storage_report(REPORT_JOURNAL, "what is not synced will not be lost", error.text);
    return false;
}

static bool is_kept(void)
{
    return (storage_watching & STORAGE_JOURNAL) != 0;
}

static void append(const struct journal_entry *entry)
{
    if (!journal_append(&journal, entry))
        storage_report(REPORT_JOURNAL,
                       "the journal of the store cannot be written, so what is not "
                       "synced may not be lost",
                       strerrordesc_np(errno));
}

/* "." and "..", of a call that is going to fail. */
static bool is_dots(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *last = slash != NULL ? slash + 1 : path;
    return strcmp(last, ".") == 0 || strcmp(last, "..") == 0;
}

static bool put_path(char *place, const char *path)
{
    if (is_dots(path))
        return false;
    if (strlen(path) < JOURNAL_PATH_BYTES) {
        strcpy(place, path);
        return true;
    }
    storage_report(REPORT_PATH, "a path too long to be lost when it is not synced", path);
    return false;
}

/* So that the file can get back what it loses now. */
static void keep(const struct storage_file *file)
{
    char whole[STORAGE_WHOLE_BYTES];
    if (file->inode != 0 && !file->is_folder &&
        !journal_keep(&journal, storage_whole(file, whole), file->inode))
        storage_report(REPORT_KEEP, "a file cannot come back when its removal is not synced",
                       file->path);
}

uint64_t storage_name_begin(unsigned kind, struct storage_file *file, struct storage_file *other)
{
    struct journal_entry entry = {.kind = kind, .rank = own_rank};
    bool two = kind == JOURNAL_RENAME || kind == JOURNAL_EXCHANGE;
    if (!is_kept() || !put_path(entry.path, file->path) ||
        (other != NULL && !put_path(entry.other, other->path)))
        return 0;
    storage_file_refresh(file);
    if (other != NULL)
        storage_file_refresh(other);
    entry.folder = file->folder;
    entry.inode = other != NULL ? other->inode : file->inode;
    entry.other_folder = other != NULL ? other->folder : 0;
    entry.replaced = two ? file->inode : 0;
    if (two || kind == JOURNAL_UNLINK)
        keep(file);
    if (two)
        keep(other);
    entry.id = journal_id();
    append(&entry);
    return entry.id;
}

void storage_name_end(uint64_t id, bool done, uint64_t inode)
{
    int number = errno;
    if (id != 0)
        append(&(struct journal_entry){.kind = done ? JOURNAL_DONE : JOURNAL_FAILED,
                                       .rank = own_rank,
                                       .id = id,
                                       .inode = inode});
    errno = number;
}

void storage_opened(uint64_t inode)
{
    if (is_kept())
        append(&(struct journal_entry){.kind = JOURNAL_OPENED, .rank = own_rank, .inode = inode});
}

uint64_t storage_covers(void)
{
    return is_kept() ? journal_length(&journal) : 0;
}

/* The copy is made before the sync: what is written while it goes on may miss it. */
void storage_sync_begin(struct storage_sync *sync, int fd, const struct storage_file *file)
{
    sync->kept = is_kept();
    sync->copy[0] = '\0';
    if (!sync->kept)
        return;
    sync->covers = journal_length(&journal);
    if (!file->is_folder && !journal_copy(&journal, fd, sync->copy)) {
        storage_report(REPORT_COPY, "what is synced cannot be kept, and will be lost", file->path);
        sync->kept = false;
    }
}

void storage_sync_end(const struct storage_sync *sync, bool done, const struct storage_file *file)
{
    int number = errno;
    if (sync->kept && done) {
        if (sync->copy[0] == '\0' ||
            journal_copy_publish(&journal, sync->copy, file->inode, own_rank))
            append(&(struct journal_entry){.kind = JOURNAL_SYNCED,
                                           .rank = own_rank,
                                           .inode = file->inode,
                                           .covers = sync->covers});
    } else if (sync->kept && sync->copy[0] != '\0') {
        journal_copy_discard(sync->copy);
    }
    errno = number;
}

/* Never follows a link out of the store. */
static void synced_folder(int fd, uint64_t covers)
{
    DIR *entries = fdopendir(fd);
    const struct dirent *entry;
    if (entries == NULL) {
        close(fd);
        return;
    }
    while ((entry = readdir(entries)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        struct storage_file file;
        struct storage_sync sync;
        int below = openat(fd, entry->d_name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
        if (below < 0 || !storage_file_of(below, &file)) {
            if (below >= 0)
                close(below);
            continue;
        }
        if (file.is_folder) {
            synced_folder(below, covers);
            continue;
        }
        storage_sync_begin(&sync, below, &file);
        sync.covers = covers;
        storage_sync_end(&sync, true, &file);
        close(below);
    }
    closedir(entries);
}

void storage_synced_all(uint64_t covers)
{
    int number = errno;
    int root = is_kept() ? open(storage_root, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (root >= 0) {
        synced_folder(root, covers);
        append(&(struct journal_entry){.kind = JOURNAL_ALL, .rank = own_rank, .covers = covers});
    }
    errno = number;
}
