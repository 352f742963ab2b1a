/* The command line of a launcher that starts the parent of each rank (rank.h). */
#include "launch/launcher.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define NUMBER_BYTES 16
#define OPTIONS_MAX 32 /* of the launcher's own */
#define FIXED_WORDS 12 /* of the command line: neither for a variable nor of the program */
#define WORDS_MAX                                                                                  \
    (FIXED_WORDS + OPTIONS_MAX + 2 * (ORDER_SETTINGS + SCENARIO_MAX_ENVIRONMENT) +                 \
     SCENARIO_MAX_ARGUMENTS)

struct words {
    size_t count;
    const char *word[WORDS_MAX + 1]; /* NULL-terminated */
};

static void add(struct words *words, const char *word)
{
    words->word[words->count++] = word;
}

void launcher_start_parents(const struct launch_order *order, pid_t driver,
                            const char *const *options)
{
    char ranks[NUMBER_BYTES], watched[NUMBER_BYTES];
    snprintf(ranks, sizeof ranks, "%d", order->ranks);
    snprintf(watched, sizeof watched, "%d", (int)driver);
    struct words words = {0};
    add(&words, order->launcher);
    while (options != NULL && *options != NULL)
        add(&words, *options++);
    const char *fixed[] = {"-n",    ranks,         order->parent,
                           "--in",  order->folder, "--watch",
                           watched, "--preload",   order->preload.text};
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
