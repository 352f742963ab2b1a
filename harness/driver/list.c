/* `faultline list`: what `run` would run. */
#include "driver/options.h"
#include "driver/select.h"
#include "driver/verb.h"

#include <stdio.h>

static void print_words(const char *label, char *const *words, size_t count)
{
    if (count == 0)
        return;
    printf("  %s:", label);
    for (size_t i = 0; i < count; i++)
        printf(" %s", words[i]);
    printf("\n");
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
    for (size_t i = 0; i < scenario->plan.count; i++) {
        char text[1024];
        plan_step_print(&scenario->plan.steps[i], text, sizeof text);
        printf("  step %zu: %s\n", i + 1, text);
    }
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
