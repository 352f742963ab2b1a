/* What the plan keeps from ranks. Those that it has stopped are not given the token until what
 * stopped them lets them go; a death of which it informs a rank is not known to that rank before.
 */
#ifndef ENGINE_ZYGOTE_STOPS_H
#define ENGINE_ZYGOTE_STOPS_H

#include "board/board.h"

/* In the process that forks the ranks: reads the plan of the run, if there is one, and sets
 * engine_is_stopped and engine_death_notice here and in all that are forked. */
void stops_open(struct board *board, const char *folder);

/* Somebody is dead, and the plan keeps it from a rank; and: it does no longer, since the job cannot
 * go on otherwise. */
bool stops_withhold(void);
void stops_give_notice(void);

#endif
