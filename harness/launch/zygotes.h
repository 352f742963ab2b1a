/* Zygotes of the step engine that are kept over the runs of a command (engine/zygote/kept.h): one
 * for each program with its arguments, protocol and environment. They are children of the command;
 * its jobs, which it forks, ask those that are ready. A job that finds none starts the program
 * anew, as it does where a program cannot be kept. Must not know: jobs, runs. */
#ifndef LAUNCH_ZYGOTES_H
#define LAUNCH_ZYGOTES_H

#include "launch/launcher.h"

#include <signal.h>

#define ZYGOTES_MOST 256 /* kinds that are told apart */

/* In the command, before it starts a job of the scenario; `mask`: of signals, for what is started.
 * From the third job of a kind on there is a zygote, if the program can be kept. Never waits, never
 * fails. */
void zygotes_want(const struct scenario *scenario, const sigset_t *mask);

/* Their processes, at most `room`; their number. */
size_t zygotes_alive(pid_t *pids, size_t room);

/* A child of the command has ended. */
void zygotes_note_reaped(pid_t pid);

/* In the command: they end. */
void zygotes_close(void);

/* In a job: has a zygote of this kind begun the incarnation? *launched is filled then. */
bool zygote_begins(const struct launch_order *order, const char *const *environment, size_t count,
                   struct launched *launched);

/* What the launcher process of a kept zygote has said is taken in. Never waits. */
void zygote_listen(struct launched *launched);

/* All of the incarnation is ended. */
void zygote_end(struct launched *launched);

#endif
