/* A command under the taps, started from a shell: its signals, its end, and what it leaves. */
#ifndef LAUNCH_COMMAND_H
#define LAUNCH_COMMAND_H

#include "launch/lookout.h"
#include "system/path.h"

/* Runs words[] (NULL-terminated) with the taps loaded and traces going to the folder `run`.
 * SIGTERM, SIGINT and SIGHUP sent to this process are passed on to it; those of a terminal reach it
 * by themselves. Once one was passed on nothing of the command outlives it, a second one ends
 * everything at once, and *wait_status is never 0: it is the command's, or tells that signal. A
 * background process of a command that ends by itself is left alone. Where `lookout` (NULL: there
 * is none) has it ended nothing outlives it either, and *wait_status tells the lookout's status. */
enum error_code command_run(const struct path *run, char **words, const struct lookout *lookout,
                            int *wait_status, struct error *error);

#endif
