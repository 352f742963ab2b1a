/* Call stacks of live processes, taken from outside with ptrace: so also of a rank that hangs in a
 * signal handler or blocks every signal. Linux only. Must not know: MPI, traces, runs. */
#ifndef STACKS_STACKS_H
#define STACKS_STACKS_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define STACKS_TIME_LIMIT_MS 5000 /* per process */

/* What the lines of a stack are told apart by. Those of frames begin with their number, and end
 * with the name of a file in parentheses. */
#define STACKS_MAIN_THREAD "  main thread"
#define STACKS_FOLDED "    ... "   /* frames that are only counted */
#define STACKS_MPI_LIBRARY "libmp" /* its files begin so: libmpich.so.12, libmpi.so.40 */

/* Stops each process for some milliseconds and writes its stacks: that of the main thread, and of
 * every other thread that is inside an MPI library. ranks[i] is only printed. A process without a
 * stack has a line that says why. What a frame's line says: frames.h.
 *
 * ERROR_IO if count is above 0 and there was no stack to be had: *error has the last reason. The
 * processes go on as before in any case. Call it from the thread that waits for children, so that
 * nobody else reaps the stops. */
enum error_code stacks_write(const pid_t *pids, const int *ranks, size_t count, FILE *out,
                             struct error *error);

#endif
