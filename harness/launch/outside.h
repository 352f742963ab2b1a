/* What was done to an incarnation by others than the plan and the job itself: signals that somebody
 * sent, limits of the machine. What happens then is nobody's failure in the job.
 *
 * Who sent a signal cannot be asked of the kernel once a process has died of it. So it goes by what
 * is known of the job: a signal that only comes when somebody sends it (SIGKILL, SIGTERM, SIGINT,
 * SIGHUP, SIGQUIT, SIGUSR1 ...) came from outside, unless the plan, Faultline, or a rank of the job
 * has sent it (board_note_signal). A crash (SIGSEGV, SIGABRT, SIGPIPE ...) is the rank's own. */
#ifndef LAUNCH_OUTSIDE_H
#define LAUNCH_OUTSIDE_H

#include "board/board.h"
#include "oracles/oracle.h"

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* The signal comes only when somebody sends it: not from a crash, a timer, or a call that fails. */
bool outside_is_sent(int signal_number);

/* The rank, whose parent saw its end, died of a signal from outside, or at a limit (ulimit). */
bool outside_ended(const struct board_slot *slot, const struct rank_end *end);

/* A rank of the incarnation did. `failed_ns`: when a rank failed by itself (CLOCK_MONOTONIC), 0:
 * none did; what the launcher passes on after that is its clearing up. text: who and how. */
bool outside_disturbed(const struct board *board, const struct rank_end *ends, uint64_t failed_ns,
                       char *text, size_t bytes);

/* A rank or the launcher was sent a signal, by way of a rank's parent, whatever came of it. */
bool outside_signalled(const struct board *board, uint64_t failed_ns, char *text, size_t bytes);

/* When that first was one which asks a process to end, CLOCK_MONOTONIC; 0: none was. */
uint64_t outside_end_signal_ns(const struct board *board);

/* A process of the job is stopped, and not by the plan. `launcher`: 0 when it has ended. */
bool outside_stopped(const struct board *board, pid_t launcher, char *text, size_t bytes);

#endif
