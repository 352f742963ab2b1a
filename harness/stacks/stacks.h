/* Call stacks of live processes, taken from outside with ptrace: so also of a rank that hangs in a
 * signal handler or blocks every signal. Linux only. Must not know: MPI, traces, runs. */
#ifndef STACKS_STACKS_H
#define STACKS_STACKS_H

#include "base/error.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#define STACKS_TIME_LIMIT_MS 5000 /* per process */

/* Stops each process for some milliseconds and writes its stacks: that of the main thread, and of
 * every other thread that is inside an MPI library. ranks[i] is only printed. A process without a
 * stack has a line that says why. What a frame's line says: frames.h.
 *
 * ERROR_IO if count is above 0 and there was no stack to be had: *error tells the last reason. The
 * processes go on as before in any case. Call it from the thread that waits for children, so that
 * nobody else reaps the stops. */
enum error_code stacks_write(const pid_t *pids, const int *ranks, size_t count, FILE *out,
                             struct error *error);

#endif
