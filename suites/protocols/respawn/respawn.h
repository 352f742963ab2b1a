/* What the files of this folder share. */
#ifndef RESPAWN_H
#define RESPAWN_H

#include "common/base/state.h"
#include "mpi_library.h"

#include <stdbool.h>

#define EXPORTED __attribute__((visibility("default")))
#define RANKS_MOST 1024

/* On the communicator of the program, which must not use them. */
enum { TAG_SIZE = 32001, TAG_STATE, TAG_LINE };

/* A line as this rank keeps it. */
struct line {
    uint64_t number;
    char *own; /* the registered state of this rank */
    size_t bytes;
    char *left; /* ... and of the rank before it */
    size_t left_bytes;
};

extern struct respawn {
    MPI_Comm comm; /* what MPI_COMM_WORLD is to the program */
    int rank, ranks;
    bool broken; /* somebody has died: no call of the program does anything until the next line */
    struct state state;
    char *first;      /* the state that the program begins with */
    struct line line; /* the newest */
    char *command, **arguments;
} respawn;

/* A call on respawn.comm has failed: all come to the next line and go back. */
void respawn_failed(void);

#endif
