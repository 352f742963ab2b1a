/* The journal of the checkpoint store: what a run did to the names of its files and folders and
 * what it brought to stable storage, so that the driver can take back what a power failure would
 * have taken (see loss.h). Written by the ranks, only while the plan has a `lose`. Must not know:
 * MPI, plans, traces. libc only (it is part of libfaultline.so).
 *
 * In the run folder:
 *     durable/journal              entries of JOURNAL_ENTRY_BYTES, appended
 *     durable/synced/<inode>.<rank> content of the file at its newest sync by that rank
 *     durable/kept/<inode>         a link to each file that was renamed or lost a name
 *     durable/gone/<inode>         folders that a loss has taken away
 *
 * An operation on a name is two entries: its own kind before it, DONE or FAILED after it. An entry
 * is one append that no page boundary cuts: a SIGKILL leaves it whole or not there. There is no
 * lock: a rank may be stopped or die anywhere. Because of the links no file's inode number is used
 * twice while the journal speaks of it. Folders have no links: the number of one that was removed
 * may be that of another file or folder later, which begins with its own CREATE or MKDIR.
 *
 * An operation is known by its folder's number and the last component of the path; what stands
 * before that is for people, since the folders above may be renamed. */
#ifndef STORE_JOURNAL_H
#define STORE_JOURNAL_H

#include "base/error.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

#define JOURNAL_ENTRY_BYTES 512u
#define JOURNAL_PATH_BYTES 224 /* of a path below the store, with its terminator */
#define JOURNAL_NAME_BYTES 256 /* of one component of any path, the same */

enum journal_kind {
    JOURNAL_VOID = 0, /* of no effect any more */
    JOURNAL_CREATE,   /* path; DONE: inode. It was not there before */
    JOURNAL_LINK,     /* path: another name of inode */
    JOURNAL_RENAME,   /* other becomes path; inode; replaced, 0: path was free */
    JOURNAL_EXCHANGE, /* the same, and other becomes the name of `replaced` */
    JOURNAL_UNLINK,   /* path, inode */
    JOURNAL_MKDIR,    /* path; DONE: inode */
    JOURNAL_RMDIR,    /* path, inode */
    JOURNAL_DONE,     /* the operation with the same id; inode of what it made */
    JOURNAL_FAILED,   /* the operation with the same id did not happen */
    JOURNAL_OPENED,   /* inode may be written from now on */
    JOURNAL_SYNCED,   /* inode (a file or a folder) is on stable storage as it was at `covers` */
    JOURNAL_ALL,      /* and so is everything */
    JOURNAL_DROPPED,  /* path: a loss has left the folder its newer name alone */
    JOURNAL_REMADE,   /* a folder that a loss made again: inode from now on; it is what had the
                         number `replaced` at entry `covers` */
    JOURNAL_KINDS
};

/* Of an operation: it was taken back at this end by a loss before. */
enum journal_flag { JOURNAL_PATH_LOST = 1, JOURNAL_OTHER_LOST = 2 };

struct journal_entry {
    uint32_t kind; /* enum journal_kind */
    int32_t rank;
    uint64_t id; /* of an operation: one of its own in the run */
    uint64_t inode;
    uint64_t replaced;
    uint64_t folder;       /* inode of the folder of `path` */
    uint64_t other_folder; /* the same of `other` */
    uint64_t covers;       /* entries there were when the sync began */
    uint32_t flags;        /* enum journal_flag; set by losses alone */
    uint32_t reserved;
    char path[JOURNAL_PATH_BYTES]; /* below the store */
    char other[JOURNAL_PATH_BYTES];
};

_Static_assert(sizeof(struct journal_entry) == JOURNAL_ENTRY_BYTES, "entries never cross a page");

/* Where it is. Plain data; nothing to release, no descriptor stays open. */
struct journal {
    char folder[PATH_MAX]; /* durable/ of the run folder */
    char store[PATH_MAX];
};

/* Makes the folders if need be. store: absolute; on the same file system as the run folder. */
enum error_code journal_open(struct journal *journal, const char *run_folder, const char *store,
                             struct error *error);

/* An id for an operation, one of its own whatever process and thread asks. Safe in a forked child.
 */
uint64_t journal_id(void);

/* false, with errno: it is not in the journal. */
bool journal_append(const struct journal *journal, const struct journal_entry *entry);

/* Entries so far. */
uint64_t journal_length(const struct journal *journal);

/* Gives the file at `path` (absolute) one more name, by which it stays when it loses its own. Not
 * for folders. */
bool journal_keep(const struct journal *journal, const char *path, uint64_t inode);

/* Copies what the file holds now, to be put in place by journal_copy_publish when it is on stable
 * storage. `file` is open in any way. copy: room for PATH_MAX bytes, where the copy is. */
bool journal_copy(const struct journal *journal, int file, char *copy);
bool journal_copy_publish(const struct journal *journal, const char *copy, uint64_t inode,
                          int rank);
void journal_copy_discard(const char *copy);

/* The place of such a copy. */
void journal_copy_path(const struct journal *journal, uint64_t inode, int rank, char *path);
void journal_kept_path(const struct journal *journal, uint64_t inode, char *path);
void journal_gone_path(const struct journal *journal, uint64_t inode, char *path);

#endif
