/* What the files of this folder share. */
#ifndef CHECKPOINT_ON_FAILURE_H
#define CHECKPOINT_ON_FAILURE_H

#include "common/base/lines.h"
#include "common/base/state.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stdint.h>

#define EXPORTED __attribute__((visibility("default")))
#define PROTOCOL "checkpoint_on_failure"
#define STATUS_LEFT 75 /* of a process that has left: start the job again (EX_TEMPFAIL) */

/* A line as each rank keeps it in memory. */
struct line {
    uint64_t number; /* LINE_NONE: there is none, and the rest is NULL */
    uint64_t *own;   /* the registered state of this rank; owned */
    uint64_t *sum;   /* of the states of all ranks, exclusive or; owned */
};

extern struct job {
    int rank, ranks;
    struct state state;
    int words;          /* of 8 bytes, in the largest state of a rank */
    struct line newest; /* all have given their state for it */
    struct line before; /* some rank may not have come through the newest */
    struct line_store store;
} job;

_Noreturn void job_give_up(const char *why);

/* All who live say that it went well, and nobody has died whose death is not known to all. */
bool job_all_well(MPI_Comm comm, bool well);

/* After an agreement that has failed: all who live save the newest line that all of them have, and
 * end with STATUS_LEFT. Where more than one rank has died, or there is no such line, nothing is
 * saved, and what was saved before counts. */
_Noreturn void job_leave(void);
/* A call has failed: the same, after that agreement. */
_Noreturn void job_failed(void);

#endif
