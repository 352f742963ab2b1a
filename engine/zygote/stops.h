/* Ranks that the plan has stopped are not given the token until what stopped them lets them go. */
#ifndef ENGINE_ZYGOTE_STOPS_H
#define ENGINE_ZYGOTE_STOPS_H

#include "board/board.h"

/* In the process that forks the ranks: reads the plan of the run, if there is one, and sets
 * engine_is_stopped here and in all that are forked. */
void stops_open(struct board *board, const char *folder);

#endif
