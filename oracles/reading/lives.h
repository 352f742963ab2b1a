/* The table of lives, made once from the traces of a run. A life is one process while it is one
 * rank of the application: from its start, or from when it takes the rank over, to its end, or
 * until it becomes another rank (by the `becomes` notes). A process that tells none is the rank
 * that MPI says for all its life. What one that does tells did before its first note counts for the
 * rank that MPI says, unless the program had not come out of MPI_Init by then: it was in reserve,
 * or started as another rank.
 *
 * A process that came later than the first MPI_COMM_WORLD is, from its start, the rank that it
 * first tells; if it came before that rank had died, from the note on. If it tells none, it is a
 * rank of its own, of the number that it has as a process. One that does all that a rank does (note
 * `replica`) is that rank from its start if it takes it over.
 *
 * Which of two things came before the other, where ranks died in between, is asked here, by when
 * lives began and ended: the numbers of incarnations are names. Must not know: what ranks did. */
#ifndef ORACLES_READING_LIVES_H
#define ORACLES_READING_LIVES_H

#include "oracles/oracle.h"
#include "oracles/reading/succession.h"
#include "trace/reader.h"

#include <stdbool.h>
#include <stdint.h>

struct life {
    int rank;   /* of the application */
    int number; /* among the lives of its rank, oldest first, from 0 */
    const struct trace *trace;
    uint64_t from, to; /* records from..to-1 of the trace are of this life */
    uint64_t counts;   /* of a newcomer: the first that counts. What it did before, until it had the
                        * rank's state, or as a process in reserve, was only to get there; `to`: it
                        * was cut off on the way. Of others `from` */
    uint64_t came;     /* ticks of the first that was heard of its process */
    uint64_t born;     /* ticks of the first that was heard of it */
    uint64_t died;     /* ... and of the last */
    uint64_t gone; /* ticks when its process was dead, by a signal or another status than 0, as its
                    * parent saw it, or when it left; 0: it is not known to have done either */
    bool left;     /* it told that it is no rank any more and went, without MPI_Finalize: for all
                    * others it is dead, and it did not fail */
    const struct life *before; /* the life whose rank it takes; NULL: the first of its rank */
    bool moved;      /* `before` had not died: the rank went from one process to the other */
    bool takes_over; /* `before` died and others lived on: this is the newcomer in its place */
    bool replica;    /* ... which did the same all the time: what it did counts from its start, and
                      * nothing of what the lives before did */
};

struct lives {
    const struct trace_set *traces; /* borrowed */
    size_t count;
    struct life *life; /* by incarnation, then by birth; owned */
    bool moved;        /* some process was not only what MPI says */
    bool rolls_back;   /* somebody told of a checkpoint, or of having restored one */
    int ranks;         /* processes; ranks of the application are numbered below */
    bool *application; /* by number: some process is this rank at some time, or the process of
                        * that number never came out of MPI_Init; owned */
    bool *helper; /* by number: the process belongs to the library under test, and lives no life
                   * of the application; owned */
    struct succession succession;
};

/* Owned by the caller. */
void lives_read(const struct trace_set *traces, struct lives *lives);
void lives_release(struct lives *lives);

/* The newest of the rank that began in an incarnation up to `incarnation`. NULL: none. */
const struct life *lives_newest(const struct lives *lives, int rank, int incarnation);

/* The rank that a peer or a member of a group stands for, at the level of the application, where it
 * is named in `incarnation` at `ticks`: a process that came later than the first MPI_COMM_WORLD
 * stands for the rank that it was then, or for the first that it was later. What is no process
 * (PEER_ANY, ...) is returned as it is. */
int lives_peer(const struct lives *lives, int incarnation, uint64_t ticks, int peer);

/* The process of the life came to its end in order: it was not cut off, and did not leave. */
bool life_closed(const struct life *life);

/* The last that its program did is to call MPI_Finalize. */
bool life_is_over(const struct life *life);

/* Nobody is this rank any more: its newest life died. */
bool lives_is_dead(const struct lives *lives, int rank);

/* What goes to the rank, or comes from it, on the communicator may have gone with a life that died:
 * the newest has died as well; or it began anew (it restored no line) and has not used the
 * communicator. */
bool lives_left(const struct lives *lives, int rank, uint32_t comm);
/* The same of what the rank was still to do: not where its newest life died inside MPI_Finalize,
 * for by then its program had received and called all that it ever would. */
bool lives_left_undone(const struct lives *lives, int rank, uint32_t comm);

/* Whose event it is; NULL: of no rank. */
const struct life *lives_find(const struct lives *lives, struct event_ref event);

/* The life that did this began only after `ticks`: what was there by then was done by one before.
 */
bool lives_began_after(const struct lives *lives, struct event_ref event, uint64_t ticks);

/* True if `process`, of which `incarnation` has no trace, was still heard of while that incarnation
 * ran: it was not started again, but lived on (recovery of single ranks). */
bool lives_on(const struct lives *lives, int process, int incarnation);
/* Some process did, or a newcomer took over from one that died while others lived on. */
bool lives_any_on(const struct lives *lives, int incarnation);
/* Some process of the incarnation is known to have died. */
bool lives_any_died(const struct lives *lives, int incarnation);

#endif
