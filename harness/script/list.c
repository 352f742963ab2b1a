/* See list.h and script.h. */
#include "script/list.h"

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
    free(scenario->result);
    free(scenario->violates);
    texts_release(scenario->argument, scenario->argument_count);
    texts_release(scenario->claim, scenario->claim_count);
    texts_release(scenario->cover, scenario->cover_count);
    texts_release(scenario->environment, scenario->environment_count);
    plan_release(&scenario->plan);
    *scenario = (struct scenario){0};
}

/* NULL stays NULL. */
static bool text_copy(const char *from, char **to)
{
    *to = from != NULL ? strdup(from) : NULL;
    return from == NULL || *to != NULL;
}

/* *count grows with the copies, so that what there is can be released. */
static bool texts_copy(char *const *from, size_t from_count, char ***to, size_t *count)
{
    *count = 0;
    *to = from_count > 0 ? calloc(from_count, sizeof **to) : NULL;
    while (*to != NULL && *count < from_count && text_copy(from[*count], &(*to)[*count]))
        ++*count;
    return *count == from_count;
}

static bool plan_copy(const struct plan *from, struct plan *to)
{
    *to = *from;
    size_t bytes = from->count * sizeof *to->steps;
    to->steps = bytes > 0 ? malloc(bytes) : NULL;
    if (to->steps != NULL)
        memcpy(to->steps, from->steps, bytes);
    else
        to->count = 0;
    return to->count == from->count;
}

enum error_code scenario_copy(const struct scenario *from, struct scenario *copy,
                              struct error *error)
{
    *copy = (struct scenario){.line = from->line,
                              .ranks = from->ranks,
                              .reserve = from->reserve,
                              .timeout_s = from->timeout_s,
                              .max_incarnations = from->max_incarnations};
    plan_init(&copy->plan);
    bool good =
        text_copy(from->file, &copy->file) && text_copy(from->name, &copy->name) &&
        text_copy(from->protocol, &copy->protocol) && text_copy(from->program, &copy->program) &&
        text_copy(from->library, &copy->library) && text_copy(from->helpers, &copy->helpers) &&
        text_copy(from->violates, &copy->violates) && text_copy(from->result, &copy->result) &&
        texts_copy(from->argument, from->argument_count, &copy->argument, &copy->argument_count) &&
        texts_copy(from->claim, from->claim_count, &copy->claim, &copy->claim_count) &&
        texts_copy(from->cover, from->cover_count, &copy->cover, &copy->cover_count) &&
        texts_copy(from->environment, from->environment_count, &copy->environment,
                   &copy->environment_count) &&
        plan_copy(&from->plan, &copy->plan);
    return good ? OK : error_set(error, ERROR_MEMORY, "a copy of scenario \"%s\"", from->name);
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

enum error_code scenario_list_add_covered(struct scenario_list *list, const char *file, int line,
                                          const char *what, struct error *error)
{
    struct covered *larger = realloc(list->covered, (list->covered_count + 1) * sizeof *larger);
    if (larger == NULL)
        return error_set(error, ERROR_MEMORY, "%zu things to cover", list->covered_count + 1);
    list->covered = larger;
    struct covered *fresh = &larger[list->covered_count++];
    *fresh = (struct covered){.line = line};
    return text_copy(file, &fresh->file) && text_copy(what, &fresh->what)
               ? OK
               : error_set(error, ERROR_MEMORY, "%s: what it covers", file);
}

static enum error_code append_covered(struct scenario_list *list, struct scenario_list *from,
                                      struct error *error)
{
    size_t count = list->covered_count + from->covered_count;
    if (from->covered_count == 0)
        return OK;
    struct covered *larger = realloc(list->covered, count * sizeof *larger);
    if (larger == NULL)
        return error_set(error, ERROR_MEMORY, "%zu things to cover", count);
    memcpy(larger + list->covered_count, from->covered, from->covered_count * sizeof *larger);
    list->covered = larger;
    list->covered_count = count;
    from->covered_count = 0;
    return OK;
}

enum error_code scenario_list_add(struct scenario_list *list, struct scenario *scenario,
                                  struct error *error)
{
    struct scenario *larger = realloc(list->scenario, (list->count + 1) * sizeof *larger);
    if (larger == NULL) {
        scenario_release(scenario);
        return error_set(error, ERROR_MEMORY, "%zu scenarios", list->count + 1);
    }
    larger[list->count] = *scenario;
    list->scenario = larger;
    list->count++;
    return OK;
}

enum error_code scenario_list_append(struct scenario_list *list, struct scenario_list *from,
                                     struct error *error)
{
    size_t count = list->count + from->count;
    if (count > SCENARIOS_MAX)
        return error_set(error, ERROR_LIMIT, "more than %d scenarios", SCENARIOS_MAX);
    if (from->count == 0)
        return append_covered(list, from, error);
    struct scenario *larger = realloc(list->scenario, count * sizeof *larger);
    if (larger == NULL)
        return error_set(error, ERROR_MEMORY, "%zu scenarios", count);
    list->scenario = larger;
    enum error_code code = append_covered(list, from, error);
    if (code != OK)
        return code;
    memcpy(larger + list->count, from->scenario, from->count * sizeof *larger);
    list->count = count;
    from->count = 0;
    scenario_list_release(from);
    return OK;
}

/* A count, then the texts. */
static char **texts_take(struct parcel *parcel, size_t limit, size_t *count)
{
    *count = 0;
    uint64_t wanted = (uint64_t)parcel_take_number(parcel);
    if (parcel->bad || wanted > limit) {
        parcel->bad = true;
        return NULL;
    }
    if (wanted == 0)
        return NULL;
    char **texts = calloc(wanted, sizeof *texts);
    if (texts == NULL) {
        parcel->bad = true;
        return NULL;
    }
    for (*count = 0; *count < wanted && !parcel->bad; ++*count)
        texts[*count] = parcel_take_text(parcel);
    return texts;
}

static void wires_take(struct parcel *parcel, struct plan *plan)
{
    int64_t count = parcel_take_number(parcel);
    for (int64_t i = 0; i < count && !parcel->bad; i++) {
        struct plan_wire wire;
        parcel_take(parcel, &wire, sizeof wire);
        if (plan_add_wire(plan, &wire, NULL) != OK)
            parcel->bad = true;
    }
}

static void plan_take(struct parcel *parcel, struct plan *plan)
{
    int64_t count = parcel_take_number(parcel);
    for (int64_t i = 0; i < count && !parcel->bad; i++) {
        struct plan_step step;
        parcel_take(parcel, &step, sizeof step);
        if (plan_add(plan, &step, NULL) != OK)
            parcel->bad = true;
    }
    wires_take(parcel, plan);
}

/* An empty text stands for NULL. */
static char *optional_text_take(struct parcel *parcel)
{
    char *text = parcel_take_text(parcel);
    if (text == NULL || text[0] != '\0')
        return text;
    free(text);
    return NULL;
}

void scenario_take(struct parcel *parcel, const char *file, struct scenario *scenario)
{
    *scenario = (struct scenario){0};
    plan_init(&scenario->plan);
    scenario->file = strdup(file);
    if (scenario->file == NULL)
        parcel->bad = true;
    scenario->line = (int)parcel_take_number(parcel);
    scenario->ranks = (int)parcel_take_number(parcel);
    scenario->reserve = (int)parcel_take_number(parcel);
    scenario->max_incarnations = (int)parcel_take_number(parcel);
    parcel_take(parcel, &scenario->timeout_s, sizeof scenario->timeout_s);
    scenario->name = parcel_take_text(parcel);
    scenario->protocol = parcel_take_text(parcel);
    scenario->program = parcel_take_text(parcel);
    scenario->library = optional_text_take(parcel);
    scenario->helpers = optional_text_take(parcel);
    scenario->result = optional_text_take(parcel);
    scenario->violates = optional_text_take(parcel);
    scenario->argument = texts_take(parcel, SCENARIO_MAX_ARGUMENTS, &scenario->argument_count);
    scenario->claim = texts_take(parcel, SCENARIO_MAX_CLAIMS, &scenario->claim_count);
    scenario->cover = texts_take(parcel, SCENARIO_MAX_CLAIMS, &scenario->cover_count);
    scenario->environment =
        texts_take(parcel, SCENARIO_MAX_ENVIRONMENT, &scenario->environment_count);
    plan_take(parcel, &scenario->plan);
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

bool scenario_same_call(const struct scenario *a, const struct scenario *b)
{
    return a->ranks == b->ranks && a->reserve == b->reserve && same_text(a->library, b->library) &&
           same_text(a->helpers, b->helpers) &&
           same_strings(a->argument, a->argument_count, b->argument, b->argument_count) &&
           same_strings(a->environment, a->environment_count, b->environment, b->environment_count);
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
