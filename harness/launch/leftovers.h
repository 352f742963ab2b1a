/* What an incarnation leaves that is nobody's any more: shared memory of the MPI library, where a
 * rank is killed before that takes it away itself (board/shared_memory.h), and files of the
 * launcher in the run folder. */
#ifndef LAUNCH_LEFTOVERS_H
#define LAUNCH_LEFTOVERS_H

#define LAUNCHER_FILES "launcher-files" /* in the run folder: where a launcher keeps its own */

/* Before its ranks are started: from now on they note what is made. Without room on the disk they
 * do not, and it stays. */
void leftovers_begin(const char *run_folder);

/* When all its processes have ended: nothing of that is left. */
void leftovers_remove(const char *run_folder);

#endif
