/* What the files of this folder share. */
#ifndef ENGINE_CORE_PARTS_H
#define ENGINE_CORE_PARTS_H

#include "engine/core/core.h"

#define CALL_NS 1000u /* that a wire call takes */
#define TICK_NS 10u   /* between two times of records */

/* The next holder of the token; ENGINE_NOBODY: nobody can go on, or nobody is to. */
int choose_next(void);

/* The process has ended in order. */
void engine_left(int process);

/* Something was done that is not polling in vain. */
void note_progress(void);

#endif
