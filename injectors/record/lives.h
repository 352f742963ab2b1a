/* Which processes have died, as far as this one is informed: for harness/faultline_lives.h. Must
 * not know: MPI. */
#ifndef INJECTORS_RECORD_LIVES_H
#define INJECTORS_RECORD_LIVES_H

#include "board/board.h"
#include "plan/plan.h"

/* This process is number `self` of the board; both must live on. */
void lives_open(struct board *board, const struct plan *plan, int self);

/* In a forked child. */
void lives_close(void);

/* The process has died, whether or not this one is informed of it. */
bool lives_is_dead(int process);

/* This process has been informed of it. */
bool lives_is_informed(int process);

/* Notes in the trace that the program has learnt of the death of `process`. */
void note_write_learned(int process);

/* Called while this process waits where it makes no MPI call: lets the MPI library do what others
 * need of it. NULL: it needs nothing. */
extern void (*lives_progress)(void);

/* Provided by the taps, for a process that waits for something or asks for it over and over while
 * runtime_steering. Both look after the messages that the plan keeps with this process, which no
 * other can send on; a round gives the processor away, too. Inside a lower call. */
void steer_look(void) __attribute__((weak));
void steer_round(unsigned *round) __attribute__((weak));

/* For a process that polls, or waits in a blocking call, of the step engine: see steer.h. */
uint64_t steer_looks_in(void) __attribute__((weak));
uint64_t steer_look_at_held(void) __attribute__((weak));

/* Before another look at what others have done. Gives the processor away. */
void lives_pause(void);

#endif
