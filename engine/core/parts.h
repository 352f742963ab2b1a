/* What the files of this folder share. */
#ifndef ENGINE_CORE_PARTS_H
#define ENGINE_CORE_PARTS_H

#include "engine/core/core.h"
#include "engine/core/transition.h"

#define CALL_NS 1000u /* that a wire call takes */
#define TICK_NS 10u   /* between two times of records */

/* The next holder of the token; ENGINE_NOBODY: nobody can go on, or nobody is to. */
int choose_next(void);

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

/* --- news.c: pieces that are still to be told, each to one process ---------------------------- */

unsigned news_untold(void);
uint64_t news_actor(unsigned which);
void news_tell(unsigned which);

#endif
