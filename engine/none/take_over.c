/* In place of the step engine, where libfaultline.so is built for a library that it does not fit:
 * it makes its handles as MPICH's are. */
#include "engine/take_over.h"

#include "engine/zygote/zygote.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool engine_takes_over(void (*begin)(void))
{
    (void)begin;
    const char *engine = getenv(ENGINE_ENVIRONMENT);
    if (engine == NULL || *engine == '\0')
        return false;
    fprintf(stderr,
            "libfaultline.so: " ENGINE_ENVIRONMENT
            "=%s: the step engine is built with MPICH alone\n",
            engine);
    _exit(EXIT_FAILURE);
}

void engine_forked(void)
{
}

void engine_at_exit(void)
{
}
