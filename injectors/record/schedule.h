/* What the step engine, which runs the ranks one after the other, is informed of and asked. Without
 * it the ranks run at once and are ended and stopped by signals. Must not know: MPI. */
#ifndef INJECTORS_RECORD_SCHEDULE_H
#define INJECTORS_RECORD_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

struct schedule {
    /* The plan kills this rank, which runs no more; the rank itself: while it is inside its next
     * wire call. Its parent has been asked for the rest. */
    void (*kill)(int32_t rank);
    /* This rank is about to kill itself: others may run before it does. */
    void (*dies)(void);
    /* The plan lets this process know of a death: it looks again at what it waits for. */
    void (*report_death)(int32_t process);
    /* The plan has stopped ranks, this one perhaps: returns when this one may go on. */
    void (*stop)(void);
    /* Who is in a group, whose handle this is: numbers of processes, in the order of its ranks. */
    void (*members)(uint64_t group, int32_t *process);
    /* It has a process, which has neither died nor come to its end. */
    bool (*is_there)(int32_t process);
    /* The process has died; and this process is informed of it. */
    bool (*is_dead)(int32_t process);
    bool (*knows_dead)(int32_t process);
    /* Looks once whether ready(data), as a poll of MPI does: others may run before. */
    void (*poll)(bool (*ready)(void *data), void *data);
    /* Returns when ready(data), which is asked whenever a process has died or come to its end. */
    void (*wait)(bool (*ready)(void *data), void *data);
    /* One round of a loop that waits for what others do, or for time: returns in so many ns, or
     * before, when something that this rank could see has changed. 0: when any other rank has done
     * something; UINT64_MAX: it waits for no time. */
    void (*linger)(uint64_t looks_in);
    /* This rank comes to a call on the store. Others may run before it is made. */
    void (*store)(void);
    /* That call concerns this file: `call` is an enum storage_call, `path` is below the store. */
    void (*store_file)(unsigned call, const char *path, bool is_folder);
    /* This rank has noted that a line is committed. */
    void (*committed)(void);
    /* What stands in records for a file of the store: its inode differs from run to run. */
    uint32_t (*file)(uint64_t inode);
    /* It has just been made: another file may have had its inode before. */
    void (*file_made)(uint64_t inode);
};

/* NULL: there is none. */
extern const struct schedule *schedule;

#endif
