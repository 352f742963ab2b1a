/* Where the step engine comes in: the functions of it that the injectors call. */
#ifndef ENGINE_TAKE_OVER_H
#define ENGINE_TAKE_OVER_H

#include <stdbool.h>

/* true: the step engine runs the ranks. Then `begin` is called in each of them at the program's
 * first MPI call. Called when this object is loaded. */
bool engine_takes_over(void (*begin)(void));

/* In a forked child of a rank: it is none. */
void engine_forked(void);

/* The process ends. Where that is the program which has made no MPI call, each rank ends so, and
 * this returns in each of them. */
void engine_at_exit(void);

#endif
