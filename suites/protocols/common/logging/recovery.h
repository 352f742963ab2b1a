/* A rank has died: how the others learn of it, how a new process takes its place, and what it is
 * given ([CM] lines 28 to 51). Must not know: where the process comes from (common/newcomers), what
 * is logged and why, when a line is taken. */
#ifndef COMMON_LOGGING_RECOVERY_H
#define COMMON_LOGGING_RECOVERY_H

#include "common/logging/logger.h"

/* In MPI_Init. This process is one of the first, or takes the place of a rank that has died. Then
 * it learns which rank it is, and gets all determinants of that rank. */
void recovery_open(void);
/* In MPI_Finalize. */
void recovery_close(void);

/* This process has taken over a rank. */
bool recovery_is_newcomer(void);

/* If a rank has died: replaces it, or its team, together with all others who live. If a process
 * that takes a place dies meanwhile, the next one does; the job ends where a rank of another team
 * dies. Does not return where the rank was of this one's team: this process leaves, for another one
 * to take its place as well. */
void recovery_look(void);

/* All have come here and nobody has died. False: somebody has, and is replaced. */
bool recovery_all_are_well(void);

/* At a process that has taken over a rank: the newest line that all other teams have saved. */
uint64_t recovery_line_of_others(void);

/* At a process that has taken over a rank, and could go on from self.line: waits until every other
 * rank has sent it what it has logged for it. With that come determinants of others that the
 * process before had stored, so it is no sooner as good as that one was. The job ends where a rank
 * of another team dies meanwhile. Returns the newest line that its whole team can go on from. */
uint64_t recovery_gather(void);

/* All ranks are one team, and were started again: the newest line that all can go on from, if this
 * one can from `line`. */
uint64_t recovery_agree_on(uint64_t line);

/* From the line that this process has read on it is given what happened to the rank before: at
 * once, or (recovery_follow, for layer_carrier) as it comes from others of its team, who do their
 * work again as well. */
void recovery_relive(void);
void recovery_follow(void);

#endif
