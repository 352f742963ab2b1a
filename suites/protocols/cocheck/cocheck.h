/* CoCheck as a layer over PMPI [CC]: ready messages flush every channel, what comes ahead of them
 * is taken into a buffer, and then a process is like one alone: its state goes to disk, or to a
 * skeleton process that goes on as the same rank. What all parts of it share. README.md says how.
 *
 * Words: a *process* is one of the MPI job, numbered as in the library's MPI_COMM_WORLD. A *rank*
 * is one of the application: its virtual address. A *line* is one round of the protocol: a
 * checkpoint of all ranks, or the migration of some. Must not know: what the program computes. */
#ifndef COCHECK_H
#define COCHECK_H

#include "cocheck/options.h"
#include "common/base/lines.h"
#include "common/job/job.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define COORDINATOR 0 /* the process that is the central instance, whichever rank lives there */
#define NO_RANK (-1)

/* This process. */
struct cocheck {
    bool started;    /* between MPI_Init and MPI_Finalize */
    bool has_state;  /* checkpoint_restore is over; a line waits until then */
    int process;     /* its number */
    int processes;   /* of the job */
    int ranks;       /* of the application */
    int rank;        /* that it is; NO_RANK: a skeleton, or one that has migrated away */
    uint64_t line;   /* taken or restored last */
    uint64_t kept;   /* the newest line whose checkpoint of this rank is on disk; LINE_NONE: none */
    unsigned passed; /* potential checkpoints since a line was last asked for */
    bool ended;      /* all ranks are in MPI_Finalize, and no line is under way */
    struct options options;
    struct line_store store;
};
extern struct cocheck self;

/* Takes the messages that the central instance and others have sent this process. Never blocks. */
void attend(void);

/* The end of this layer in this process: collective over all processes. */
void finish(void);

/* Notes in the trace that this process is at the named point "cocheck:<name>". */
void phase(const char *name);

#endif
