/* The table of lives, made once from the traces of a run. A life is one process while it is one
 * rank of the application: from its start, or from when it takes the rank over, to its end, or
 * until it becomes another rank (by the `becomes` notes). A process that tells none is the rank
 * that MPI says for all its life. What one that does tells did before its first note counts for the
 * rank that MPI says, unless the program had not come out of MPI_Init by then: it was in reserve,
 * or started as another rank.
 *
 * Which of two things came before the other, where ranks died in between, is asked here, by when
 * lives began and ended: the numbers of incarnations are names. Must not know: what ranks did. */
#ifndef ORACLES_READING_LIVES_H
#define ORACLES_READING_LIVES_H

#include "oracles/oracle.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct life {
    int rank;   /* of the application */
    int number; /* among the lives of its rank, oldest first, from 0 */
    const struct trace *trace;
    uint64_t from, to;         /* records from..to-1 of the trace are of this life */
    uint64_t born;             /* ticks of the first that was heard of it */
    uint64_t died;             /* ... and of the last */
    const struct life *before; /* the life whose rank it takes; NULL: the first of its rank */
    bool moved; /* `before` had not died: the rank went from one process to the other */
};

struct lives {
    const struct trace_set *traces; /* borrowed */
    size_t count;
    struct life *life; /* by incarnation, then by birth; owned */
    bool moved;        /* some process was not only what MPI says */
    int ranks;         /* processes; ranks of the application are numbered below */
    bool *application; /* by number: some process is this rank at some time, or the process of
                        * that number never came out of MPI_Init; owned */
    bool *helper; /* by number: the process belongs to the library under test, and lives no life
                   * of the application; owned */
};

/* Owned by the caller. */
void lives_read(const struct trace_set *traces, struct lives *lives);
void lives_release(struct lives *lives);

/* The newest of the rank that began in an incarnation up to `incarnation`. NULL: none. */
const struct life *lives_newest(const struct lives *lives, int rank, int incarnation);

/* Whose event it is; NULL: of no rank. */
const struct life *lives_find(const struct lives *lives, struct event_ref event);

/* The life that did this began only after `ticks`: what was there by then was done by one before.
 */
bool lives_began_after(const struct lives *lives, struct event_ref event, uint64_t ticks);

/* True if `process`, of which `incarnation` has no trace, was still heard of while that incarnation
 * ran: it was not started again, but lived on (recovery of single ranks). */
bool lives_on(const struct lives *lives, int process, int incarnation);
/* Some process did. */
bool lives_any_on(const struct lives *lives, int incarnation);

#endif
