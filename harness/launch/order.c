/* See order.h. */
#include "launch/order.h"

#include "base/memory.h"
#include "board/nodes.h"
#include "board/stores.h"
#include "decisions/decisions.h"
#include "launch/rank.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NAME_BYTES 256

static bool asks_for_storage(const struct scenario *scenario)
{
    bool asks = scenario->violates != NULL && claims_ask(scenario->violates, ASKS_STORE);
    for (size_t i = 0; i < scenario->claim_count; i++)
        asks |= claims_ask(scenario->claim[i], ASKS_STORE);
    for (size_t i = 0; i < scenario->cover_count; i++)
        asks |= claims_ask(scenario->cover[i], ASKS_STORE);
    return asks;
}

static bool loses(const struct plan *plan)
{
    for (size_t i = 0; i < plan->count; i++)
        if (plan->steps[i].lose != LOSE_NOTHING || plan->steps[i].lose_files[0] != '\0')
            return true;
    return false;
}

/* Ours, those that have a value. */
static void add_settings(const struct launch *launch, struct launch_order *order)
{
    char explored[16] = "";
    if (launch->explored > 0)
        snprintf(explored, sizeof explored, "%d", launch->explored);
    const struct scenario *scenario = launch->scenario;
    const struct {
        const char *name, *value;
    } ours[] = {
        {"FAULTLINE_STORAGE", asks_for_storage(scenario) ? "1" : "2"},
        {"FAULTLINE_STORE", launch->store},
        {DECISIONS_ENVIRONMENT, launch->followed},
        {"FAULTLINE_ENGINE_GIVEN", launch->given},
        {"FAULTLINE_ENGINE_POLICY", launch->policy},
        {"FAULTLINE_ENGINE_EXPLORE", explored},
        {"FAULTLINE_ENGINE_LOSES", launch->explored > 0 && loses(&scenario->plan) ? "1" : ""},
        {LIBRARY_ENVIRONMENT, scenario->library},
        {HELPERS_ENVIRONMENT, scenario->helpers},
        {SURVIVORS_ENVIRONMENT, scenario->survivors ? "1" : NULL},
        {NODES_ENVIRONMENT, scenario->nodes},
        {STORES_ENVIRONMENT, scenario->stores},
        {"FAULTLINE_FILES", launch->files},
    };
    _Static_assert(sizeof ours / sizeof ours[0] == ORDER_SETTINGS, "room for each");
    for (size_t i = 0; i < ORDER_SETTINGS; i++) {
        if (ours[i].value == NULL || *ours[i].value == '\0')
            continue;
        char *setting = memory_format("%s=%s", ours[i].name, ours[i].value);
        order->setting[order->setting_count++] = setting;
        order->environment[order->environment_count++] = setting;
    }
}

/* What the scenario gives to the program in the incarnation that begins. */
static void add_words(const struct launch *launch, struct launch_order *order)
{
    const struct scenario *scenario = launch->scenario;
    bool again = launch->board != NULL && atomic_load(&launch->board->incarnation) > 0;
    bool other = again && scenario->restart_has_arguments;
    char *const *argument = other ? scenario->restart_argument : scenario->argument;
    size_t count = other ? scenario->restart_argument_count : scenario->argument_count;
    for (size_t i = 0; i < count; i++)
        order->command[i + 1] = argument[i];
    for (size_t i = 0; i < scenario->environment_count; i++)
        order->environment[order->environment_count++] = scenario->environment[i];
    for (size_t i = 0; again && i < scenario->restart_environment_count; i++)
        order->environment[order->environment_count++] = scenario->restart_environment[i];
}

enum error_code order_make(const struct launch *launch, struct launch_order *order,
                           struct error *error)
{
    const struct scenario *scenario = launch->scenario;
    *order = (struct launch_order){
        .ranks = launch->board != NULL ? launch->board->ranks : scenario->ranks,
        .survivors = scenario->survivors,
        .seed = launch->seed,
        .folder = launch->folder,
        .shown = launch->shown,
        .launcher = launch->launcher_path.text,
        .parent = launch->rank_parent.text,
        .mask = &launch->mask,
        .command = {launch->program.text},
    };
    if (scenario->environment_count > SCENARIO_MAX_ENVIRONMENT ||
        scenario->restart_environment_count > SCENARIO_MAX_ENVIRONMENT)
        return error_set(error, ERROR_LIMIT, "more than %d variables in environment",
                         SCENARIO_MAX_ENVIRONMENT);
    if (scenario->argument_count > SCENARIO_MAX_ARGUMENTS ||
        scenario->restart_argument_count > SCENARIO_MAX_ARGUMENTS)
        return error_set(error, ERROR_LIMIT, "more than %d arguments", SCENARIO_MAX_ARGUMENTS);
    enum error_code code = path_format(&order->preload, error, "%s:%s",
                                       launch->preload_library.text, launch->protocol.text);
    add_words(launch, order);
    add_settings(launch, order);
    return code;
}

void order_release(struct launch_order *order)
{
    for (size_t i = 0; i < order->setting_count; i++)
        free(order->setting[i]);
}

static const char *const of_outer_run[] = {
    "FAULTLINE_RUN",       "FAULTLINE_RANK",    "FAULTLINE_RANKS",   "FAULTLINE_STORE",
    DECISIONS_ENVIRONMENT, LIBRARY_ENVIRONMENT, HELPERS_ENVIRONMENT, SURVIVORS_ENVIRONMENT,
    SIGPIPE_ENVIRONMENT,   NODES_ENVIRONMENT,   NODE_ENVIRONMENT,    NODE_STORE_ENVIRONMENT,
    STORES_ENVIRONMENT,    "FAULTLINE_FILES"};
#define OF_OUTER_RUN (sizeof of_outer_run / sizeof of_outer_run[0])

static bool begins_with(const char *entry, const char *text)
{
    return strncmp(entry, text, strlen(text)) == 0;
}

bool order_is_of_outer_run(const char *entry)
{
    size_t length = strcspn(entry, "=");
    bool is_one = begins_with(entry, STORE_ENVIRONMENT_PREFIX);
    for (size_t i = 0; i < OF_OUTER_RUN && !is_one; i++)
        is_one = strlen(of_outer_run[i]) == length && begins_with(entry, of_outer_run[i]);
    return is_one;
}

static bool is_of_batch_job(const char *entry)
{
    return begins_with(entry, "SLURM_") || begins_with(entry, "PBS_") || begins_with(entry, "LSB_");
}

static void forget(bool (*is_one)(const char *entry))
{
    char name[NAME_BYTES];
    size_t k = 0;
    while (environ[k] != NULL) {
        int length = (int)strcspn(environ[k], "=");
        if (is_one(environ[k]) &&
            snprintf(name, sizeof name, "%.*s", length, environ[k]) < NAME_BYTES &&
            unsetenv(name) == 0)
            k = 0; /* environ has moved */
        else
            k++;
    }
}

void order_forget_outer_run(void)
{
    forget(order_is_of_outer_run);
}

void order_forget_batch_job(void)
{
    forget(is_of_batch_job);
}
