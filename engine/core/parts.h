/* What the files of this folder share. */
#ifndef ENGINE_CORE_PARTS_H
#define ENGINE_CORE_PARTS_H

#include "engine/core/core.h"
#include "engine/core/transition.h"

#define NS_PER_S 1000000000u
#define CALL_NS 1000u                /* that a wire call takes */
#define TICK_NS 10u                  /* between two times of records */
#define SLEEPS_BETWEEN_POLLS 10u     /* at most, of a process that waits for others */
#define FAILURES_MOST 1000000u       /* failed calls in a row that say nothing of a process */
#define TIME_MOST_NS (INT64_MAX / 2) /* a wait for longer is over then: in 146 years */

/* The next holder of the token; ENGINE_NOBODY: nobody can go on, or nobody is to. */
int choose_next(void);

/* Does this process, which comes to a sleep, go on at once, and time moves? The job has been
 * waiting for long then, the process polls between its sleeps, and it is still its turn to poll. */
bool rests_in_turn(void);

/* The process has ended in order. */
void engine_left(int process);

/* Something was done that is not polling in vain. */
void note_progress(void);

/* policy.c: one of count possibilities of this kind, which is not who is next. */
unsigned policy_decide(enum decision kind, unsigned count);

/* --- transition.c: of a run that is explored -------------------------------------------------- */

/* Who of these actors is next. False: all of them sleep. */
bool transition_choose(const uint64_t *actor, unsigned count, unsigned *chosen);
unsigned transition_decide(enum decision kind, unsigned count);
/* The process that runs will say no rather than wait. */
void transition_polls(bool polls);
/* The process that runs has waited, and asks once more what for: until false is said. */
void transition_went_on(bool went_on);
bool transition_goes_on(void);

/* So often a question is answered at once (asked.c). */
unsigned transitions_polls(void);
/* What is not synced may be lost in this run. */
bool transitions_lose(void);
/* Visits the objects that the running transition has touched so far, one after the other. */
void transition_for_each(void (*take)(void *data, enum touch how, uint64_t object), void *data);
/* Whose it is. */
uint64_t transition_actor(void);

/* --- asked.c: of a run that is explored ------------------------------------------------------- */

bool poll_explored(uint64_t question, engine_ready *ready, void *data);
/* What the process has asked in vain counts no more. */
void asked_forget(struct process *process);
/* The running transition is over: processes that have asked for what it has changed look again. */
void asked_settle(void);

/* --- token.c ---------------------------------------------------------------------------------- */

/* Passes the token to the process that is chosen next, and returns when it has come back. */
void hand_over(enum process_state state);
/* ready(data), without touching anything. */
bool look(engine_ready *ready, void *data);

/* --- news.c: pieces that each still have to reach one process --------------------------------- */

unsigned news_pending(void);
uint64_t news_actor(unsigned which);
void news_deliver(unsigned which);

#endif
