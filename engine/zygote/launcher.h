/* The process that forks the ranks of one incarnation from itself, reaps them, and ends what is
 * left of the job when one has failed: what mpiexec and the ranks' parents are elsewhere. */
#ifndef ENGINE_ZYGOTE_LAUNCHER_H
#define ENGINE_ZYGOTE_LAUNCHER_H

/* Returns in each rank (see zygote.h); this process ends when all have ended, with status 0 if all
 * did so in order. `folder`: of the run, absolute; its board is there. */
void launcher_run(const char *folder, int ranks);

#endif
