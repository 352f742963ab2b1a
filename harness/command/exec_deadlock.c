/* `faultline exec` as the user starts it: it also ends a job that is deadlocked, and knows the step
 * engine. Apart from the rest, which the parents of ranks are made of, too: they start with libc
 * alone. */
#include "cli/verb.h"
#include "command/exec_engine.h"
#include "launch/lookout.h"
#include "launch/onlooker.h"
#include "system/status.h"

#include <stdio.h>

static bool look(void *context, const struct path *run)
{
    struct onlooker *onlooker = context;
    if (!onlooker_look(onlooker, run))
        return false;
    fprintf(stderr,
            "faultline: deadlock: %s\n"
            "faultline: the job is ended; call stacks are in %s/stacks.txt\n",
            onlooker->text, run->text);
    return true;
}

int verb_exec(int argc, char **argv)
{
    static struct onlooker onlooker;
    const struct lookout lookout = {look, &onlooker, WATCH_PERIOD_MS, STATUS_DEADLOCK};
    return exec_with_lookout(argc, argv, &lookout, exec_on_engine);
}
