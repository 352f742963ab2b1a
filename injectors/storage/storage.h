/* The checkpoint store as the rank sees it: calls of libc on files below FAULTLINE_STORE are events
 * for the rules, are recorded, and fail, are short or torn as the plan says; and what a power
 * failure would take is kept account of (store/journal.h). Calls on anything else go straight to
 * libc, and so does everything where nothing of this is asked for: then there is one flag to test,
 * and nothing is kept.
 *
 * Which file a descriptor stands for is asked of the kernel at each call (/proc/self/fd): there is
 * no table that a close, a dup or another thread could make wrong. Nothing here allocates, but for
 * streams (storage_stream.c).
 *
 * Calls take turns: while one that is short is made, no other rank makes one (board_enter_store).
 * So the times in the records tell in which order they had effect, and a run that follows the
 * decisions of this one makes them in the same order. Must not know: MPI. */
#ifndef INJECTORS_STORAGE_STORAGE_H
#define INJECTORS_STORAGE_STORAGE_H

#include "plan/plan.h"
#include "trace/record.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* Calls on the store are to be recorded though the plan has nothing to do with it: "1", or "2": and
 * calls that only find that a file is not there, however often, in one record. */
#define STORAGE_ENVIRONMENT "FAULTLINE_STORAGE"

enum storage_watch {
    STORAGE_EVENTS = 1,  /* recorded, and matched by the rules */
    STORAGE_JOURNAL = 2, /* the plan has a `lose` */
    STORAGE_FOLDED = 4,  /* "2", and the plan has no step on the store that would count them */
};

/* 0: nothing but libc. Of enum storage_watch. */
extern int storage_watching;

/* > 0: a call of this thread is being looked at, and what it calls is ours. */
extern __thread int storage_depth __attribute__((tls_model("initial-exec")));

/* Somebody wants to know of this call: it is the program's own, and the store is watched. */
static inline bool storage_looks(void)
{
    return __builtin_expect(storage_watching != 0, 0) && storage_depth == 0;
}

struct board;

/* The run's folder, plan, board and rank; the plan may be empty. They must live on. */
void storage_open(const char *run_folder, const struct plan *plan, struct board *board, int rank);

/* The process ends, or is a forked child: it records nothing from now on. The child writes on for
 * its parent, so its journal goes on. */
void storage_close(void);
void storage_forked(void);

/* Says something about the store once for each `number` (0 .. 31) and process, on stderr. */
void storage_report(unsigned number, const char *what, const char *path);

/* --- which file ------------------------------------------------------------------------------ */
struct storage_file {
    char path[PATH_MAX]; /* below the store; "." is the store itself */
    uint64_t inode;      /* 0: there is none of this name */
    uint64_t folder;     /* inode of its folder; 0 unknown (the store itself, a nameless file) */
    bool is_folder;
};

/* Where the store is, links resolved; empty: nowhere. */
extern char storage_root[PATH_MAX];

/* false: not below the store. errno may change. */
bool storage_file_of(int fd, struct storage_file *file);

/* What a path names; follow: through a symbolic link at its end, as open does. */
bool storage_file_at(int folder, const char *path, bool follow, struct storage_file *file);

/* What the name stands for now, a symbolic link for itself. */
void storage_file_refresh(struct storage_file *file);

/* Its absolute path; returns buffer. */
#define STORAGE_WHOLE_BYTES (2 * PATH_MAX)
const char *storage_whole(const struct storage_file *file, char buffer[STORAGE_WHOLE_BYTES]);

/* The file mapped at this address. *fd: open, for the caller to close; -1 if not below the store.
 */
bool storage_file_mapped(const void *address, struct storage_file *file, int *fd);

/* --- one call -------------------------------------------------------------------------------- */
struct storage_event {
    struct record *record; /* NULL: not recorded */
    const struct storage_file *file;
    uint32_t step;                 /* of `fault` */
    const struct plan_step *fault; /* what is to be done to this call; NULL: nothing */
    bool applied;                  /* the fault was done; else it is given back */
    bool holds;                    /* this rank's turn goes on until the call is over */
    enum plan_event event;
    struct record look; /* of storage_look_begin: not in the trace yet */
};

/* Before the call: records it, matches it against the rules, and raises storage_depth. May not
 * return. */
void storage_begin(struct storage_event *call, unsigned kind, const struct storage_file *file,
                   uint64_t bytes, uint64_t offset);

/* true: the call is to fail, errno is set. false: it is to be made now, in its turn. */
bool storage_fails(struct storage_event *call);

/* The file has turned out to be this one, the call to be of this kind. */
void storage_is(struct storage_event *call, uint64_t inode);
void storage_becomes(struct storage_event *call, unsigned kind);

/* How many of `bytes` are to be written. */
size_t storage_room(struct storage_event *call, size_t bytes);

/* After the call: `result` as libc returned it (< 0: errno), `bytes` what was done. Returns result,
 * errno is kept. May not return. */
long storage_end(struct storage_event *call, long result, uint64_t bytes);

/* A call that looks for a file and may find none, over and over. `kind`: STORAGE_LOOK, or
 * STORAGE_OPEN of what seems not to be there. Before it: true: it finds none, errno is set (so it
 * was in the run that is followed). false: it is to be made now. Then, after it, with `result` as
 * libc returned it; returns result. */
bool storage_look_begin(struct storage_event *call, unsigned kind, const struct storage_file *file);
long storage_look_end(struct storage_event *call, long result);

/* Whether to open this file is only a look for it: it seems not to be there. A run that follows
 * another one goes by what was found then. */
bool storage_is_folded(const struct storage_file *file);

/* --- what a power failure would take: nothing without STORAGE_JOURNAL ------------------------- */
/* false: it cannot be kept, and that was said. */
bool storage_journal_open(const char *run_folder, int rank);

/* An operation on a name, before (returns its id, 0: not in the journal) and after it, in the turn
 * of the call: the files are looked at again. */
uint64_t storage_name_begin(unsigned kind, struct storage_file *file, struct storage_file *other);
void storage_name_end(uint64_t id, bool done, uint64_t inode);

void storage_opened(uint64_t inode);

/* A sync of an open file or folder: before and after it. */
struct storage_sync {
    bool kept;
    uint64_t covers;
    char copy[PATH_MAX]; /* empty: a folder */
};
void storage_sync_begin(struct storage_sync *sync, int fd, const struct storage_file *file);
void storage_sync_end(const struct storage_sync *sync, bool done, const struct storage_file *file);

/* Everything has been synced, as it was at `covers` (storage_covers, before). */
void storage_synced_all(uint64_t covers);
uint64_t storage_covers(void);

#endif
