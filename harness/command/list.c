/* `faultline list`: what `run` would run. */
#include "base/memory.h"
#include "cli/options.h"
#include "cli/verb.h"
#include "script/lua_text.h"
#include "suite/select.h"
#include "system/status.h"

#include <stdio.h>
#include <stdlib.h>

static void print_words(const char *label, char *const *words, size_t count)
{
    if (count == 0)
        return;
    printf("  %s:", label);
    for (size_t i = 0; i < count; i++)
        printf(" %s", words[i]);
    printf("\n");
}

/* How a line of a plan is printed: as plan_step_print, of `*what`. */
typedef size_t print_line(const void *what, char *buffer, size_t bytes);

static size_t step_line(const void *step, char *buffer, size_t bytes)
{
    return plan_step_print(step, buffer, bytes);
}

static size_t wire_line(const void *wire, char *buffer, size_t bytes)
{
    return message_pattern_print(wire, buffer, bytes);
}

/* The whole line, however long it is. */
static void print_whole(const char *before, print_line *print, const void *what)
{
    size_t bytes = print(what, NULL, 0) + 1;
    char *text = memory_new(1, bytes);
    print(what, text, bytes);
    printf("  %s%s\n", before, text);
    free(text);
}

static void print_plan(const struct plan *plan)
{
    printf("  plan: %zu steps, size %zu\n", plan->count, plan_size(plan));
    for (size_t i = 0; i < plan->count; i++) {
        char number[32];
        snprintf(number, sizeof number, "step %zu: ", i + 1);
        print_whole(number, step_line, &plan->steps[i]);
    }
    for (size_t i = 0; i < plan->wires; i++)
        print_whole("", wire_line, &plan->wire[i]);
}

static void print_scenario(const struct scenario *scenario, bool verbose)
{
    printf("%s\n", scenario->name);
    printf("  %s under %s, %d rank%s\n", scenario->program, scenario->protocol, scenario->ranks,
           scenario->ranks == 1 ? "" : "s");
    print_words("claims", scenario->claim, scenario->claim_count);
    if (scenario->violates != NULL)
        printf("  must violate: %s\n", scenario->violates);
    if (!verbose)
        return;
    printf("  at: %s:%d\n", scenario->file, scenario->line);
    print_words("arguments", scenario->argument, scenario->argument_count);
    print_plan(&scenario->plan);
}

int verb_list(int argc, char **argv)
{
    static const struct options_help help = {
        "SCENARIO.lua|DIR...", "Lists what `faultline run` would run; with -v the plans as well."};
    struct options options;
    struct selection selection;
    struct error error = {0};
    options_parse(&options, FOR_LIST, &help, argc, argv);
    int status = STATUS_PASS;
    if (select_scenarios(&options, &selection, &error) != OK)
        status = (int)status_of_error(&error);
    for (size_t i = 0; status == STATUS_PASS && i < selection.count; i++)
        print_scenario(selection.chosen[i], options.verbose);
    selection_release(&selection);
    return status;
}
