/* What processes and the central instance send each other: the notification, which the paper sends
 * as a signal, and the answers. Ready messages are not among them: they go where the application's
 * messages go. */
#ifndef COCHECK_CONTROL_H
#define COCHECK_CONTROL_H

#include "cocheck/cocheck.h"
#include "common/job/control.h"

/* Tags on the wire; wire.lua names them too. */
enum control_kind {
    CONTROL_REQUEST = 1,      /* rank 0 → central instance: a line is due */
    CONTROL_NOTIFICATION = 2, /* → a process: make the line; value: where to go, if it migrates */
    CONTROL_SAVED = 3,        /* → central instance: this rank's checkpoint is on disk */
    CONTROL_ADDRESS = 4,      /* skeleton → central instance: it is rank `value` now */
    CONTROL_MAPPING = 5,      /* → all processes: rank and process, as control_pair has them */
    CONTROL_RESUME = 6,       /* → all processes: the line is over */
    CONTROL_FINISHED = 7,     /* → central instance: rank `value` is in MPI_Finalize */
    CONTROL_END = 8,          /* → all processes: so are all others */
    CONTROL_KINDS
};

/* Two numbers of processes or ranks in one. */
static inline uint64_t control_pair(int first, int second)
{
    return (uint64_t)(uint32_t)first << 32 | (uint32_t)second;
}

static inline int control_first(uint64_t pair)
{
    return (int)(pair >> 32);
}

static inline int control_second(uint64_t pair)
{
    return (int)(uint32_t)pair;
}

#endif
