/* See lua_text.h. The scenario around the plan; its steps are written by lua_step.c. */
#include "script/lua_text.h"

#include "base/memory.h"
#include "board/stores.h"
#include "plan/action.h"
#include "script/lua_step.h"
#include "script/lua_table.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NAME_BYTES 32
#define NUMBER_BYTES 40
#define STEP_INDENT 4
#define DIGITS_MAX 15 /* of an argument that is written as a number */
/* A Lua function has at most 200 local variables: more steps that others name go into a table. */
#define LOCALS_MAX 150

/* --- names of steps --------------------------------------------------------------------------- */

/* Which steps of a plan others speak of. */
struct named {
    const struct plan *plan;
    bool is_named[PLAN_MAX_STEPS];
    size_t count;
};

static void name_step(struct named *named, int32_t index)
{
    if (index < 0 || index >= PLAN_MAX_STEPS || named->is_named[index])
        return;
    named->is_named[index] = true;
    named->count++;
}

static void find_named(struct named *named, const struct plan *plan)
{
    *named = (struct named){.plan = plan};
    for (size_t i = 0; i < plan->count; i++) {
        name_step(named, plan->steps[i].after);
        if (plan->steps[i].action == ACTION_RELEASE)
            name_step(named, plan->steps[i].target);
    }
}

static const char *word_for(const struct plan_step *step)
{
    const char *past = action_of(step)->past;
    return past != NULL ? past : "done";
}

/* "held"; "held2" where there are several, by the number of the step. */
static void name_of(const struct named *named, int32_t index, char name[NAME_BYTES])
{
    const char *word = word_for(&named->plan->steps[index]);
    size_t alike = 0;
    for (size_t i = 0; i < named->plan->count && i < PLAN_MAX_STEPS; i++)
        alike += named->is_named[i] && word_for(&named->plan->steps[i]) == word;
    if (named->count > LOCALS_MAX)
        snprintf(name, NAME_BYTES, "step[%d]", index + 1);
    else if (alike > 1)
        snprintf(name, NAME_BYTES, "%s%d", word, index + 1);
    else
        snprintf(name, NAME_BYTES, "%s", word);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* What stands in front of the table of a step. */
static size_t print_head(FILE *out, const struct named *named, size_t index)
{
    char name[NAME_BYTES];
    const struct plan_step *step = &named->plan->steps[index];
    int column = fprintf(out, "%*s", STEP_INDENT, "");
    if (named->is_named[index]) {
        name_of(named, (int32_t)index, name);
        column += fprintf(out, "%s%s = ", named->count > LOCALS_MAX ? "" : "local ", name);
    }
    column += fprintf(out, "p:%s", lua_step_method(step));
    return (size_t)column;
}

/* The fields of a step; `named` NULL: only to count them. */
static void put_fields(const struct plan_step *step, const struct named *named,
                       struct lua_table *table)
{
    char after[NAME_BYTES] = "step";
    if (step->after == PLAN_AFTER_START)
        snprintf(after, sizeof after, "\"start\"");
    else if (step->after >= 0 && named != NULL)
        name_of(named, step->after, after);
    lua_step_fields(step, step->after == PLAN_AFTER_PREVIOUS ? NULL : after, table);
}

static void print_step(FILE *out, const struct named *named, size_t index)
{
    char target[NAME_BYTES];
    const struct plan_step *step = &named->plan->steps[index];
    size_t column = print_head(out, named, index);
    struct lua_table table;
    lua_table_init(&table, true);
    put_fields(step, named, &table);
    bool bare = step->action == ACTION_RELEASE && table.values == 0;
    if (step->action == ACTION_RELEASE) {
        name_of(named, step->target, target);
        column += (size_t)fprintf(out, bare ? "(%s" : "(%s, ", target);
    } else {
        fputc(' ', out);
        column++;
    }
    if (!bare)
        lua_table_print(&table, out, column, true);
    fputs(step->action == ACTION_RELEASE ? ")\n" : "\n", out);
    lua_table_release(&table);
}

static void print_plan(FILE *out, const struct plan *plan)
{
    struct named named;
    find_named(&named, plan);
    fputs("  plan = function(p)\n", out);
    if (named.count > LOCALS_MAX)
        fprintf(out, "%*slocal step = {}\n", STEP_INDENT, "");
    for (size_t i = 0; i < plan->count; i++)
        print_step(out, &named, i);
    fputs("  end,\n", out);
}

size_t plan_size(const struct plan *plan)
{
    struct lua_table table;
    size_t size = plan->count;
    lua_table_init(&table, false);
    for (size_t i = 0; i < plan->count; i++) {
        put_fields(&plan->steps[i], NULL, &table);
        size += plan->steps[i].action == ACTION_RELEASE; /* the step that it lets go */
    }
    size += table.values;
    lua_table_release(&table);
    return size;
}

/* --- the scenario ----------------------------------------------------------------------------- */

/* A number that Lua writes with the same characters. */
static bool is_number(const char *text)
{
    const char *digits = text + (text[0] == '-');
    size_t length = strlen(digits);
    if (length == 0 || length > DIGITS_MAX || strspn(digits, "0123456789") != length)
        return false;
    return digits[0] != '0' || (length == 1 && digits == text);
}

static void put_word(struct lua_table *table, const char *text)
{
    if (is_number(text))
        lua_table_word(table, text);
    else
        lua_table_text(table, text);
}

static void put_text(struct lua_table *table, const char *name, const char *text)
{
    lua_table_name(table, name);
    lua_table_text(table, text);
}

static void put_texts(struct lua_table *table, const char *name, char *const *text, size_t count,
                      void (*put)(struct lua_table *table, const char *text))
{
    if (count == 0)
        return;
    lua_table_name(table, name);
    lua_table_open(table);
    for (size_t i = 0; i < count; i++) {
        lua_table_name(table, NULL);
        put(table, text[i]);
    }
    lua_table_close(table);
}

/* A list that is kept as one text. */
static void put_listed(struct lua_table *table, const char *name, const char *texts, char separator,
                       void (*put)(struct lua_table *table, const char *text))
{
    if (texts == NULL)
        return;
    lua_table_name(table, name);
    lua_table_open(table);
    while (*texts != '\0') {
        size_t length = strcspn(texts, (char[]){separator, '\0'});
        char *one = memory_format("%.*s", (int)length, texts);
        lua_table_name(table, NULL);
        put(table, one);
        free(one);
        texts += length + (texts[length] == separator);
    }
    lua_table_close(table);
}

/* The ranks of a node, "0,1". */
static void put_node(struct lua_table *table, const char *ranks)
{
    lua_table_open(table);
    while (*ranks != '\0') {
        size_t length = strcspn(ranks, ",");
        char *rank = memory_format("%.*s", (int)length, ranks);
        lua_table_name(table, NULL);
        put_word(table, rank);
        free(rank);
        ranks += length + (ranks[length] == ',');
    }
    lua_table_close(table);
}

/* "NAME=what it is" each. */
static void put_named(struct lua_table *table, const char *field, char *const *entries,
                      size_t count, void (*put)(struct lua_table *table, const char *text))
{
    if (count == 0)
        return;
    lua_table_name(table, field);
    lua_table_open(table);
    for (size_t i = 0; i < count; i++) {
        const char *entry = entries[i];
        size_t length = strcspn(entry, "=");
        char *name = memory_format("%.*s", (int)length, entry);
        lua_table_name(table, name);
        put(table, entry + length + (entry[length] == '='));
        free(name);
    }
    lua_table_close(table);
}

static void put_number(struct lua_table *table, const char *name, int number)
{
    lua_table_name(table, name);
    lua_table_number(table, number);
}

static void put_restart(struct lua_table *table, const struct scenario *scenario)
{
    if (scenario->restart_ranks == 0 && !scenario->restart_has_arguments &&
        scenario->restart_environment_count == 0)
        return;
    lua_table_name(table, "restart");
    lua_table_open(table);
    if (scenario->restart_ranks > 0)
        put_number(table, "ranks", scenario->restart_ranks);
    if (scenario->restart_has_arguments && scenario->restart_argument_count == 0) {
        lua_table_name(table, "arguments");
        lua_table_word(table, "{}");
    }
    put_texts(table, "arguments", scenario->restart_argument, scenario->restart_argument_count,
              put_word);
    put_named(table, "environment", scenario->restart_environment,
              scenario->restart_environment_count, put_word);
    lua_table_close(table);
}

static void put_result(struct lua_table *table, const char *result)
{
    if (result == NULL)
        return;
    size_t length = strcspn(result, "\n");
    char *what = memory_format("%.*s", (int)length, result);
    lua_table_name(table, "result");
    lua_table_open(table);
    lua_table_name(table, NULL);
    lua_table_text(table, what);
    put_listed(table, "ignore", result[length] != '\0' ? result + length + 1 : NULL, '\n',
               lua_table_text);
    lua_table_close(table);
    free(what);
}

static void put_expect(struct lua_table *table, const struct scenario *scenario)
{
    if (scenario->violates == NULL && scenario->cover_count == 0)
        return;
    lua_table_name(table, "expect");
    lua_table_open(table);
    if (scenario->violates != NULL)
        put_text(table, "violates", scenario->violates);
    put_texts(table, "cover", scenario->cover, scenario->cover_count, lua_table_text);
    lua_table_close(table);
}

/* As short as it can be read again. */
static void put_seconds(struct lua_table *table, const char *name, double seconds)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%g", seconds);
    if (strtod(text, NULL) != seconds)
        snprintf(text, sizeof text, "%.17g", seconds);
    lua_table_name(table, name);
    lua_table_word(table, text);
}

/* Of all ranks by their names alone, those of nodes as NAME = "node". */
static void put_stores(struct lua_table *table, const char *stores)
{
    const char *rest = stores;
    struct named_store store;
    if (stores == NULL)
        return;
    lua_table_name(table, "stores");
    lua_table_open(table);
    while (stores_next(&rest, &store)) {
        lua_table_name(table, store.of_node ? store.name : NULL);
        lua_table_text(table, store.of_node ? "node" : store.name);
    }
    lua_table_close(table);
}

static void put_scenario(struct lua_table *table, const struct scenario *scenario)
{
    put_text(table, "protocol", scenario->protocol);
    put_text(table, "program", scenario->program);
    put_number(table, "ranks", scenario->ranks);
    if (scenario->reserve > 0)
        put_number(table, "reserve", scenario->reserve);
    put_listed(table, "library", scenario->library, ':', lua_table_text);
    put_listed(table, "helpers", scenario->helpers, ',', put_word);
    put_listed(table, "nodes", scenario->nodes, ';', put_node);
    put_stores(table, scenario->stores);
    if (scenario->engine != NULL)
        put_text(table, "engine", scenario->engine);
    if (scenario->policy != NULL)
        put_text(table, "policy", scenario->policy);
    if (scenario->survivors) {
        lua_table_name(table, "survivors");
        lua_table_word(table, "true");
    }
    put_texts(table, "arguments", scenario->argument, scenario->argument_count, put_word);
    put_named(table, "environment", scenario->environment, scenario->environment_count, put_word);
    put_restart(table, scenario);
    put_named(table, "files", scenario->files, scenario->file_count, lua_table_text);
    put_texts(table, "setup", scenario->setup, scenario->setup_count, put_word);
    put_texts(table, "claims", scenario->claim, scenario->claim_count, lua_table_text);
    put_result(table, scenario->result);
    put_expect(table, scenario);
    if (scenario->max_incarnations > 0)
        put_number(table, "max_incarnations", scenario->max_incarnations);
    if (scenario->timeout_s > 0)
        put_seconds(table, "timeout", scenario->timeout_s);
}

static void print_comment(FILE *out, const char *comment)
{
    while (comment != NULL && *comment != '\0') {
        size_t length = strcspn(comment, "\n");
        fprintf(out, length > 0 ? "-- %.*s\n" : "--\n", (int)length, comment);
        comment += length + (comment[length] == '\n');
    }
}

enum error_code scenario_write_lua(FILE *out, const struct scenario *scenario, const char *comment,
                                   struct error *error)
{
    struct lua_table table;
    lua_table_init(&table, true);
    print_comment(out, comment);
    fputs("scenario ", out);
    lua_quote(out, scenario->name);
    fputs(" {\n  ", out);
    put_scenario(&table, scenario);
    lua_table_print(&table, out, 2, false);
    lua_table_release(&table);
    fputc('\n', out);
    if (scenario->plan.count > 0)
        print_plan(out, &scenario->plan);
    fputs("}\n", out);
    if (fflush(out) == 0 && !ferror(out))
        return OK;
    return error_set(error, ERROR_IO, "scenario \"%s\" as Lua: %s", scenario->name,
                     strerror(errno));
}
