/* See choices.h. */
#include "engine/zygote/choices.h"

#include "base/mix.h"
#include "base/regular_file.h"
#include "engine/core/core.h"
#include "engine/core/transition.h"
#include "engine/zygote/zygote.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LINE_BYTES 64
#define FIRST_ROOM 256

_Noreturn static void give_up(const char *path, const char *what)
{
    fprintf(stderr, "faultline: %s: %s\n", path, what);
    fflush(NULL);
    _exit(EXIT_FAILURE);
}

static bool read_choice(const char *line, struct engine_choice *choice)
{
    char name[16];
    unsigned chosen, count;
    if (sscanf(line, "%15s %u %u", name, &chosen, &count) != 3 || chosen >= count ||
        count > UINT16_MAX)
        return false;
    for (uint8_t kind = 0; kind < DECISION_KINDS; kind++)
        if (strcmp(decision_name(kind), name) == 0) {
            *choice = (struct engine_choice){kind, (uint16_t)chosen, (uint16_t)count};
            return true;
        }
    return false;
}

static void read_given(const char *path)
{
    char line[LINE_BYTES];
    size_t room = FIRST_ROOM;
    struct engine_choice *given = engine_allocate(room * sizeof *given);
    struct error error;
    FILE *file = regular_stream(path, LINKS_FOLLOWED, REGULAR_ANY, &error);
    if (file == NULL)
        give_up(path, error.text);
    while (fgets(line, sizeof line, file) != NULL) {
        if (engine->givens == room) {
            struct engine_choice *more = engine_allocate(2 * room * sizeof *more);
            memcpy(more, given, room * sizeof *given);
            engine_release(given);
            given = more;
            room *= 2;
        }
        if (!read_choice(line, &given[engine->givens++]))
            give_up(path, "a line is no decision (KIND CHOSEN COUNT, CHOSEN below COUNT)");
    }
    fclose(file);
    engine->given = given;
}

static void path_of(char path[PATH_MAX], const char *folder, int incarnation)
{
    if (snprintf(path, PATH_MAX, "%s/" ENGINE_CHOICES_FILE ".%d", folder, incarnation) >= PATH_MAX)
        give_up(folder, "the path is too long");
}

void choices_open(int incarnation)
{
    char path[PATH_MAX];
    const char *seed = getenv(ENGINE_SEED_ENVIRONMENT);
    const char *given = getenv(ENGINE_GIVEN_ENVIRONMENT);
    const char *explored = getenv(ENGINE_EXPLORE_ENVIRONMENT);
    uint64_t drawn_from = seed != NULL ? strtoull(seed, NULL, 10) : 0;
    engine->seed = mix_two(drawn_from, (uint64_t)incarnation);
    const char *policy = getenv(ENGINE_POLICY_ENVIRONMENT);
    if (!engine_policy_set(policy, incarnation))
        give_up(ENGINE_POLICY_ENVIRONMENT,
                "accepted: random, swarm, skewed, bursts, pct:DEPTH:STEPS (DEPTH from 1 "
                "to 16, STEPS from 1), and behind it up to 8 of "
                "+INCARNATION.CHOICE:SEED (SEED in base 16)");
    long polls = explored != NULL ? strtol(explored, NULL, 10) : 0;
    if (polls > 0)
        transitions_open(given, incarnation, (unsigned)polls,
                         getenv(ENGINE_LOSES_ENVIRONMENT) != NULL);
    if (given == NULL || *given == '\0')
        return;
    path_of(path, given, incarnation);
    if (access(path, F_OK) == 0)
        read_given(path);
}

void choices_write(const char *folder, int incarnation)
{
    char path[PATH_MAX];
    transitions_write(folder, incarnation);
    path_of(path, folder, incarnation);
    FILE *file = regular_create(path, NULL);
    if (file == NULL)
        return;
    for (size_t i = 0; i < engine->choices; i++)
        fprintf(file, "%s %u %u\n", decision_name((enum decision)engine->choice[i].kind),
                engine->choice[i].chosen, engine->choice[i].count);
    fclose(file);
}
