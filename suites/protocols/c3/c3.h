/* What all parts of the C3 protocol share: who this process is, where it stands against the
 * recovery line, and how a part ends the job. The protocol is that of Bronevetsky, Marques, Pingali
 * and Stodghill, "Collective Operations in an Application-level Fault Tolerant MPI System" [C3],
 * section 3; README.md says what is made of it. Must not know: what the program computes. */
#ifndef C3_H
#define C3_H

#include "common/base/lines.h"
#include "common/base/state.h"
#include "common/job/job.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define INITIATOR 0
#define EVERY_DEFAULT 10 /* the initiator's potential checkpoints per line */
/* Promised of each line, in potential checkpoints (faultline_settles). Nothing bounds how long a
 * program leaves a late message alone; more than this is seen in no program here. */
#define SETTLES 100
#define EVERY_MAX 1000000

/* The variables of [C3] section 3.5 and what goes with them. Counters are per epoch and by world
 * rank; they count every message of this layer, those of collective calls too. */
struct c3 {
    bool started; /* between MPI_Init and MPI_Finalize */
    int rank;
    int ranks;
    struct line_store store;
    struct state state;
    unsigned every;  /* potential checkpoints per line */
    unsigned passed; /* the initiator's, since it last initiated a line */

    uint64_t epoch;      /* number of the line taken or restored last */
    bool logging;        /* amLogging */
    bool in_send;        /* of the program's blocking sends: see line_stop_logging */
    uint64_t next_id;    /* nextMessageID */
    uint64_t *sent;      /* sendCount(this rank -> q) in this epoch */
    uint64_t *current;   /* receiveCount of what was sent in this epoch */
    uint64_t *previous;  /* ... in the epoch before; of use while logging */
    uint64_t *next;      /* ... in the epoch to come: early messages */
    uint64_t next_place; /* of the next receive in matching order, over all epochs */
};

extern struct c3 self;

/* A named point for scenarios: "c3:<name>". */
void phase(const char *name);

#endif
