/* See list.h and script.h. */
#include "script/list.h"

#include "base/memory.h"
#include "trace/record.h"

#include <stdlib.h>
#include <string.h>

void scenario_list_init(struct scenario_list *list)
{
    *list = (struct scenario_list){0};
}

static void texts_release(char **texts, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(texts[i]);
    free(texts);
}

void scenario_release(struct scenario *scenario)
{
    free(scenario->file);
    free(scenario->name);
    free(scenario->protocol);
    free(scenario->program);
    free(scenario->library);
    free(scenario->helpers);
    free(scenario->nodes);
    free(scenario->stores);
    free(scenario->result);
    free(scenario->engine);
    free(scenario->policy);
    free(scenario->violates);
    texts_release(scenario->argument, scenario->argument_count);
    texts_release(scenario->claim, scenario->claim_count);
    texts_release(scenario->cover, scenario->cover_count);
    texts_release(scenario->environment, scenario->environment_count);
    texts_release(scenario->files, scenario->file_count);
    texts_release(scenario->setup, scenario->setup_count);
    texts_release(scenario->restart_argument, scenario->restart_argument_count);
    texts_release(scenario->restart_environment, scenario->restart_environment_count);
    plan_release(&scenario->plan);
    *scenario = (struct scenario){0};
}

/* NULL stays NULL. */
static char *text_copy(const char *from)
{
    return from != NULL ? memory_text(from) : NULL;
}

static char **texts_copy(char *const *from, size_t count)
{
    char **to = count > 0 ? memory_new(count, sizeof *to) : NULL;
    for (size_t i = 0; i < count; i++)
        to[i] = memory_text(from[i]);
    return to;
}

void scenario_copy(const struct scenario *from, struct scenario *copy)
{
    *copy = *from;
    copy->file = text_copy(from->file);
    copy->name = text_copy(from->name);
    copy->protocol = text_copy(from->protocol);
    copy->program = text_copy(from->program);
    copy->library = text_copy(from->library);
    copy->helpers = text_copy(from->helpers);
    copy->nodes = text_copy(from->nodes);
    copy->stores = text_copy(from->stores);
    copy->violates = text_copy(from->violates);
    copy->result = text_copy(from->result);
    copy->engine = text_copy(from->engine);
    copy->policy = text_copy(from->policy);
    copy->argument = texts_copy(from->argument, from->argument_count);
    copy->claim = texts_copy(from->claim, from->claim_count);
    copy->cover = texts_copy(from->cover, from->cover_count);
    copy->environment = texts_copy(from->environment, from->environment_count);
    copy->files = texts_copy(from->files, from->file_count);
    copy->setup = texts_copy(from->setup, from->setup_count);
    copy->restart_argument = texts_copy(from->restart_argument, from->restart_argument_count);
    copy->restart_environment =
        texts_copy(from->restart_environment, from->restart_environment_count);
    copy->plan.steps = memory_new(from->plan.count, sizeof *from->plan.steps);
    if (from->plan.count > 0)
        memcpy(copy->plan.steps, from->plan.steps, from->plan.count * sizeof *from->plan.steps);
}

void scenario_list_release(struct scenario_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        scenario_release(&list->scenario[i]);
    free(list->scenario);
    for (size_t i = 0; i < list->covered_count; i++) {
        free(list->covered[i].file);
        free(list->covered[i].what);
    }
    free(list->covered);
    scenario_list_init(list);
}

void scenario_list_add_covered(struct scenario_list *list, const char *file, int line, char *what)
{
    list->covered = memory_resized(list->covered, list->covered_count + 1, sizeof *list->covered);
    list->covered[list->covered_count++] =
        (struct covered){.file = memory_text(file), .line = line, .what = what};
}

void scenario_list_add(struct scenario_list *list, const struct scenario *scenario)
{
    list->scenario = memory_resized(list->scenario, list->count + 1, sizeof *list->scenario);
    list->scenario[list->count++] = *scenario;
}

/* `array` of `count` things with those of `more` after them, which is released. */
static void *joined(void *array, size_t count, void *more, size_t more_count, size_t bytes)
{
    char *all = memory_resized(array, count + more_count, bytes);
    if (more_count > 0)
        memcpy(all + count * bytes, more, more_count * bytes);
    free(more);
    return all;
}

enum error_code scenario_list_append(struct scenario_list *list, struct scenario_list *from,
                                     struct error *error)
{
    if (list->count + from->count > SCENARIOS_MAX)
        return error_set(error, ERROR_LIMIT, "more than %d scenarios", SCENARIOS_MAX);
    list->scenario =
        joined(list->scenario, list->count, from->scenario, from->count, sizeof *list->scenario);
    list->covered = joined(list->covered, list->covered_count, from->covered, from->covered_count,
                           sizeof *list->covered);
    list->count += from->count;
    list->covered_count += from->covered_count;
    scenario_list_init(from);
    return OK;
}

/* A count, then the texts. */
static char **texts_take(struct serial *serial, size_t limit, size_t *count)
{
    *count = 0;
    uint64_t wanted = (uint64_t)serial_take_number(serial);
    if (serial->bad || wanted > limit) {
        serial->bad = true;
        return NULL;
    }
    if (wanted == 0)
        return NULL;
    char **texts = memory_new(wanted, sizeof *texts);
    for (*count = 0; *count < wanted && !serial->bad; ++*count)
        texts[*count] = serial_take_text(serial);
    return texts;
}

static void wires_take(struct serial *serial, struct plan *plan)
{
    int64_t count = serial_take_number(serial);
    for (int64_t i = 0; i < count && !serial->bad; i++) {
        struct message_pattern wire;
        serial_take(serial, &wire, sizeof wire);
        if (plan_add_wire(plan, &wire, NULL) != OK)
            serial->bad = true;
    }
}

static void plan_take(struct serial *serial, struct plan *plan)
{
    int64_t count = serial_take_number(serial);
    for (int64_t i = 0; i < count && !serial->bad; i++) {
        struct plan_step step;
        serial_take(serial, &step, sizeof step);
        if (plan_add(plan, &step, NULL) != OK)
            serial->bad = true;
    }
    wires_take(serial, plan);
}

/* An empty text stands for NULL. */
static char *optional_text_take(struct serial *serial)
{
    char *text = serial_take_text(serial);
    if (text == NULL || text[0] != '\0')
        return text;
    free(text);
    return NULL;
}

void scenario_take(struct serial *serial, const char *file, struct scenario *scenario)
{
    *scenario = (struct scenario){0};
    plan_init(&scenario->plan);
    scenario->file = memory_text(file);
    scenario->line = (int)serial_take_number(serial);
    scenario->ranks = (int)serial_take_number(serial);
    scenario->restart_ranks = (int)serial_take_number(serial);
    scenario->reserve = (int)serial_take_number(serial);
    scenario->max_incarnations = (int)serial_take_number(serial);
    scenario->survivors = serial_take_number(serial) != 0;
    serial_take(serial, &scenario->timeout_s, sizeof scenario->timeout_s);
    scenario->name = serial_take_text(serial);
    scenario->protocol = serial_take_text(serial);
    scenario->program = serial_take_text(serial);
    scenario->library = optional_text_take(serial);
    scenario->helpers = optional_text_take(serial);
    scenario->nodes = optional_text_take(serial);
    scenario->stores = optional_text_take(serial);
    scenario->result = optional_text_take(serial);
    scenario->engine = optional_text_take(serial);
    scenario->policy = optional_text_take(serial);
    scenario->violates = optional_text_take(serial);
    scenario->argument = texts_take(serial, SCENARIO_MAX_ARGUMENTS, &scenario->argument_count);
    scenario->claim = texts_take(serial, SCENARIO_MAX_CLAIMS, &scenario->claim_count);
    scenario->cover = texts_take(serial, SCENARIO_MAX_CLAIMS, &scenario->cover_count);
    scenario->environment =
        texts_take(serial, SCENARIO_MAX_ENVIRONMENT, &scenario->environment_count);
    scenario->files = texts_take(serial, SCENARIO_MAX_FILES, &scenario->file_count);
    scenario->setup = texts_take(serial, SCENARIO_MAX_ARGUMENTS, &scenario->setup_count);
    scenario->restart_has_arguments = serial_take_number(serial) != 0;
    scenario->restart_argument =
        texts_take(serial, SCENARIO_MAX_ARGUMENTS, &scenario->restart_argument_count);
    scenario->restart_environment =
        texts_take(serial, SCENARIO_MAX_ENVIRONMENT, &scenario->restart_environment_count);
    plan_take(serial, &scenario->plan);
}

/* --- compared --------------------------------------------------------------------------------- */

static bool same_strings(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
    for (size_t i = 0; a_count == b_count && i < a_count; i++)
        if (strcmp(a[i], b[i]) != 0)
            return false;
    return a_count == b_count;
}

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_restart(const struct scenario *a, const struct scenario *b)
{
    return a->restart_ranks == b->restart_ranks &&
           a->restart_has_arguments == b->restart_has_arguments &&
           same_strings(a->restart_argument, a->restart_argument_count, b->restart_argument,
                        b->restart_argument_count) &&
           same_strings(a->restart_environment, a->restart_environment_count,
                        b->restart_environment, b->restart_environment_count);
}

bool scenario_same_call(const struct scenario *a, const struct scenario *b)
{
    return a->ranks == b->ranks && a->reserve == b->reserve && same_text(a->library, b->library) &&
           same_text(a->helpers, b->helpers) && same_text(a->nodes, b->nodes) &&
           same_text(a->stores, b->stores) &&
           same_strings(a->files, a->file_count, b->files, b->file_count) &&
           same_strings(a->setup, a->setup_count, b->setup, b->setup_count) && same_restart(a, b) &&
           same_text(a->engine, b->engine) && same_text(a->policy, b->policy) &&
           a->survivors == b->survivors &&
           same_strings(a->argument, a->argument_count, b->argument, b->argument_count) &&
           same_strings(a->environment, a->environment_count, b->environment, b->environment_count);
}

void scenario_set_engine(struct scenario *scenario, const char *engine)
{
    free(scenario->engine);
    scenario->engine = strcmp(engine, ENGINE_STEP) == 0 ? memory_text(engine) : NULL;
}

int scenario_ranks_in(const struct scenario *scenario, int incarnation)
{
    bool other = incarnation > 0 && scenario->restart_ranks > 0;
    return other ? scenario->restart_ranks : scenario->ranks;
}

int scenario_most_ranks(const struct scenario *scenario)
{
    int again = scenario_ranks_in(scenario, 1);
    return again > scenario->ranks ? again : scenario->ranks;
}

bool scenario_is_helper(const struct scenario *scenario, int rank)
{
    return scenario->helpers != NULL && helpers_have(scenario->helpers, rank);
}

int scenario_helpers(const struct scenario *scenario)
{
    int count = 0;
    for (int rank = 0; rank < scenario->ranks; rank++)
        count += scenario_is_helper(scenario, rank);
    return count;
}

bool scenario_same_claims(const struct scenario *a, const struct scenario *b)
{
    return same_strings(a->claim, a->claim_count, b->claim, b->claim_count) &&
           same_text(a->result, b->result);
}
