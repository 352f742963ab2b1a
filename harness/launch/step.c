/* The step engine: the program itself is started once, and forks its ranks where it first calls MPI
 * (engine/zygote). Its parent of ranks is what mpiexec is elsewhere. */
#include "launch/launcher.h"

#include "launch/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 16

static void set(const char *name, const char *value)
{
    if (value != NULL)
        setenv(name, value, 1);
}

static void set_environment(const struct launch_order *order)
{
    struct path store;
    char ranks[NUMBER_BYTES], seed[32];
    snprintf(ranks, sizeof ranks, "%d", order->ranks);
    snprintf(seed, sizeof seed, "%llu", (unsigned long long)order->seed);
    for (size_t i = 0; i < order->environment_count; i++)
        putenv((char *)(uintptr_t)order->environment[i]);
    set("FAULTLINE_ENGINE", ENGINE_STEP);
    set("FAULTLINE_ENGINE_SEED", seed);
    set("FAULTLINE_RUN", order->folder);
    set("FAULTLINE_RANKS", ranks);
    if (path_format(&store, NULL, "%s/store", order->folder) == OK)
        set("FAULTLINE_STORE", store.text);
    set("LD_PRELOAD", rank_preload(order->preload.text));
}

static void become(const struct launch_order *order, pid_t driver)
{
    (void)driver;
    set_environment(order);
    execv(order->command[0], (char *const *)(uintptr_t)order->command);
    fprintf(stderr, "faultline: cannot start %s: %s\n", order->command[0], strerror(errno));
}

/* Nothing is needed but the program. */
static enum error_code find(struct path *command, struct error *error)
{
    return path_format(command, error, "the step engine");
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
{
    return launcher_fork(order, launched, become, error);
}

const struct launcher launcher_step = {
    .name = ENGINE_STEP,
    .product = "Faultline",
    .package = "faultline",
    .shared_bytes_of_rank = 0,
    .find = find,
    .start = start,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
