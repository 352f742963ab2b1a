/* Processes: nothing that Faultline starts outlives it. Knows nothing of MPI or runs.
 *
 * The process that calls process_own_descendants becomes the new parent of every orphan below it,
 * so that all descendants can always be found from it, whatever sessions or groups they made. */
#ifndef SYSTEM_PROCESS_H
#define SYSTEM_PROCESS_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* From now on orphans below this process become its children. */
void process_own_descendants(void);

/* This process gets `signal_number` when `parent` ends. false: it has ended already. Survives exec,
 * not fork. */
bool process_die_with(pid_t parent, int signal_number);

/* Called for each child reaped. */
typedef void process_reaped(void *context, pid_t pid, int wait_status);

/* Reaps every child that has ended, without waiting. NULL is allowed for `reaped`. */
void process_reap(process_reaped *reaped, void *context);

/* SIGKILL to every descendant, again and again until none is left; all are reaped. None of them
 * runs any more when the first dies. */
void process_end_descendants(process_reaped *reaped, void *context);

struct process_set {
    size_t count;
    const pid_t *pid;
};

/* The same, but for these children and all that is below them. */
void process_end_others(const struct process_set *kept, process_reaped *reaped, void *context);

/* It is stopped, by a signal or by a debugger. */
bool process_is_stopped(pid_t pid);

/* How many processes of this machine the kernel has killed so far for lack of memory. */
long process_killed_for_memory(void);

/* A thread of it other than the main one is running, wants to, or waits for a disk. */
bool process_has_busy_threads(pid_t pid);

/* Adds a signal unless it was ignored from the start: then it stays so (nohup, a shell's
 * background). */
void process_add_unless_ignored(sigset_t *signals, int number);

/* Blocks `signals` and returns a signalfd (non-blocking, close-on-exec) for them, or -1. *old is
 * the mask to give back to a child before exec. */
int process_signals(const sigset_t *signals, sigset_t *old);

/* Gives a forked child the signal mask `mask` and default dispositions. */
void process_reset_signals(const sigset_t *mask);

/* Ends this process the way `wait_status` (as waitpid gave it) says: same exit code, or the same
 * signal, without a core file. */
_Noreturn void process_end_like(int wait_status);

/* pidfd of a process, or -1 (errno). Close-on-exec. */
int process_open(pid_t pid);
/* A signal through a pidfd: never reaches another process that got the same number. */
void process_signal(int pidfd, int signal_number);

#endif
