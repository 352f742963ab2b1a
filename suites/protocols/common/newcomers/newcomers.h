/* How those who live put a new process in the place of a rank that has died, one failure at a time;
 * nobody else goes back. Two ways behind one interface:
 *
 * - spawned.c: by ULFM [UL, section 6.1]: revoke, shrink, spawn, merge. The library says who has
 *   died.
 * - reserve.c: by processes that were started with the job and wait, where a call that needs a dead
 *   process waits for ever, as with MPICH under its mpiexec. faultline_lives.h says who has died,
 *   and nothing is used but messages between two.
 *
 * A protocol that includes this file is linked with this folder. Must not know: what a rank is
 * given to go on from. */
#ifndef COMMON_NEWCOMERS_NEWCOMERS_H
#define COMMON_NEWCOMERS_NEWCOMERS_H

#include "common/base/bytes.h"
#include "mpi_library.h"

#include <stdbool.h>
#include <stddef.h>

#define NEWCOMERS_RANKS_MOST 1024

/* --- beginning and end ------------------------------------------------------------------------ */

/* Which rank this process is, and of how many. */
struct place {
    int rank;
    int ranks;
};

/* In MPI_Init, by every process of the job. reserve: so many, the last ones, are in reserve; 0: a
 * new process is spawned. team: so many ranks that follow each other, the last ones fewer, are
 * replaced together when one of them dies; more than 1 without reserve only. True: this process
 * takes the place of a rank that has died, and info[0 .. numbers) is what the living processes have
 * sent it; the caller notes in the trace which rank it is. False: it is one of the first. A process
 * in reserve returns when it is needed; if it never is, it ends here with exit status 0. */
bool newcomers_open(int reserve, int team, int *info, size_t numbers, struct place *place);

/* Before this rank goes to MPI_Finalize, where all that was sent has come. True: so it has for all,
 * and nobody is missed any more. False: somebody has died before, and is replaced first. */
bool newcomers_all_are_well(void);

/* In MPI_Finalize, after that. */
void newcomers_close(void);

/* The first of those that are replaced together with the rank, and how many they are. */
int newcomers_first(int rank);
int newcomers_count(int rank);

/* --- who is where ----------------------------------------------------------------------------- */

/* The communicator in which this process has learnt its rank; of spawned processes, the newest. All
 * messages to and from the newest process go through it. */
MPI_Comm newcomers_letters(void);

/* The process of rank `rank` in every such communicator that it is in. */
int newcomers_process(int rank);

/* What goes to or comes from this process (of newcomers_letters) need not come to an end any more.
 */
bool newcomers_is_dead(int process);
/* Hears of deaths, for newcomers_is_dead, where the library does not end what needs the dead. */
void newcomers_look(void);

/* The library ends calls that need the dead. False: they wait for ever, so nobody calls what all
 * have to, such as MPI_Comm_free. */
bool newcomers_calls_end(void);

/* The library's group of all ranks, in their order, as it was when this process became a rank; the
 * caller's. */
void newcomers_everybody(MPI_Group *group);

/* --- those who live --------------------------------------------------------------------------- */

/* A rank has died, and all who live come together now. Never waits for long; asked again and
 * again, by every rank. */
bool newcomers_one_has_died(void);

/* Then, by all who live: which rank it is; of those that are replaced together, the first. Ends the
 * job if there are two of them. A process that is to be replaced as well calls newcomers_leave
 * after that, and all others have seen it go when they come out of this. */
int newcomers_come_together(void);

/* To whoever still waits for this process it is dead: another one takes its place. */
_Noreturn void newcomers_leave(void);

/* By all of them, once or more: there is another process for the rank (each of those that are
 * replaced together), which gets `info` (as given to newcomers_open; only that of one of them
 * counts) and waits for newcomers_send of each. False: it has died already, and they call for the
 * next one. Ends the job if another rank dies, or there is no process. */
bool newcomers_call(const int *info);

/* To the process that was called for rank `to`. */
void newcomers_send(int to, const struct bytes *known);

/* That process has heard all, and goes on. False: it has died, and they call for the next one. */
bool newcomers_meet(void);

/* The rank is replaced: what was needed for it goes. */
void newcomers_settled(void);

/* --- the process that takes the place --------------------------------------------------------- */

/* What rank `from` said; owned by the caller. Ends the job if another rank dies. */
void newcomers_receive(int from, struct bytes *known);

/* It has heard all, and lets them go on. Where it cannot, because one of those that came with it
 * has died, it leaves. */
void newcomers_heard_all(void);

/* Ends the job: another rank has died. when: "while ..." */
_Noreturn void newcomers_one_at_a_time(const char *when);

#endif
