/* Runs one scenario file in a Lua that can compute and nothing else, and hands the scenarios out as
 * bytes. Meant for a process of its own (script.c forks it): a script that goes beyond its
 * instructions ends the process, for it could catch any error.
 *
 * Must not know: who reads what it writes. */
#ifndef SCRIPT_SANDBOX_H
#define SCRIPT_SANDBOX_H

#include "script/script.h"

#include <stdatomic.h>

/* Where the script is, for the process that watches it; in shared memory. */
struct script_progress {
    _Atomic int line; /* of the file; 0: not yet known */
};

/* What stands in front of each message that the sandbox writes. */
enum sandbox_message {
    SANDBOX_SCENARIO = 1, /* see scenario_take */
    SANDBOX_DONE = 2,     /* the last: a number (enum error_code), a text */
    SANDBOX_COVER = 3,    /* a number (the line), a text: see struct covered */
};

/* Runs `path`, writes messages to the file descriptor `out`, ends the process. */
_Noreturn void sandbox_run(const char *path, const struct script_options *options,
                           struct script_progress *progress, int out);

#endif
