/* Somebody who looks at a job again and again, and may have it ended. */
#ifndef LAUNCH_LOOKOUT_H
#define LAUNCH_LOOKOUT_H

#include "system/path.h"

#include <stdbool.h>

struct lookout {
    /* Called about every `period_ms`. `run`: the absolute run folder. True: the job is to be ended,
     * and the reason has been said. */
    bool (*look)(void *context, const struct path *run);
    void *context; /* borrowed */
    int period_ms;
    int status; /* the command's exit status then */
};

#endif
