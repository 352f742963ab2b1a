/* Bytes from one process to another through MPI_COMM_WORLD, where some of its processes may be
 * dead: no call waits for one of them, whether the library knows of deaths or not. And who is dead,
 * from faultline_lives.h. Must not know: ranks, what the bytes mean. */
#ifndef COMMON_NEWCOMERS_POST_H
#define COMMON_NEWCOMERS_POST_H

#include "common/base/bytes.h"
#include "mpi_library.h"

#include <stdbool.h>

enum tag {
    TAG_HERE = 1, /* the first from each process to each */
    TAG_NOTICE,
    TAG_INFO, /* what a process that takes a place gets from the leader */
    TAG_KNOWN /* ... and what it gets from each rank */
};

/* By all processes of MPI_COMM_WORLD. Waits until each has got something from each, or is dead. */
void post_open(void);
/* What was sent is gone, but what was sent to the dead. */
void post_close(void);

/* Takes over the bytes; does not wait until they are gone. To the dead they get lost. */
void post_send(enum tag tag, int process, struct bytes bytes);

/* The next with this tag from the process, or from MPI_ANY_SOURCE; appended to *in, which the
 * caller owns. False: nothing is here. */
bool post_take(int process, enum tag tag, struct bytes *in);

/* Hears who has died, and lets go of what is sent. */
void post_look(void);

/* How many deaths this process has learnt of. */
int post_deaths(void);
bool post_is_dead(int process);
/* Somebody else has said so. */
void post_died(int process);

#endif
