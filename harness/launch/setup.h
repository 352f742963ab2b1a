/* The set-up command of a scenario (field `setup`): prepares what the ranks of a run find, and has
 * ended before any of them is started. Must not know: incarnations, faults. */
#ifndef LAUNCH_SETUP_H
#define LAUNCH_SETUP_H

#include "launch/launch.h"

/* Runs it with the signal mask and until the deadline of the launch, in FAULTLINE_FILES; nothing
 * where the scenario has none. LAUNCH_FINISHED: it exited with 0. LAUNCH_VOID: it did not, or could
 * not be started, or took too long. LAUNCH_INTERRUPTED: this process was asked to end. Unless it
 * finished `text` (of `bytes` bytes) says why. What it leaves running is ended. */
enum launch_end setup_run(const struct launch *launch, char *text, size_t bytes);

#endif
