/* A world whose dead are replaced, with ULFM [UL, section 6.1]: those who live shrink the
 * communicator, spawn a process for each rank that has died, merge with them, and are in the old
 * order again. Protocols that go back to a line in such a way share it, with what a program may
 * call in between (calls.c). Must not know: what a line is, and where it is kept. */
#ifndef COMMON_WORLD_WORLD_H
#define COMMON_WORLD_WORLD_H

#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>

#define EXPORTED __attribute__((visibility("default")))
#define RANKS_MOST 1024

extern struct world {
    MPI_Comm comm; /* what MPI_COMM_WORLD is to the program */
    int rank, ranks;
    bool broken; /* somebody has died: no call of the program does anything until all go back */
    /* With its arguments, ended by NULL; NULL: unknown. */
    char **command;
} here;

/* What the living processes send the new ones; made of ints alone. */
struct newcomer_info {
    int ranks;
    int line;                /* the newest of the sender */
    int count;               /* of ranks that have died, */
    int missing[RANKS_MOST]; /* ... in order */
};

/* The protocol's, for messages and the phase "<protocol>:shrunk". */
extern const char world_protocol[];

_Noreturn void world_give_up(const char *why);
void *world_memory(size_t bytes); /* zeroed; owned by the caller */

/* All who live say the same: nothing went wrong at anybody, and nobody has died. */
bool world_agree(MPI_Comm comm, bool well);
/* The others hear of it, in whatever they wait. */
void world_revoke(MPI_Comm comm);

/* A call on here.comm has failed: all come to where they agree that something is wrong. */
void world_failed(void);

/* All are where the protocol goes on, on the communicator of all ranks; false: nobody is. */
typedef bool world_resume(MPI_Comm comm, const struct newcomer_info *info);

/* Puts new processes in the place of the dead, and repeats that until nobody dies meanwhile.
 * `line`: for the new processes. */
void world_repair(int line, world_resume *resume);

bool world_is_missing(const struct newcomer_info *info, int rank);

/* What this process got when it came; NULL: it is one of the first. A new process goes on as those
 * who called it do, or is not needed. */
const struct newcomer_info *world_came(void);
_Noreturn void world_leave(void);

#endif
