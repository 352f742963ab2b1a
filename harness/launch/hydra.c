/* MPICH's mpiexec. It starts a process on each host, which starts the parent of each rank
 * (rank.h), which starts the rank. When a rank ends badly it ends the others by itself. */
#include "launch/launcher.h"

#include "launch/rank.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 16
#define FIXED_WORDS 12 /* of the command line: neither for a variable nor of the program */
#define WORDS_MAX                                                                                  \
    (FIXED_WORDS + 2 * (ORDER_SETTINGS + SCENARIO_MAX_ENVIRONMENT) + SCENARIO_MAX_ARGUMENTS)

struct words {
    size_t count;
    const char *word[WORDS_MAX + 1]; /* NULL-terminated */
};

static void add(struct words *words, const char *word)
{
    words->word[words->count++] = word;
}

static void become(const struct launch_order *order, pid_t driver)
{
    char ranks[NUMBER_BYTES], watched[NUMBER_BYTES];
    snprintf(ranks, sizeof ranks, "%d", order->ranks);
    snprintf(watched, sizeof watched, "%d", (int)driver);
    struct words words = {0};
    const char *fixed[] = {order->launcher, "-n",      ranks,   order->parent, "--in",
                           order->folder,   "--watch", watched, "--preload",   order->preload.text};
    for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
        add(&words, fixed[i]);
    for (size_t i = 0; i < order->environment_count; i++) {
        add(&words, "--env");
        add(&words, order->environment[i]);
    }
    add(&words, "--");
    for (size_t i = 0; order->command[i] != NULL; i++)
        add(&words, order->command[i]);
    execv(words.word[0], (char *const *)(uintptr_t)words.word);
    fprintf(stderr, "faultline: cannot start %s: %s\n", words.word[0], strerror(errno));
}

static enum error_code find(struct path *command, struct error *error)
{
    return path_command(launcher_hydra.name, launcher_hydra.variable, command, error);
}

static enum error_code start(const struct launch_order *order, struct launched *launched,
                             struct error *error)
{
    return launcher_fork(order, launched, become, error);
}

const struct launcher launcher_hydra = {
    .name = "mpiexec",
    .product = "MPICH's Hydra",
    .package = "mpich",
    .variable = "FAULTLINE_MPIEXEC",
    .mark = "HYDRA",
    .shared_bytes_of_rank = 5u << 20, /* MPICH over UCX: 4292720 */
    .find = find,
    .start = start,
    .poll = launcher_has_ended,
    .stop = launcher_end_all,
    .explain = launcher_explain,
};
