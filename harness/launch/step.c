/* The step engine: the program itself is started once, and forks its ranks where it first calls MPI
 * (engine/zygote). Its parent of ranks is what mpiexec is elsewhere. Where many runs are made the
 * process is kept (zygotes.h). */
#include "launch/step.h"

#include "engine/zygote/zygote.h"
#include "launch/launcher.h"
#include "launch/rank.h"
#include "launch/zygotes.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/personality.h>
#include <unistd.h>

#define SETTING_BYTES (PATH_MAX + 64)
#define SETTINGS 4
#define NUMBER_BYTES 16
#define PERSONALITY_ASKED 0xffffffffu /* asks, and changes nothing */

/* What the ranks of this run get in their environment. */
struct settings {
    char text[SETTINGS][SETTING_BYTES];
    const char *entry[SETTINGS];
};

static void make_settings(const struct launch_order *order, struct settings *settings)
{
    snprintf(settings->text[0], SETTING_BYTES, ENGINE_ENVIRONMENT "=" ENGINE_STEP);
    snprintf(settings->text[1], SETTING_BYTES, ENGINE_SEED_ENVIRONMENT "=%llu",
             (unsigned long long)order->seed);
    snprintf(settings->text[2], SETTING_BYTES, "FAULTLINE_RUN=%s", order->folder);
    snprintf(settings->text[3], SETTING_BYTES, "FAULTLINE_RANKS=%d", order->ranks);
    for (int i = 0; i < SETTINGS; i++)
        settings->entry[i] = settings->text[i];
}

static void put(const char *setting)
{
    putenv((char *)(uintptr_t)setting);
}

/* Addresses are the same in every run: programs may order by them, or print them. Where this is not
 * allowed they are as they come. */
static void fix_addresses(void)
{
    int now = personality(PERSONALITY_ASKED);
    if (now >= 0)
        personality((unsigned long)now | ADDR_NO_RANDOMIZE);
}

void step_set_environment(const struct launch_order *order)
{
    fix_addresses();
    for (size_t i = 0; i + order->setting_count < order->environment_count; i++)
        put(order->environment[i]);
    char number[NUMBER_BYTES];
    snprintf(number, sizeof number, "%d", (int)getpid());
    setenv(ENGINE_ENVIRONMENT, ENGINE_STEP, 1);
    setenv(ENGINE_PROCESS_ENVIRONMENT, number, 1);
    char *preload = rank_preload(order->preload.text);
    if (preload != NULL)
        setenv("LD_PRELOAD", preload, 1);
    free(preload);
    for (size_t i = 0; i < ZYGOTE_SETTINGS; i++)
        setenv(zygote_settings[i][0], zygote_settings[i][1], 0);
}

static void become(const struct launch_order *order, pid_t driver)
{
    static struct settings settings;
    (void)driver;
    step_set_environment(order);
    for (size_t i = 0; i < order->setting_count; i++)
        put(order->setting[i]);
    make_settings(order, &settings);
    for (int i = 0; i < SETTINGS; i++)
        put(settings.entry[i]);
    execv(order->command[0], (char *const *)(uintptr_t)order->command);
    fprintf(stderr, "faultline: cannot start %s: %s\n", order->command[0], strerror(errno));
}

/* Nothing is needed but the program, and the engine in libfaultline.so. */
static enum error_code find(const struct launcher *self, struct path *command, struct error *error)
{
    (void)self;
    if (strcmp(launcher_of(NULL)->name, launcher_hydra.name) != 0)
        return error_set(error, ERROR_LAUNCH,
                         "the step engine is built with MPICH alone, this command is for %s",
                         launcher_of(NULL)->product);
    return path_format(command, error, "the step engine");
}

static enum error_code start(const struct launcher *self, const struct launch_order *order,
                             struct launched *launched, struct error *error)
{
    static struct settings settings;
    make_settings(order, &settings);
    return zygote_begins(order, settings.entry, SETTINGS, launched)
               ? OK
               : launcher_fork(self, order, launched, error);
}

static bool has_ended(struct launched *launched)
{
    if (launched->line != 0)
        zygote_listen(launched);
    return launcher_has_ended(launched);
}

static void stop(struct launched *launched, process_reaped *reaped, void *context)
{
    if (launched->line != 0)
        zygote_end(launched);
    launcher_end_all(launched, reaped, context);
}

const struct launcher launcher_step = {
    .name = ENGINE_STEP,
    .product = "Faultline",
    .package = "faultline",
    .decides = true,
    .shared_bytes_of_rank = 0,
    .survivors = true,
    .find = find,
    .start = start,
    .become = become,
    .poll = has_ended,
    .stop = stop,
    .explain = launcher_explain,
};
