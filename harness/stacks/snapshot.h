/* Where a thread stands, as a file: its registers, its stack, and which files lie where in its
 * memory. Taken in a moment that must not last; call stacks are made of it when there is time
 * (stacks/unwind.h). Must not know: what a frame is, MPI, traces.
 *
 * A file is one struct snapshot, then stack_bytes of the stack from stack_address on, then the text
 * of /proc/PID/maps to the end of the file. */
#ifndef STACKS_SNAPSHOT_H
#define STACKS_SNAPSHOT_H

#include "base/registers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SNAPSHOT_FOLDER "snapshots" /* in a run folder */
#define SNAPSHOT_MAGIC "FLSNAPS"    /* with its terminator: 8 bytes */
#define SNAPSHOT_VERSION 2u
#define SNAPSHOT_STACK_MOST (128u << 10) /* what lies deeper is left out */

struct snapshot {
    char magic[8];
    uint32_t version;
    int32_t pid;
    uint64_t stack_address;
    uint64_t stack_bytes;
    struct registers registers;
};

/* "RUN/snapshots/rRANK.INCARNATION.WHAT", WHAT being "killed" or "e17". The folder is made if it is
 * not there. false: longer than `bytes`. */
bool snapshot_path(char *path, size_t bytes, const char *run, int rank, int incarnation,
                   const char *what);

/* "RUN/snapshots/wanted", a file of events ("r2#1:e9", a line each): a run that follows another one
 * takes a snapshot wherever a rank comes to one of them. As above. */
bool snapshot_wanted_path(char *path, size_t bytes, const char *run);

/* Of the calling thread. No allocation, no lock; one thread at a time. Some ten microseconds.
 * false: there is none, and no file (a processor that registers.h does not know, a full disk). */
bool snapshot_take(const char *path);

/* Of the main thread of a child, which is stopped for it and stays stopped: only for one that is to
 * be killed next. Whoever reaps it sees the stop too. false as above, also where ptrace is not
 * allowed. */
bool snapshot_take_of(pid_t child, const char *path);

#endif
